"""The learner's knobs as one typed record; an arm reads as a difference of two.

What each means and which values are allowed is said once, in
`workflow/schemas/recipe.schema.yaml`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """Every knob of the learner, with the values that are really used.

    `minibatch` and `entropy_floor` here are already scaled by the machine profile.
    """

    encoder: str = "base"
    channels: int = 192
    blocks: int = 6
    value_head: str = "scalar"
    symmetry: str = "none"
    minibatch: int = 2048
    epochs: int = 1
    gamma: float = 0.997
    gae_lambda: float = 0.7
    clip: float = 0.2
    value_coef: float = 0.5
    entropy_floor: float = 0.001
    advantage_top: float = 0.25
    optimizer: str = "adamw"
    learning_rate: float = 0.0005
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    ema_decay: float = 0.99
    draw_reward: float = 0.0
    shaping: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """Build from a complete mapping; ValueError names missing and unknown keys."""
        names = {f.name for f in fields(cls)}
        unknown, missing = sorted(set(values) - names), sorted(names - set(values))
        if unknown or missing:
            raise ValueError(f"recipe: unknown keys {unknown}, missing keys {missing}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return asdict(self)
