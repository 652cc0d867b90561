"""The policy and value network: a residual CNN with a global context, its maps not normalised.

Normalising the maps costs a small network 1.4 to 4 times its speed on a CPU; a last
convolution near zero in each block (as in Fixup; Zhang, Dauphin and Ma 2019) makes
the depth harmless at the start instead. The context vector (global pooling bias, as
in KataGo; Wu 2019) lets a local convolution know the state of the whole board.
"""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from royale.games.protocol import GameSpec
from royale.learn.recipe import Recipe
from royale.learn.value import ValueCodec

LAST_CONV_GAIN = 0.01  # of a block's last convolution, relative to He initialisation
POLICY_GAIN = 0.01  # of the policy head: near-uniform at the start


def pool(x: Tensor) -> Tensor:
    """Mean and maximum over the board, brought to one scale: (B, C, H, W) -> (B, 2C).

    The activations of a network without normalisation grow as it trains; unscaled, they
    soon push every unit of the value head into saturation, and the value to a constant.
    """
    # A pool of the board's size is several times faster than amax, forward and backward.
    greatest = functional.max_pool2d(x, x.shape[2:]).flatten(1)
    pooled = torch.cat([x.mean((2, 3)), greatest], 1)
    return functional.layer_norm(pooled, pooled.shape[1:])


class Block(nn.Module):
    """x + conv1x1(relu(conv3x3(relu(x)) + linear(pool(x))))."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.context = nn.Linear(2 * channels, channels)
        self.last = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, C, H, W)."""
        bias = self.context(pool(x))
        y = (self.conv(torch.relu(x)) + bias[:, :, None, None]).relu_()
        return x + self.last(y)


class Network(nn.Module):
    """Planes (B, P, H, W) float32 -> logits (B, A*H*W + G) and value outputs (B, bins).

    A game with features without a place gives (planes, vector (B, V)) instead: through a
    linear layer these add to the stem's every cell, as planes of them would at far less cost.
    There is 1 value output (the scalar value) or one a bin; `value.ValueCodec` reads it.
    Works on boards of any H x W.
    """

    def __init__(
        self,
        planes: int,
        channels: int,
        blocks: int,
        action_planes: int,
        global_actions: int,
        value_outputs: int,
        vector: int = 0,
    ) -> None:
        super().__init__()
        self.action_planes = action_planes
        self.global_actions = global_actions
        hidden = max(16, channels // 8)
        self.stem = nn.Conv2d(planes, channels, 3, padding=1)
        self.vector = nn.Linear(vector, channels, bias=False) if vector else None
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        self.policy = nn.Conv2d(channels, action_planes + global_actions, 1)
        self.value_hidden = nn.Linear(2 * channels, hidden)
        self.value = nn.Linear(hidden, value_outputs)

    def forward(self, seen: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Logits of the flat actions (plane-major, then global) and the value outputs.

        seen: the planes, or planes and vector, as the game's `expand` gives them.
        """
        planes, vector = (seen, None) if isinstance(seen, Tensor) else seen
        x = self.stem(planes.contiguous(memory_format=torch.channels_last))
        if vector is not None:
            x = x + self.vector(vector)[:, :, None, None]
        for block in self.blocks:
            x = block(x)
        x = torch.relu(x)
        maps = self.policy(x)
        logits = maps[:, : self.action_planes].flatten(1)
        if self.global_actions:
            pooled = maps[:, self.action_planes :].mean((2, 3))
            logits = torch.cat([logits, pooled], 1)
        return logits, self.value(functional.silu(self.value_hidden(pool(x))))


def initialise(network: Network, seed: int) -> None:
    """He-normal weights from `seed` alone, zero biases, near-zero last layers."""
    generator = torch.Generator().manual_seed(seed % 2**63)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.ndim == 1:
                parameter.zero_()
                continue
            std = math.sqrt(2.0 / parameter[0].numel())
            if name.endswith(".last.weight"):
                std *= LAST_CONV_GAIN
            elif name in ("policy.weight", "value.weight"):
                std *= POLICY_GAIN
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * std)


def build_network(spec: GameSpec, recipe: Recipe, seed: int, device: str = "cpu") -> Network:
    """The network for a game and a recipe, initialised from `seed` (same on every device)."""
    network = Network(
        planes=len(spec.planes),
        channels=recipe.channels,
        blocks=recipe.blocks,
        action_planes=len(spec.action_planes),
        global_actions=len(spec.global_actions),
        value_outputs=ValueCodec(recipe).outputs,
        vector=len(spec.vector),
    )
    initialise(network, seed)
    return network.to(device)


def layout(module: nn.Module) -> list[list[object]]:
    """[name, shape, dtype] of every parameter and buffer, in the module's order."""
    return [
        [name, list(tensor.shape), str(tensor.dtype).removeprefix("torch.")]
        for name, tensor in module.state_dict().items()
    ]


def fingerprint(rows: list[list[object]]) -> str:
    """sha256 of a layout."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def layout_fingerprint(module: nn.Module) -> str:
    """sha256 over the names, shapes and dtypes of a module's parameters."""
    return fingerprint(layout(module))


def parameter_count(module: nn.Module) -> int:
    """Number of trained numbers."""
    return sum(p.numel() for p in module.parameters())


def network_arrays(network: Network, prefix: str) -> dict[str, np.ndarray]:
    """The network's parameters as arrays on the CPU, named prefix/name."""
    return {f"{prefix}/{n}": p.detach().cpu().numpy() for n, p in network.named_parameters()}
