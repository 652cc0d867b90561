"""The settings as one typed object, checked for what a schema cannot say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from royale.games.clash import decks
from royale.games.clash.engine import cards
from royale.games.clash.layout import DECK

SHUFFLES = {"none": 0, "independent": 1, "mirrored": 2}


@dataclass(frozen=True)
class Settings:
    """Settings of `settings.schema.yaml`."""

    decks: Sequence[Any] = ("starter",)
    pool: Sequence[str] = ()
    shuffle: str = "independent"
    command_delay_ticks: int = 22
    max_turns: int = 620
    overtime_s: int | None = None
    start_tick: int = 0
    tower_hp_share: float = 1.0
    workers: int = 0

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Settings:
        """From a mapping that fits the schema; ValueError where decks are none."""
        unknown = set(settings) - set(cls.__dataclass_fields__)
        if unknown:
            raise ValueError(f"clash has no settings {sorted(unknown)}")
        made = cls(**settings)
        made.deck_ids()
        made.pool_ids()
        return made

    def deck_ids(self) -> tuple[tuple[int, ...], ...]:
        """The decks to draw from, as card ids."""
        return tuple(decks.deck_ids(deck, f"decks[{i}]") for i, deck in enumerate(self.decks))

    def pool_ids(self) -> tuple[int, ...]:
        """The cards that decks are dealt from; none where `decks` says them."""
        if not self.pool:
            return ()
        found = decks.card_ids(self.pool, "pool")
        champions = sum(cards()[card].champion for card in found)
        enough = len(found) - max(0, champions - 1)
        if enough < DECK:
            raise ValueError(f"pool: {enough} cards that fit in one deck; at least {DECK} needed")
        return found

    def overrides(self) -> dict[str, str]:
        """What the engine's calibration is overridden with: JSON texts by key."""
        return {} if self.overtime_s is None else {"match.OVERTIME_S": str(self.overtime_s)}
