"""From the frames of a game to what the network was trained on, with memory.

`Memory.observe` gives the codes, scalars and legal actions that the engine gives
the same seat, byte for byte; a frame carries all of it except what only earlier
frames told. Arrays are on the square canvas, which boards are padded to with
mountains at the bottom and right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from royale.bot import wire
from royale.bot.layout import MAX_ARMY, MAX_PRICE, N_CODES, NEVER, NO_CHANGE


@dataclass(frozen=True)
class Observation:
    """One seat's view of a turn; S is the side of the canvas."""

    codes: np.ndarray  # (C, S, S) uint8
    scalars: np.ndarray  # (14,) float32
    legal: np.ndarray  # (9*S*S + 1,) bool: flat actions, the pass last
    army: np.ndarray  # (S, S) int32, not clipped


def _shifted(cells: np.ndarray, row: int, column: int) -> np.ndarray:
    """The neighbour at (row, column) steps of every cell; False beyond the edge."""
    padded = np.pad(cells, 1)
    side = cells.shape[0]
    return padded[1 + row : 1 + row + side, 1 + column : 1 + column + side]


def _around(cells: np.ndarray) -> np.ndarray:
    """Cells within the 3x3 block around any marked one."""
    padded = np.pad(cells, 1)
    rows = padded[:-2] | padded[1:-1] | padded[2:]
    return rows[:, :-2] | rows[:, 1:-1] | rows[:, 2:]


def _byte(*bits: np.ndarray) -> np.ndarray:
    """Bits, the lowest first, to one byte a cell."""
    out = bits[0].astype(np.uint8)
    for k, bit in enumerate(bits[1:], 1):
        out |= bit.astype(np.uint8) << np.uint8(k)
    return out


class Memory:
    """What one seat knows of one game."""

    def __init__(self, rules: Mapping[str, Any], height: int, width: int) -> None:
        """rules: a bundle's metadata. ValueError if the board is larger than the canvas."""
        side = rules["canvas"]
        if max(height, width) > side:
            raise ValueError(f"the board is {height}x{width}, the net's canvas {side}x{side}")
        self.rules, self.height, self.width, self.side = rules, height, width, side
        shape = (side, side)
        self.inside = np.zeros(shape, bool)
        self.inside[:height, :width] = True
        self.mountain: np.ndarray | None = None  # known ones; None before the first frame
        self.enemy_general = np.zeros(shape, bool)
        self.seen, self.last_opponent, self.last_own = (np.zeros(shape, bool) for _ in range(3))
        self.gained, self.lost = np.zeros(shape, bool), np.zeros(shape, bool)
        self.last_army = np.zeros(shape, np.int32)
        self.age = np.full(shape, NEVER, np.uint8)
        self.change = np.full(shape, NO_CHANGE, np.uint8)
        self.turn = -1
        self._order: tuple[int, ...] | None = None
        self._shown_order: tuple[int, ...] | None = None  # the one the memory bits show
        self._legal: np.ndarray | None = None
        rows = np.arange(side)
        self._distance = np.abs(rows[:, None] - rows)  # (S, S) between rows

    def acted(self, order: tuple[int, ...]) -> None:
        """Say what was answered to the latest frame; it is part of the next observation."""
        self._order = order

    def _canvas(self, grid: np.ndarray, fill: int) -> np.ndarray:
        out = np.full((self.side, self.side), fill, np.int32)
        out[: self.height, : self.width] = grid
        return out

    def observe(self, frame: wire.Frame) -> Observation:
        """Take in the next frame of the game."""
        kind = self._canvas(frame.kind, wire.MOUNTAIN)
        owner = self._canvas(frame.owner, wire.NOBODY)
        army = self._canvas(frame.army, 0)
        own = owner == wire.ME
        visible = _around(own)
        opponent = (owner == wire.OPPONENT) & visible
        castle = (kind == wire.CASTLE) & visible
        general = (kind == wire.GENERAL) & visible
        structure = (kind == wire.STRUCTURE_IN_FOG) | ((kind == wire.MOUNTAIN) & ~visible)
        self._learn(kind, general & ~own)
        mountain = self.mountain
        shown = np.minimum(army, MAX_ARMY)
        if frame.turn != self.turn:
            self._remember(own, opponent, visible, shown)
            self.turn = frame.turn

        price = self._price(own & (castle | general))
        strong = own & (army >= 2)
        open_ = ~mountain
        moves = [
            strong & _shifted(open_, row, column)
            for row, column in ((-1, 0), (1, 0), (0, -1), (0, 1))
        ]
        cap = self.rules["castle_cap"]
        castles = int((own & castle).sum())
        build = own & (army >= price) & ~castle & ~general
        if cap is not None and castles >= cap:
            build[:] = False

        codes = np.empty((N_CODES, self.side, self.side), np.uint8)
        codes[0] = _byte(
            self.inside,
            visible,
            own,
            opponent,
            mountain & visible,
            castle,
            general,
            structure,
        )
        codes[1] = _byte(
            own & castle,
            opponent & castle,
            own & general,
            opponent & general,
            visible & ~own & ~opponent & ~mountain,
            ~visible & ~structure,
            moves[0] | moves[1] | moves[2] | moves[3],
            build,
        )
        codes[2], codes[3] = shown & 255, shown >> 8
        codes[4] = np.minimum(price, MAX_PRICE)
        codes[5] = _byte(
            *moves,
            mountain,
            structure & ~mountain,
            self.inside & ~self.seen & ~mountain,
            self.enemy_general,
        )
        codes[6] = _byte(
            self.seen,
            self.last_opponent,
            self.last_own,
            self.gained,
            self.lost,
            *self._last_order(),
        )
        codes[7], codes[8] = self.last_army & 255, self.last_army >> 8
        codes[9], codes[10] = self.age, self.change
        legal = np.concatenate([*moves, *moves, build]).ravel()
        self._legal = np.append(legal, True)
        return Observation(codes, self._scalars(frame, castles), self._legal, army)

    def _learn(self, kind: np.ndarray, enemy_general: np.ndarray) -> None:
        """Mountains and the enemy's general, once known, stay known."""
        mountain = kind == wire.MOUNTAIN
        if self.mountain is None:
            # Every castle is built in play, so structures in the first frame are mountains.
            self.mountain = mountain | (kind == wire.STRUCTURE_IN_FOG)
        else:
            known_other = (kind == wire.CASTLE) | (kind == wire.PLAIN) | (kind == wire.GENERAL)
            self.mountain = (self.mountain | mountain) & ~known_other
        self.enemy_general |= enemy_general

    def _remember(
        self, own: np.ndarray, opponent: np.ndarray, visible: np.ndarray, shown: np.ndarray
    ) -> None:
        """Move the memory one turn on; `shown` is the army in sight, clipped."""
        was = self.age == 0
        held = self.last_own & was
        step = np.clip(shown - self.last_army, -127, 127) + NO_CHANGE
        self.change = np.where(visible & was, step, NO_CHANGE).astype(np.uint8)
        self.seen = self.seen | visible
        self.last_opponent = np.where(visible, opponent, self.last_opponent)
        self.last_own = np.where(visible, own, self.last_own)
        self.gained, self.lost = own & ~held, held & ~own
        self.last_army = np.where(visible, shown, self.last_army)
        older = np.where(self.age < NEVER - 1, self.age + np.uint8(1), self.age)
        self.age = np.where(visible, np.uint8(0), older)
        self._shown_order, self._order = self._valid_order(), None

    def _valid_order(self) -> tuple[int, ...] | None:
        """The order answered last, if the game carries it out."""
        if self._order is None or self._order[0] == wire.PASS:
            return None
        kind, row, column, direction, _ = self._order
        plane = 8 if kind == wire.BUILD else direction
        index = (plane * self.side + row) * self.side + column
        return self._order if self._legal[index] else None

    def _last_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the previous order came from and went to, one cell each or none."""
        source = np.zeros((self.side, self.side), bool)
        target = source.copy()
        if self._shown_order is not None:
            kind, row, column, direction, _ = self._shown_order
            source[row, column] = True
            if kind == wire.MOVE:
                row += (-1, 1, 0, 0)[direction]
                column += (0, 0, -1, 1)[direction]
            target[row, column] = True
        return source, target

    def _price(self, structures: np.ndarray) -> np.ndarray:
        """(S, S) price of a castle for this seat, given its structures (spec section 8)."""
        price = np.full((self.side, self.side), self.rules["build_base"], np.int32)
        for row, column in np.argwhere(structures):
            distance = self._distance[row][:, None] + self._distance[column]
            price += np.maximum(self.rules["build_surcharge"] - 2 * distance, 0)
        return price

    def _scalars(self, frame: wire.Frame, castles: int) -> np.ndarray:
        """The engine's scalars, in its order; see `royale.games.generals.layout`."""
        area = self.height * self.width
        touch = self.rules["deathtouch_turn"]

        def lead(own: int, other: int) -> float:
            return (own - other) / (own + other) if own + other > 0 else 0.0

        values = (
            frame.my_land / area,
            frame.opponent_land / area,
            np.log1p(frame.my_army) / 8,
            np.log1p(frame.opponent_army) / 8,
            frame.turn / self.rules["max_turns"],
            frame.turn % 2,
            frame.turn % 50 / 50,
            float(frame.turn >= touch),
            max(touch - frame.turn, 0) / max(touch, 1),
            np.log1p(castles) / 3,
            self.height / self.side,
            self.width / self.side,
            lead(frame.my_land, frame.opponent_land),
            lead(frame.my_army, frame.opponent_army),
        )
        return np.array(values, np.float64).astype(np.float32)
