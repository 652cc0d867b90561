"""Put given positions on the boards of a batch: recorded ones, and those of tests."""

from __future__ import annotations

import numpy as np

from royale.games.generals.game import Generals
from royale.games.generals.layout import (
    COLUMNS,
    GENERAL,
    HEIGHT,
    INSIDE,
    IS_GENERAL,
    MOUNTAIN,
    OBSERVED,
    SOURCE,
    TARGET,
    TIME,
    WIDTH,
    WINNER,
)


def load_boards(
    game: Generals,
    owner: np.ndarray,
    army: np.ndarray,
    kind: np.ndarray,
    generals: np.ndarray,
    time: np.ndarray | int = 0,
) -> None:
    """Set every game of the batch to a position of its own.

    owner, army and kind (mountain and castle bits) are (N, height, width);
    generals (N, 2, 2) rows and columns of both seats; time (N,) turns played.
    """
    n, height, width = owner.shape
    side = game.side
    if n != game.n_games or max(height, width) > side:
        raise ValueError(f"positions {owner.shape} for {game.n_games} games on a canvas of {side}")
    if generals.shape != (n, 2, 2) or not ((generals >= 0) & (generals < (height, width))).all():
        raise ValueError("the generals are not on the boards")
    if not np.isin(owner, (-1, 0, 1)).all():
        raise ValueError("owners other than -1, 0 and 1")
    game.table[:, :COLUMNS] = 0
    game.table[:, WINNER] = -1
    game.table[:, OBSERVED] = -1
    game.table[:, HEIGHT] = height
    game.table[:, WIDTH] = width
    game.table[:, TIME] = time
    game.table[:, SOURCE : SOURCE + 2] = -1
    game.table[:, TARGET : TARGET + 2] = -1
    for to, values, empty in (
        (game.owner, owner, -1),
        (game.army, army, 0),
        (game.kind, kind | np.uint8(INSIDE), MOUNTAIN),
    ):
        to[...] = empty
        to.reshape(n, side, side)[:, :height, :width] = values
    for seat in range(2):
        cells = generals[:, seat, 0] * side + generals[:, seat, 1]
        game.table[:, GENERAL + seat] = cells
        game.kind[np.arange(n), cells] |= IS_GENERAL
    game.recount(np.arange(n))
