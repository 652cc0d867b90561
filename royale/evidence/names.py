"""Names of players and matches: how they stand in files, and their parts.

`g05.treatment.seed0` is an arm's network after its last segment, `g05.treatment.seed0.segment1`
after that one, `g05.treatment.seed0.wall_clock` what the arm had when the faster of the two
finished. `g04.champion` is a generation's champion. Any other name (`random`) is a scripted or
external player, or a network of the panel. A match is two of them, `a-vs-b`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

ARMS: Final = ("treatment", "control")
ROOT_ARM: Final = "root"
VERSUS = "-vs-"

_NUMBER = r"(?:0|[1-9]\d*)"
_NETWORK = re.compile(
    r"(?P<generation>[^.]+)\.(?:champion|"
    rf"(?P<arm>{'|'.join((*ARMS, ROOT_ARM))})\.seed(?P<seed>{_NUMBER})"
    rf"(?:\.segment(?P<segment>{_NUMBER})|\.(?P<wall_clock>wall_clock))?)"
)


@dataclass(frozen=True)
class PlayerName:
    """A player's name, by its parts; of a player that no generation made, `other` alone.

    Make one with `parse`, `of_arm`, `champion` or `named`; `str` gives back the text.
    """

    other: str | None = None
    generation: str | None = None
    arm: str | None = None  # None for the champion
    seed: int | None = None
    segment: int | None = None  # None: after the last
    wall_clock: bool = False

    @classmethod
    def parse(cls, text: str) -> PlayerName:
        """The name in a text; ValueError for one with dots that no network has."""
        if "." not in text:
            return cls.named(text)
        found = _NETWORK.fullmatch(text)
        if not found:
            raise ValueError(f"{text!r} is no player's name")
        seed, segment = (None if n is None else int(n) for n in found.group("seed", "segment"))
        clock = found["wall_clock"] is not None
        return cls(None, found["generation"], found["arm"], seed, segment, clock)

    @classmethod
    def of_arm(
        cls,
        generation: str,
        arm: str,
        seed: int,
        segment: int | None = None,
        wall_clock: bool = False,
    ) -> PlayerName:
        """An arm's network of a seed: after a segment, at equal wall clock, or at its end."""
        return cls(None, generation, arm, seed, segment, wall_clock)

    @classmethod
    def champion(cls, generation: str) -> PlayerName:
        """A generation's champion."""
        return cls(None, generation)

    @classmethod
    def named(cls, name: str) -> PlayerName:
        """A scripted or external player, or a network of the panel."""
        return cls(name)

    @property
    def is_champion(self) -> bool:
        """Whether it is a generation's champion."""
        return self.generation is not None and self.arm is None

    def __str__(self) -> str:
        if self.other is not None:
            return self.other
        if self.arm is None:
            return f"{self.generation}.champion"
        name = f"{self.generation}.{self.arm}.seed{self.seed}"
        if self.segment is not None:
            return f"{name}.segment{self.segment}"
        return f"{name}.wall_clock" if self.wall_clock else name


@dataclass(frozen=True)
class MatchName:
    """A match's name: its first player, from whose view it is counted, and its second."""

    a: PlayerName
    b: PlayerName

    @classmethod
    def parse(cls, text: str) -> MatchName:
        """The name in a text such as `g05.champion-vs-random`; ValueError if it is none."""
        a, versus, b = text.partition(VERSUS)
        if not versus or not a or not b or VERSUS in b:
            raise ValueError(f"{text!r} is no match's name; it is one of the form a-vs-b")
        return cls.of(a, b)

    @classmethod
    def of(cls, a: str, b: str) -> MatchName:
        """The name of a match between two players by their names; ValueError as in `parse`."""
        return cls(PlayerName.parse(a), PlayerName.parse(b))

    @property
    def players(self) -> tuple[PlayerName, PlayerName]:
        """Both, the first one first."""
        return self.a, self.b

    def __str__(self) -> str:
        return f"{self.a}{VERSUS}{self.b}"
