"""The numbers of the rules as one typed object, with the competition's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

# Generals 2026 competition preset (spec section 1).
COMPETITION: dict[str, Any] = {
    "height": [18, 21],
    "width": [18, 21],
    "max_turns": 1200,
    "deathtouch_turn": 800,
    "min_distance": 17,
    "mountain_share": [0.24, 0.26],
    "castles_carved": [9, 11],
}

# A board small enough to learn on within a minute.
SMALL: dict[str, Any] = {
    "height": [8, 8],
    "width": [8, 8],
    "max_turns": 200,
    "deathtouch_turn": 150,
    "min_distance": 6,
    "mountain_share": [0.1, 0.2],
    "castles_carved": [1, 3],
}

# Positions in the integer vector that the kernels read.
RULE_MAX_TURNS, RULE_DEATHTOUCH, RULE_BASE, RULE_SURCHARGE, RULE_CAP = range(5)
MAP_HEIGHT, MAP_WIDTH, MAP_CASTLES, MAP_DISTANCE, MAP_ZONE, MAP_ROOM, MAP_TOLERANCE = (
    0,
    2,
    4,
    6,
    7,
    8,
    9,
)
NO_CAP = 1 << 30


@dataclass(frozen=True)
class Settings:
    """Settings of `settings.schema.yaml`, checked for what a schema cannot say."""

    height: tuple[int, int]
    width: tuple[int, int]
    max_turns: int
    deathtouch_turn: int
    min_distance: int
    mountain_share: tuple[float, float]
    castles_carved: tuple[int, int]
    castle_zone: int = 6
    room_steps: int = 7
    room_tolerance: int = 5
    build_base: int = 35
    build_surcharge: int = 14
    castle_cap: int | None = None

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Settings:
        """From a mapping that fits the schema; ValueError where a range is empty."""
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
        unknown = set(values) - set(cls.__dataclass_fields__)
        if unknown:
            raise ValueError(f"generals has no settings {sorted(unknown)}")
        made = cls(**values)
        for key in ("height", "width", "mountain_share", "castles_carved"):
            low, high = getattr(made, key)
            if low > high:
                raise ValueError(f"{key}: the least, {low}, is above the greatest, {high}")
        return made

    @property
    def side(self) -> int:
        """Side of the square canvas."""
        return max(self.height[1], self.width[1])

    def rules(self) -> np.ndarray:
        """int32 vector of the numbers that `kernels.play` reads."""
        cap = NO_CAP if self.castle_cap is None else self.castle_cap
        numbers = (self.max_turns, self.deathtouch_turn, self.build_base, self.build_surcharge, cap)
        return np.array(numbers, np.int32)

    def map_numbers(self) -> np.ndarray:
        """int32 vector of the numbers that `maps.deal` reads."""
        numbers = (*self.height, *self.width, *self.castles_carved, self.min_distance)
        numbers += (self.castle_zone, self.room_steps, self.room_tolerance)
        return np.array(numbers, np.int32)


def settings_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a game as JSON has them, defaults included, and the side of its canvas."""
    numbers = Settings.read(settings)
    listed = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(numbers).items()}
    return {**listed, "side": numbers.side}
