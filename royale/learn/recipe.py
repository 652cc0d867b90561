"""The learner's knobs as one typed record; an arm reads as a difference of two.

What each means and which values are allowed is said once, in
`workflow/schemas/recipe.schema.yaml`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from royale.errors import ConfigError

OPPONENTS = ("past", "scripted", "random")


def opponent_games(shares: Mapping[str, float], games: int) -> dict[str, int]:
    """How many of `games` are played against each kind; ConfigError if a share is of none."""
    counts = {name: int(shares.get(name, 0.0) * games + 1e-9) for name in OPPONENTS}
    for name, count in counts.items():
        if shares.get(name, 0.0) > 0 and count == 0:
            raise ConfigError(
                f"recipe key 'opponents.{name}' = {shares[name]} of {games} games is none; "
                f"allowed: 0 or >= {1 / games:g}"
            )
    return counts


@dataclass(frozen=True)
class Recipe:
    """Every knob of the learner, with the values that are really used.

    `minibatch` and `entropy_floor` here are already scaled by the machine profile.
    ConfigError where knobs contradict each other, which a schema cannot say.
    """

    encoder: str = "base"
    channels: int = 192
    blocks: int = 6
    value_head: str = "scalar"
    symmetry: str = "none"
    truncation: str = "terminal"
    minibatch: int = 2048
    epochs: int = 1
    gamma: float = 0.997
    gae_lambda: float = 0.7
    clip: float = 0.2
    value_coef: float = 0.5
    value_clip: float = 0.0
    entropy_floor: float = 0.001
    advantage_top: float = 0.25
    optimizer: str = "adamw"
    learning_rate: float = 0.0005
    warmup: int = 0
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    ema_decay: float = 0.99
    precision: str = "fp32"
    overlap: bool = False
    draw_reward: float = 0.0
    shaping: Mapping[str, float] = field(default_factory=dict)
    opponents: Mapping[str, float] = field(default_factory=dict)
    explore_plane: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    schedule: Sequence[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        ends = [stage["until"] for stage in self.schedule]
        if ends != sorted(set(ends)):
            raise ConfigError(
                f"recipe key 'schedule' has 'until' = {', '.join(f'{end:g}' for end in ends)}; "
                "allowed: each greater than the one before"
            )
        shares = sum(self.opponents.values())
        if shares > 1 + 1e-9:
            raise ConfigError(
                f"recipe key 'opponents' = {dict(self.opponents)} sums to {shares:g}; allowed: <= 1"
            )
        explored = sum(self.explore_plane.values())
        if explored >= 1:
            raise ConfigError(
                f"recipe key 'explore_plane' = {dict(self.explore_plane)} sums to {explored:g}; "
                "allowed: < 1"
            )
        if self.value_clip and self.value_head != "scalar":
            raise ConfigError(
                f"recipe key 'value_clip' = {self.value_clip} clips a scalar, but value_head is "
                f"{self.value_head!r}; allowed: 0"
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """Build from a complete mapping; ValueError names missing and unknown keys."""
        names = {f.name for f in fields(cls)}
        unknown, missing = sorted(set(values) - names), sorted(names - set(values))
        if unknown or missing:
            raise ValueError(f"recipe: unknown keys {unknown}, missing keys {missing}")
        return cls(**values)

    @classmethod
    def of_file(cls, values: Mapping[str, Any]) -> Recipe:
        """Build from what a file of this or an earlier version says; ValueError names unknown keys.

        A key that is younger than the file has its default, which is off.
        """
        return cls.from_dict({**cls().to_dict(), **values})

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return asdict(self)

    def settings_at(self, share: float) -> dict[str, Any]:
        """The game's settings that this recipe sets when `share` (0..1) of an arm is trained."""
        for stage in self.schedule:
            if share < stage["until"]:
                return {**self.settings, **stage["settings"]}
        return dict(self.settings)

    def negative_controls(self) -> list[str]:
        """A line for each knob that is a known mistake, kept to be measured."""
        lines = []
        if self.symmetry == "stored_samples":
            lines.append(
                "symmetry: stored_samples is a biased negative control; stored samples are turned "
                "after they were played, so the ratio is no ratio (see ratio_max_abs_dev)"
            )
        if self.truncation == "reset":
            lines.append(
                "truncation: reset is a biased negative control; a game that meets the turn cap "
                "bootstraps from the next game, and its draw is neither rewarded nor trained on"
            )
        return lines
