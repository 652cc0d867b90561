"""The places of what `observation` works on: rows of bytes and of words, with guard zones.

Rows have fixed places in one array and unsigned indices, so that a compiled loop knows without a
test that they do not overlap. Guard zones around the board hold what is outside of it.
The kernels of `observation` have these places compiled in, and are cached by the time of that
file alone: after an edit here, save it, too.
"""

from __future__ import annotations

import numpy as np

from royale.games.generals.layout import (
    AGE,
    ARMY_HIGH,
    ARMY_LOW,
    CHANGE,
    LAST_HIGH,
    LAST_LOW,
    MEMORY,
    MOVES,
    N_CODES,
    PRICE,
    SIGHT,
    UNITS,
)

LARGEST_SIDE = 64  # of a canvas; see settings.schema.yaml
GUARD = 2 * LARGEST_SIDE  # at least a row of the board and a cell
ROW = LARGEST_SIDE**2 + 4 * GUARD  # bytes of a row of `board` or `drawn`, guard zones included
WORDS = LARGEST_SIDE**2 + 64  # words of a row of `words`


def _place(row: int) -> np.uint64:
    return np.uint64(row * ROW + GUARD)


# Rows of `board`. A cell is inside 1, pays a castle 2, own 4, opponent 8, mountain 16,
# castle 32, general 64, structure (mountain or castle) 128: nearly the bits of SIGHT.
CELL, ACROSS, HAS_LEFT, HAS_RIGHT, EDGES, SEAT_0, SEAT_1 = (_place(k) for k in range(7))
N_BOARD = 7
CELL_LEFT, CELL_RIGHT = CELL - np.uint64(1), CELL + np.uint64(1)
OUTSIDE = 16 | 128
# Rows of `drawn`: the codes, and 255 where a cell is in sight.
D_SIGHT, D_UNITS, D_PRICE, D_MOVES = (_place(k) for k in (SIGHT, UNITS, PRICE, MOVES))
D_LOW, D_HIGH = _place(ARMY_LOW), _place(ARMY_HIGH)
D_FLAGS, D_LAST_LOW, D_LAST_HIGH = _place(MEMORY), _place(LAST_LOW), _place(LAST_HIGH)
D_AGE, D_CHANGE, D_SEEN = _place(AGE), _place(CHANGE), _place(N_CODES)
FIRST, NEXT = _place(0), np.uint64(ROW)
# Rows of `words`: the board for either seat, then in a seat's frame.
WORDS_0, WORDS_1, TURNED = (np.uint64(k * WORDS) for k in range(3))
# Rows of a seat's memory.
FLAGS, LOW, HIGH, SINCE = range(4)
ONE = np.uint64(1)


def padded(side: int) -> int:
    """Cells of a stored row: those of the canvas, then mountains.

    A multiple of the bytes that a compiled loop takes at once, because the rest
    of a loop is done byte by byte and would take longer than the loop.
    """
    return -(-side * side // 32) * 32


def scratch(side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Work space of `observe`: the rows of `board`, of `drawn` and of `words`."""
    if side > LARGEST_SIDE:
        raise ValueError(f"a canvas of side {side}: the largest is {LARGEST_SIDE}")
    n_cells = side * side
    board = np.zeros((N_BOARD, ROW), np.uint8)
    board[0] = OUTSIDE
    inner = np.full((2, side, side), 255, np.uint8)
    inner[0, :, 0] = 0  # cells that have a left neighbour
    inner[1, :, -1] = 0
    inner = inner.reshape(2, n_cells)
    flat = board.ravel()
    for row, values in (
        (HAS_LEFT, inner[0]),
        (HAS_RIGHT, inner[1]),
        (EDGES, 3 | (inner[0] & 4) | (inner[1] & 8)),
    ):
        flat[int(row) : int(row) + n_cells] = values
    words = np.full(3 * WORDS, OUTSIDE << 16, np.int32)
    return flat, np.zeros((N_CODES + 1) * ROW, np.uint8), words
