"""What the value head's outputs mean: a scalar, or bins of HL-Gauss.

HL-Gauss (Farebrother et al. 2024, "Stop Regressing") trains a classifier on the
target smoothed by a Gaussian over fixed bins; the value is the bins' mean.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from royale.learn.recipe import Recipe

BINS = 128
SIGMA_IN_BINS = 0.75  # the paper's ratio of the Gaussian's width to a bin


class ValueCodec:
    """Decodes value outputs (B, V) to values (B,) and computes their loss.

    The bins span +-support. A return is the outcome (a win's 1, or what a draw costs) minus the
    shaping potential of now (the rest telescopes), so the greater of these + the sum of
    |coefficients| bounds it.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.kind = recipe.value_head
        if self.kind not in ("scalar", "hl_gauss"):
            raise ValueError(f"value_head: {self.kind!r} is neither 'scalar' nor 'hl_gauss'")
        self.outputs = 1 if self.kind == "scalar" else BINS
        shaped = sum(abs(c) for c in recipe.shaping.values())
        self.support = max(1.0, abs(recipe.draw_reward)) + 0.1 + shaped
        self.sigma = SIGMA_IN_BINS * 2 * self.support / BINS

    def _edges(self, device: torch.device) -> Tensor:
        return torch.linspace(-self.support, self.support, BINS + 1, device=device)

    def encode(self, target: Tensor) -> Tensor:
        """Targets (B,) -> probabilities of the bins (B, BINS), each row summing to 1."""
        target = target.clamp(-self.support, self.support)
        z = (self._edges(target.device) - target[:, None]) / (self.sigma * math.sqrt(2.0))
        mass = torch.erf(z).diff(dim=1)
        return mass / mass.sum(1, keepdim=True)

    def decode(self, outputs: Tensor) -> Tensor:
        """Outputs (B, V) -> values (B,): the scalar itself, or the bins' expected centre."""
        if self.kind == "scalar":
            return outputs[:, 0]
        edges = self._edges(outputs.device)
        return torch.softmax(outputs, 1) @ ((edges[1:] + edges[:-1]) / 2)

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Mean loss over the batch: half the squared error, or the cross-entropy."""
        if self.kind == "scalar":
            return 0.5 * F.mse_loss(outputs[:, 0], target)
        return F.cross_entropy(outputs, self.encode(target))

    def clipped_loss(self, outputs: Tensor, target: Tensor, old: Tensor, clip: float) -> Tensor:
        """Half the mean of the greater of two squared errors (OpenAI Baselines, ppo2).

        They are those of the scalar v and of old + clamp(v - old, -clip, clip), where old
        (B,) is the value when it was played: a value that has moved by `clip` towards its
        target is moved no further.
        """
        value = outputs[:, 0]
        near = old + (value - old).clamp(-clip, clip)
        return 0.5 * torch.maximum((value - target) ** 2, (near - target) ** 2).mean()
