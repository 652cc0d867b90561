"""The eight symmetries of the square, as tables of cells and directions."""

from __future__ import annotations

import numpy as np

# What a frame does to the picture of the board, the identity first. Bit 2 of
# the index transposes, bit 1 flips rows, bit 0 flips columns.
NAMES = (
    "identity",
    "flip_columns",
    "flip_rows",
    "rotate_180",
    "transpose",
    "rotate_left",
    "rotate_right",
    "anti_transpose",
)
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right (spec, head)


def tables(side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables of the frames on a side x side canvas.

    Returns `cells` (8, side*side) uint32, the board's cell that is shown at each
    cell of the frame; `places` (8, side*side) uint32, the inverse; and
    `directions` (8, 4) int32, the board's direction of each one of the frame.
    """
    board = np.arange(side * side, dtype=np.int32).reshape(side, side)
    cells = np.empty((8, side * side), np.int32)
    directions = np.empty((8, 4), np.int32)
    for g in range(8):
        view = board
        if g & 2:
            view = view[::-1]
        if g & 1:
            view = view[:, ::-1]
        if g & 4:
            view = view.T
        cells[g] = view.ravel()
        for d, (row, column) in enumerate(STEPS):
            if g & 4:
                row, column = column, row
            step = (-row if g & 2 else row, -column if g & 1 else column)
            directions[g, d] = STEPS.index(step)
    # Unsigned: a compiled look-up then needs no check for negative indices.
    return cells.astype(np.uint32), np.argsort(cells, axis=1).astype(np.uint32), directions


def steps(cells: np.ndarray) -> np.ndarray:
    """Of the table `cells`, (8, 3) uint64: the first cell of each frame, and how far it is
    to the next in a row and to the next row, modulo 2**64.
    """
    side = int(np.sqrt(cells.shape[1]))
    first = cells[:, 0].astype(np.int64)
    apart = [cells[:, k].astype(np.int64) - first for k in (1, side)]
    return np.stack([first, *apart], axis=1).astype(np.uint64)
