"""Positions for the tests of the Generals engine."""

from __future__ import annotations

import numpy as np
from slow_twin import Twin

from royale.games.generals import GAME
from royale.games.generals.boards import load_boards
from royale.games.generals.layout import ARMY, CASTLE, LAND, MOUNTAIN
from royale.games.generals.settings import COMPETITION

MOVE, PASS, BUILD = 0, 1, 2
UP, DOWN, LEFT, RIGHT = 0, 1, 2, 3
NOTHING = (PASS, 0, 0, 0, 0)


def buffers(game):
    """Empty codes, scalars and legal for `observe`."""
    spec, n = game.spec, game.n_games
    return (
        np.zeros((n, 2, *spec.code_shape), np.uint8),
        np.zeros((n, 2, len(spec.scalars)), np.float32),
        np.zeros((n, 2, spec.n_actions), np.uint8),
    )


class Board:
    """One hand-made position, 6 x 7 unless told otherwise, generals in two corners."""

    def __init__(self, height=6, width=7, generals=((0, 0), (5, 6)), time=4, **rules):
        settings = {**COMPETITION, "height": [height, height], "width": [width, width], **rules}
        self.game = GAME.make(1, settings, "base")
        self.shape = (height, width)
        self.owner = np.full(self.shape, -1, np.int8)
        self.army = np.zeros(self.shape, np.int32)
        self.kind = np.zeros(self.shape, np.uint8)
        self.generals = np.array(generals, np.int32)
        self.time = time
        self.started = False
        for seat in (0, 1):
            self.put(seat, tuple(self.generals[seat]), 1)

    def put(self, seat, cell, army, castle=False):
        self.owner[cell], self.army[cell] = seat, army
        if castle:
            self.kind[cell] |= CASTLE
        return self

    def mountain(self, cell):
        self.kind[cell] |= MOUNTAIN
        return self

    def start(self):
        self.started = True
        load_boards(
            self.game,
            self.owner[None],
            self.army[None],
            self.kind[None],
            self.generals[None],
            self.time,
        )
        return self

    def step(self, first=NOTHING, second=NOTHING):
        """Play one turn of raw actions from the position; returns the step's result."""
        if not self.started:
            self.start()
        return self.go_on(first, second)

    def go_on(self, first=NOTHING, second=NOTHING):
        return self.game.step_orders(np.array([[first, second]], np.int32))

    def cut(self, flat):
        side = self.game.side
        return flat.reshape(side, side)[: self.shape[0], : self.shape[1]]

    def at(self, cell):
        """Owner and army of a cell."""
        owner, army = self.cut(self.game.owner[0]), self.cut(self.game.army[0])
        return int(owner[cell]), int(army[cell])

    def castle(self, cell):
        return bool(self.cut(self.game.kind[0])[cell] & CASTLE)

    def price(self, seat, cell):
        return int(self.cut(self.game.price[0, seat])[cell])

    def totals(self):
        """Land of both seats, army of both seats."""
        row = self.game.table[0]
        return row[LAND : LAND + 2].tolist(), row[ARMY : ARMY + 2].tolist()


def twin_of(game, n, **rules):
    """A slow twin that starts from the present position of game `n` of a batch."""
    table, side = game.table[n], game.side
    height, width = int(table[4]), int(table[5])

    def cut(flat):
        return flat.reshape(side, side)[:height, :width]

    kind = cut(game.kind[n])
    generals = [divmod(int(table[8 + s]), side) for s in (0, 1)]
    return Twin(
        cut(game.owner[n]).tolist(),
        cut(game.army[n]).tolist(),
        (kind & MOUNTAIN).tolist(),
        (kind & CASTLE).tolist(),
        generals,
        table[0],
        **rules,
    )


def random_position(rng, n, height, width, **rules):
    """A batch of n random positions of adversarial density, and the game holding it."""
    settings = {**COMPETITION, "height": [height, height], "width": [width, width], **rules}
    game = GAME.make(n, settings, "history")
    shape = (n, height, width)
    owner = rng.integers(-1, 2, shape).astype(np.int8)
    army = rng.choice([0, 0, 1, 1, 2, 2, 3, 4, 5, 9, 40, 49, 60], shape).astype(np.int32)
    kind = np.zeros(shape, np.uint8)
    mountain = rng.random(shape) < rng.choice([0.0, 0.1, 0.3])
    castle = (rng.random(shape) < 0.1) & ~mountain
    army[(owner < 0) & (rng.random(shape) < 0.8)] = 0
    generals = np.empty((n, 2, 2), np.int32)
    for k in range(n):
        places = rng.permutation(height * width)[:2]
        for seat in (0, 1):
            cell = divmod(int(places[seat]), width)
            generals[k, seat] = cell
            owner[k][cell], mountain[k][cell], castle[k][cell] = seat, False, False
    owner[mountain], army[mountain] = -1, 0
    kind[mountain] |= MOUNTAIN
    kind[castle] |= CASTLE
    time = rng.choice([0, 1, 47, 48, 49, 97, 150, 798, 799, 800, 1190], n)
    load_boards(game, owner, army, kind, generals, time)
    return game
