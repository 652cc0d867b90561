"""N games stepped together, behind the protocol of `royale.games.protocol`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from royale.games.generals import kernels, maps, observation, symmetry, workspace
from royale.games.generals.layout import (
    ARMY,
    BUILDS,
    CASTLES,
    COLUMNS,
    HEIGHT,
    LAND,
    MOUNTAIN,
    N_CODES,
    N_MEMORY,
    OVER,
    SOURCE,
    TARGET,
    TIME,
    WIDTH,
)
from royale.games.generals.settings import Settings
from royale.games.protocol import GameSpec, StepResult

STATE = ("table", "owner", "army", "kind", "price", "structures", "memory", "frames")


class Generals:
    """A batch of games; see `layout` for what the state arrays hold."""

    def __init__(self, n_games: int, settings: Mapping[str, Any], spec: GameSpec) -> None:
        numbers = Settings.read(settings)
        self.spec = spec
        self.n_games = n_games
        self.side = numbers.side
        self._rules = numbers.rules()
        self._map_numbers = numbers.map_numbers()
        self._shares = np.array(numbers.mountain_share)
        self.allocate()

    def allocate(self) -> None:
        """Make the state arrays, of games that are over, and the work space of the kernels."""
        n, m, side = self.n_games, self.side * self.side, self.side
        stored = workspace.padded(side)
        self.table = np.zeros((n, COLUMNS), np.int32)
        self.table[:, OVER] = 1
        self.table[:, HEIGHT : WIDTH + 1] = side
        self.table[:, SOURCE : TARGET + 2] = -1
        self.frames = np.zeros((n, 2), np.int8)
        # What the kernels work on has longer rows; the rest of a row is mountain.
        self._owner = np.full((n, stored), -1, np.int8)
        self._army = np.zeros((n, stored), np.int32)
        self._kind = np.full((n, stored), MOUNTAIN, np.uint8)
        self._price = np.zeros((n, 2, stored), np.int32)
        self._memory = np.zeros((n, 2, N_MEMORY, stored), np.uint8)
        self.owner, self.army = self._owner[:, :m], self._army[:, :m]
        self.kind, self.price = self._kind[:, :m], self._price[..., :m]
        self.memory = self._memory[..., :m]
        self.structures = np.zeros((n, m), np.int32)
        self._orders = np.zeros((n, 2, 5), np.int32)
        self._cells, self._places, self._directions = symmetry.tables(side)
        self._steps = symmetry.steps(self._cells)
        self._board, self._drawn, self._words = workspace.scratch(side)

    @property
    def turns(self) -> np.ndarray:
        """(N,) int32: turns played so far. A view of the state."""
        return self.table[:, TIME]

    def reset(self, games: np.ndarray, seeds: np.ndarray) -> None:
        """Deal new boards (spec section 3) to `games` (M,) from `seeds` (M,)."""
        games = np.asarray(games, np.int64)
        seeds = np.asarray(seeds, np.uint64)
        if games.shape != seeds.shape or games.ndim != 1:
            raise ValueError(f"one seed a game: got shapes {games.shape} and {seeds.shape}")
        if games.size and not (games.min() >= 0 and games.max() < self.n_games):
            raise IndexError(f"games {games} of a batch of {self.n_games}")
        maps.deal(
            games,
            seeds,
            self._map_numbers,
            self._shares,
            self.side,
            self.table,
            self._owner,
            self._army,
            self._kind,
        )
        self.recount(games)

    def recount(self, games: np.ndarray) -> None:
        """Bring up to date whatever follows from the cells; forget what was seen."""
        kernels.recount_games(
            games,
            self.table,
            self._owner,
            self._army,
            self._kind,
            self._price,
            self.structures,
            self._rules,
            self.side,
        )
        self.memory[games] = np.array([0, 0, 0, 255, 128], np.uint8)[:, None]
        self.frames[games] = 0

    def observe(self, codes: np.ndarray, scalars: np.ndarray, legal: np.ndarray) -> None:
        """Write what both seats see, in their frames; see the protocol."""
        n, m = self.n_games, self.side * self.side
        spec = self.spec
        _check("codes", codes, np.uint8, (n, 2, N_CODES, self.side, self.side))
        _check("scalars", scalars, np.float32, (n, 2, len(spec.scalars)))
        _check("legal", legal, np.uint8, (n, 2, spec.n_actions))
        contiguous = codes.flags.c_contiguous
        shape = (n, 2, N_CODES, m)
        flat = codes.reshape(shape) if contiguous else np.empty(shape, np.uint8)
        observation.observe(
            self.table,
            self._owner,
            self._army,
            self._kind,
            self._price,
            self._memory,
            self.frames,
            self._steps,
            self._places,
            self._board,
            self._drawn,
            self._words,
            self._rules,
            self.side,
            flat,
            scalars,
            legal,
        )
        if not contiguous:
            codes[...] = flat.reshape(codes.shape)

    def step(self, actions: np.ndarray) -> StepResult:
        """Play one turn of flat actions (N, 2), each in its seat's frame."""
        actions = np.asarray(actions, np.int32)
        _check("actions", actions, np.int32, (self.n_games, 2))
        kernels.decode(actions, self.frames, self._cells, self._directions, self._orders)
        return self.step_orders(self._orders)

    def step_orders(self, orders: np.ndarray) -> StepResult:
        """Play one turn of the competition's own actions, on the board, no frames.

        orders (N, 2, 5) int32: kind, row, column, direction, split; any integers
        (spec section 11).
        """
        n = self.n_games
        _check("orders", orders, np.int32, (n, 2, 5))
        result = StepResult(np.empty(n, bool), np.empty(n, bool), np.empty(n, np.int8))
        kernels.play(
            self.table,
            self._owner,
            self._army,
            self._kind,
            self._price,
            self.structures,
            orders,
            self._rules,
            self.side,
            result.done,
            result.truncated,
            result.winner,
        )
        return result

    def potentials(self, out: np.ndarray) -> None:
        """(own - opponent) / (own + opponent) of land and of army, (N, 2, 2)."""
        for k, column in enumerate((LAND, ARMY)):
            own = self.table[:, column].astype(np.float32)
            other = self.table[:, column + 1].astype(np.float32)
            lead = (own - other) / np.maximum(own + other, 1)
            out[:, 0, k] = lead
            out[:, 1, k] = -lead

    def statistics(self, out: np.ndarray) -> None:
        """Castles, land, army and castles built so far, (N, 2, 4)."""
        for k, column in enumerate((CASTLES, LAND, ARMY, BUILDS)):
            out[:, :, k] = self.table[:, column : column + 2]

    def state_arrays(self) -> dict[str, np.ndarray]:
        """Copies of all state arrays, by name."""
        return {name: getattr(self, name).copy() for name in STATE}

    def load_state_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore `state_arrays`; ValueError where they do not fit this batch."""
        for name in STATE:
            mine = getattr(self, name)
            if name not in arrays or arrays[name].shape != mine.shape:
                got = arrays[name].shape if name in arrays else "nothing"
                raise ValueError(f"state array {name}: want {mine.shape}, got {got}")
        for name in STATE:
            getattr(self, name)[...] = arrays[name]


def _check(name: str, array: np.ndarray, dtype: type, shape: tuple[int, ...]) -> None:
    """The kernels check no bounds, so whatever reaches them is checked here."""
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(f"{name}: want {np.dtype(dtype)} {shape}, got {array.dtype} {array.shape}")
