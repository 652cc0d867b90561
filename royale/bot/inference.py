"""The network's forward pass in numpy, on one core.

The same function as `royale.learn.network.Network`, channels last: x is
(cells, channels), so a 1x1 convolution is one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from royale.bot.bundle import Bundle
from royale.bot.winograd import Winograd

NORM_EPSILON = np.float32(1e-5)  # torch's


class OutOfTime(Exception):
    """The forward pass was given up."""


def _pool(x: np.ndarray) -> np.ndarray:
    """Mean and maximum over the board, normalised together: (cells, C) -> (2C,)."""
    pooled = np.concatenate([x.mean(0), x.max(0)])
    pooled -= pooled.mean()
    return pooled / np.sqrt(np.mean(pooled * pooled) + NORM_EPSILON)


def _silu(x: np.ndarray) -> np.ndarray:
    """x times its logistic function, by tanh, which does not overflow."""
    return x * (np.tanh(x / 2) + 1) / 2


def _always(stages_left: int) -> bool:
    return True


class Net:
    """The network of a bundle, for its canvas."""

    def __init__(self, bundle: Bundle) -> None:
        meta, weights = bundle.meta, bundle.weights
        self.side, self.channels = meta["canvas"], meta["channels"]
        self.action_planes = meta["action_planes"]
        n_planes = len(meta["planes"])
        self.stages = meta["blocks"] + 2  # stem, blocks, heads
        conv = self._conv = Winograd(self.side, self.side, max(self.channels, n_planes))
        self._planes, self._hidden = conv.padded(n_planes), conv.padded(self.channels)

        def matrix(name: str) -> np.ndarray:
            weight = weights[f"{name}.weight"]
            return np.ascontiguousarray(weight.reshape(weight.shape[0], -1).T)

        self._stem = (conv.filter(weights["stem.weight"]), weights["stem.bias"])
        self._blocks = [
            (
                conv.filter(weights[f"blocks.{k}.conv.weight"]),
                # one bias a channel: the convolution's and the context's
                weights[f"blocks.{k}.conv.bias"] + weights[f"blocks.{k}.context.bias"],
                weights[f"blocks.{k}.context.weight"],
                matrix(f"blocks.{k}.last"),
                weights[f"blocks.{k}.last.bias"],
            )
            for k in range(meta["blocks"])
        ]
        self._policy = (matrix("policy"), weights["policy.bias"])
        self._value = [
            (weights[f"{name}.weight"], weights[f"{name}.bias"])
            for name in ("value_hidden", "value")
        ]
        # OpenBLAS prefetches beyond what it has packed; until a product larger than ours
        # has touched its buffer, that costs products of this size up to 3 times their time.
        warm = np.ones((1024, 1024), np.float32)
        np.matmul(warm, warm)

    def forward(
        self, planes: np.ndarray, go_on: Callable[[int], bool] = _always
    ) -> tuple[np.ndarray, np.ndarray]:
        """planes (P, S, S) -> logits (A*S*S + G,) and value outputs (V,), float32.

        `go_on(stages left)` is asked before each of `stages`; OutOfTime if it says no.
        """
        conv, side = self._conv, self.side
        inner = slice(1, side + 1)
        left = self.stages

        def stage() -> None:
            nonlocal left
            if not go_on(left):
                raise OutOfTime
            left -= 1

        stage()
        self._planes[inner, inner] = planes.transpose(1, 2, 0)
        x = conv.convolve(self._planes, *self._stem)
        board = self._hidden[inner, inner]
        for filters, bias, context, last, last_bias in self._blocks:
            stage()
            np.maximum(x.reshape(board.shape), 0, out=board)
            y = conv.convolve(self._hidden, filters, context @ _pool(x) + bias)
            np.maximum(y, 0, out=y)
            y = y @ last
            y += last_bias
            x += y
        stage()
        np.maximum(x, 0, out=x)
        matrix, bias = self._policy
        maps = x @ matrix
        maps += bias
        logits = np.concatenate(
            [maps[:, : self.action_planes].T.ravel(), maps[:, self.action_planes :].mean(0)]
        )
        (hidden, hidden_bias), (value, value_bias) = self._value
        h = _silu(hidden @ _pool(x) + hidden_bias)
        return logits, value @ h + value_bias
