"""A race on a small board that implements the protocol, for testing the learner.

Each seat owns a corner and grows one cell a turn, in the four directions; who takes the
other's corner wins (both at once: a draw). Cells with an age, the number of observations
so far, make an observation made twice visible.
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from royale.games import REGISTRY
from royale.games.protocol import GameSpec, StepResult, View
from royale.rng import fold

SYMMETRIES = ("identity", "transpose", "turn", "transpose_turn")
STEPS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
PLANES = {
    "base": ("mine", "theirs", "my_corner", "their_corner", "age", "turn"),
    "wide": ("mine", "theirs", "my_corner", "their_corner", "age", "turn", "free"),
}


def _cells(side: int) -> np.ndarray:
    """(4, side*side): the true cell that each cell of a frame shows."""
    grid = np.arange(side * side).reshape(side, side)
    return np.stack([a.reshape(-1) for a in (grid, grid.T, grid[::-1, ::-1], grid[::-1, ::-1].T)])


def _directions(side: int, cells: np.ndarray) -> np.ndarray:
    """(4, 4): the true direction of each direction of a frame."""
    out = np.zeros((4, 4), np.int64)
    for f in range(4):
        for d, (dr, dc) in enumerate(STEPS):
            here, there = cells[f][side + 1], cells[f][(1 + dr) * side + 1 + dc]
            true = (there // side - here // side, there % side - here % side)
            out[f, d] = [tuple(s) for s in STEPS.tolist()].index(tuple(int(x) for x in true))
    return out


class ToyRace:
    def __init__(self, n_games: int, settings, encoder: str) -> None:
        self.spec = ToyGame().spec(settings, encoder)
        self.n_games, self.side = n_games, settings["side"]
        side = self.side
        self.cells = _cells(side)
        self.directions = _directions(side, self.cells)
        target = np.full((4, side * side), -1)
        for d, (dr, dc) in enumerate(STEPS):
            for cell in range(side * side):
                r, c = cell // side + dr, cell % side + dc
                if 0 <= r < side and 0 <= c < side:
                    target[d, cell] = r * side + c
        self.target = target
        self.owner = np.full((n_games, side * side), -1, np.int8)
        self.corners = np.zeros((n_games, 2), np.int64)
        self.turns = np.zeros(n_games, np.int32)
        self.age = np.zeros(n_games, np.uint8)
        self.over = np.zeros(n_games, bool)
        self.winner = np.full(n_games, -1, np.int8)
        self.frames = np.zeros((n_games, 2), np.int8)
        self.rest, self.lose, self.steps = settings.get("rest", 1), settings.get("lose", ()), 0

    def reset(self, games, seeds) -> None:
        side = self.side
        places = np.array([0, side - 1, side * (side - 1), side * side - 1])
        first = (fold(seeds, 1) % np.uint64(4)).astype(np.int64)
        step = 1 + (fold(seeds, 2) % np.uint64(3)).astype(np.int64)
        self.owner[games] = -1
        self.corners[games] = places[np.stack([first, (first + step) % 4], 1)]
        for seat in (0, 1):
            self.owner[games, self.corners[games, seat]] = seat
        self.turns[games], self.age[games], self.over[games] = 0, 0, False
        self.winner[games] = -1
        self.frames[games] = 0

    def _legal(self, seat: int) -> np.ndarray:
        """(N, 4, cells) in the true frame."""
        mine = self.owner == seat
        inside = self.target >= 0
        free = ~mine[:, np.where(inside, self.target, 0)]
        where = self.corners[:, 0] + self.corners[:, 1] * 100
        awake = fold(77, where, self.turns, seat) % np.uint64(self.rest) == 0
        return mine[:, None, :] & inside & free & awake[:, None, None]

    def observe(self, codes, scalars, legal) -> None:
        self.age = np.minimum(self.age.astype(np.int64) + 1, 255).astype(np.uint8)
        games = np.arange(self.n_games)
        for seat in (0, 1):
            frame = self.frames[:, seat]
            who = np.where(self.owner == seat, 1, np.where(self.owner == 1 - seat, 2, 0))
            corner = np.zeros_like(who)
            corner[games, self.corners[:, seat]] = 1
            corner[games, self.corners[:, 1 - seat]] = 2
            shown = self.cells[frame]
            age = np.broadcast_to(self.age[:, None], who.shape)
            for c, layer in enumerate((who, corner, age)):
                codes[:, seat, c] = np.take_along_axis(layer, shown, 1).reshape(
                    -1, self.side, self.side
                )
            true = self._legal(seat)
            turned = true[games[:, None], self.directions[frame]]
            shown4 = np.broadcast_to(shown[:, None], turned.shape)
            legal[:, seat, :-1] = np.take_along_axis(turned, shown4, 2).reshape(self.n_games, -1)
            legal[:, seat, -1] = 1
        scalars[..., 0] = (self.turns / self.spec.max_turns)[:, None]

    def step(self, actions) -> StepResult:
        size, games = self.side**2, np.arange(self.n_games)
        live = ~self.over
        taken = np.full((self.n_games, 2), -1)
        for seat in (0, 1):
            a = actions[:, seat]
            spatial = a < 4 * size
            d = np.where(spatial, a // size, 0)
            frame = self.frames[:, seat]
            cell = self.cells[frame, np.where(spatial, a % size, 0)]
            d = self.directions[frame, d]
            legal = self._legal(seat)[games, d, cell] & spatial & live
            taken[:, seat] = np.where(legal, self.target[d, cell], -1)
        for seat in (0, 1):
            moved = taken[:, seat] >= 0
            self.owner[games[moved], taken[moved, seat]] = seat
        self.turns[live] += 1
        wins = taken == self.corners[:, ::-1]
        truncated = live & ~wins.any(1) & (self.turns >= self.spec.max_turns)
        self.over |= wins.any(1) | truncated
        for seat in (0, 1):
            self.winner[wins[:, seat] & ~wins[:, 1 - seat]] = seat
        if not self.lose:
            return StepResult(self.over.copy(), truncated, self.winner.copy())
        lost = np.zeros(self.n_games, bool)
        lost[[n for step, n in self.lose if step == self.steps]] = True
        self.steps += 1
        self.over |= lost
        self.winner[lost] = -1
        return StepResult(self.over.copy(), truncated & ~lost, self.winner.copy(), lost)

    def _land(self) -> np.ndarray:
        return np.stack([(self.owner == s).mean(1) for s in (0, 1)], 1)

    def potentials(self, out) -> None:
        land = self._land()
        out[..., 0] = land - land[:, ::-1]

    def statistics(self, out) -> None:
        out[..., 0] = self._land()

    def state_arrays(self):
        names = ("owner", "corners", "turns", "age", "over", "winner", "frames")
        return {name: getattr(self, name).copy() for name in names}

    def load_state_arrays(self, arrays) -> None:
        for name, array in arrays.items():
            setattr(self, name, array.copy())


class RandomPlayer:
    def act(self, view) -> np.ndarray:
        u = (fold(view.keys, 7) >> np.uint64(11)).astype(np.float64) / 2.0**53
        ranks = view.legal.cumsum(1)
        pick = 1 + (u * ranks[:, -1]).astype(np.int64)
        return (ranks < pick[:, None]).sum(1).astype(np.int32)


class FirstPlayer:
    """Plays the lowest legal action."""

    def act(self, view) -> np.ndarray:
        return view.legal.argmax(1).astype(np.int32)


class ToyGame:
    name = "toy"
    encoders = ("base", "wide")
    scripted = ("random", "first")

    def spec(self, settings, encoder: str) -> GameSpec:
        side = settings["side"]
        return GameSpec(
            name="toy",
            height=side,
            width=side,
            encoder=encoder,
            code_shape=(3, side, side),
            scalars=("turn",),
            planes=PLANES[encoder],
            action_planes=("up", "right", "down", "left"),
            global_actions=("pass",),
            symmetries=SYMMETRIES,
            potentials=("land",),
            statistics=("land",),
            max_turns=settings["max_turns"],
        )

    def make(self, n_games: int, settings, encoder: str) -> ToyRace:
        return ToyRace(n_games, settings, encoder)

    def scripted_player(self, name: str, spec: GameSpec):
        return {"random": RandomPlayer, "first": FirstPlayer}[name]()

    def transform(self, codes, scalars, legal, actions, elements):
        b, side = len(codes), codes.shape[-1]
        cells = _cells(side)
        directions, places = _directions(side, cells)[elements], np.argsort(cells, 1)[elements]
        shown = cells[elements]
        turned = np.take_along_axis(codes.reshape(b, 3, -1), shown[:, None], 2)
        spatial = np.take_along_axis(legal[:, :-1].reshape(b, 4, -1), directions[..., None], 1)
        spatial = np.take_along_axis(spatial, shown[:, None], 2).reshape(b, -1)
        here = actions < 4 * side**2
        plane, cell = np.where(here, actions, 0) // side**2, np.where(here, actions, 0) % side**2
        rows = np.arange(b)
        moved = np.argsort(directions, 1)[rows, plane] * side**2 + places[rows, cell]
        return (
            turned.reshape(codes.shape),
            scalars,
            np.concatenate([spatial, legal[:, -1:]], 1),
            np.where(here, moved, actions).astype(np.int32),
        )

    def expand(self, codes, scalars, encoder: str):
        who, corner, age = codes.unbind(1)
        turn = scalars[:, :1, None].expand(-1, *who.shape[1:])
        planes = [who == 1, who == 2, corner == 1, corner == 2, age / 32.0, turn]
        if encoder == "wide":
            planes.append(who == 0)
        return torch.stack([p.float() for p in planes], 1)


def first_view(batch: ToyRace) -> View:
    """What seat 0 of every game sees at the start."""
    n, side = batch.n_games, batch.side
    codes = np.zeros((n, 2, 3, side, side), np.uint8)
    scalars = np.zeros((n, 2, 1), np.float32)
    legal = np.zeros((n, 2, batch.spec.n_actions), np.uint8)
    batch.reset(np.arange(n), np.arange(n, dtype=np.uint64))
    batch.observe(codes, scalars, legal)
    keys = fold(5, np.arange(n))
    return View(codes[:, 0], scalars[:, 0], legal[:, 0], batch.turns.copy(), keys)


GAME = ToyGame()
SETTINGS = {"side": 4, "max_turns": 20}


def register() -> None:
    """Make `royale.games.load("toy")` find this module."""
    REGISTRY["toy"] = __name__
    sys.modules.setdefault(__name__, sys.modules[__name__])
