"""Where a card may be put: the engine's own answer, asked once for each board that differs.

Whether a tile is legal depends on the side, the card's class of places, its box, and the towers
and buildings that stand; not on troops, elixir or time. So the 576 answers are kept under
these, and one question to the engine tells whether the slot may be played at all now.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from royale.games.clash.engine import OK, PLACE_REASONS, cards
from royale.games.clash.layout import HEIGHT, SUBTILES, TILES, WIDTH

MOST_GRIDS = 1 << 14  # 20 MB


def points() -> np.ndarray:
    """(2, 576, 2): the engine's point at the middle of each tile of each side's own frame."""
    rows, columns = np.divmod(np.arange(TILES), WIDTH)
    blue = np.stack([columns, rows], 1) * SUBTILES + SUBTILES // 2
    red = np.array([WIDTH, HEIGHT]) * SUBTILES - blue
    return np.stack([blue, red])


POINTS = [[(int(x), int(y)) for x, y in side] for side in points()]
MIRRORED = np.arange(TILES).reshape(HEIGHT, WIDTH)[:, ::-1].reshape(-1).copy()


class Legality:
    """The cache of grids. `wrong` counts how often the engine contradicted it."""

    def __init__(self) -> None:
        self._classes = [(card.placement, card.footprint, card.kind) for card in cards()]
        self._grids: dict[tuple, tuple[np.ndarray, np.ndarray, int]] = {}
        self.asked = self.filled = self.wrong = 0

    def grid(
        self,
        check: Callable[[int, int, int, int], int],
        team: int,
        slot: int,
        card: int,
        place: int,
        mirrored: int,
    ) -> np.ndarray | None:
        """Legal tiles (576,) uint8 of a hand slot in the seat's frame; None if it cannot be played.

        check: the battle's `check_deploy`; card: what would be put there; place: key of the
        towers and buildings, from `encode.prospects`.
        """
        key = (team, self._classes[card], place)
        found = self._grids.get(key)
        self.asked += 1
        if found is not None:
            probe = found[2]
            if probe < 0:
                return None
            reason = check(team, slot, *POINTS[team][probe])
            if reason == OK:
                return found[mirrored]
            if reason not in PLACE_REASONS:
                return None
            self.wrong += 1
        reasons = [check(team, slot, x, y) for x, y in POINTS[team]]
        # Of a card that cannot be played now, whatever the place, nothing can be learnt.
        if not any(reason == OK or reason in PLACE_REASONS for reason in reasons):
            return None
        plain = np.array([reason == OK for reason in reasons], np.uint8)
        if len(self._grids) >= MOST_GRIDS:
            self._grids.clear()
        probe = int(plain.argmax()) if plain.any() else -1
        found = self._grids[key] = (plain, plain[MIRRORED], probe)
        self.filled += 1
        return found[mirrored] if probe >= 0 else None
