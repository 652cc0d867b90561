"""Stored observations of the identity's frame, as another frame would have shown them."""

from __future__ import annotations

import numpy as np

from royale.games.generals.layout import ACTION_PLANES, MOVES, SCALARS
from royale.games.generals.symmetry import STEPS, tables

D = len(STEPS)
HEIGHT, WIDTH = SCALARS.index("height"), SCALARS.index("width")
TRANSPOSING = 4  # bit of a frame's index


def transform(
    codes: np.ndarray,
    scalars: np.ndarray,
    legal: np.ndarray,
    actions: np.ndarray,
    elements: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """codes, scalars, legal and actions in the frames `elements`; see `protocol.Game`.

    Cells move, and so do the directions: the planes of moves and of half moves, and the
    four low bits of the code `moves`. A transposed board swaps its height and width.
    """
    b, c, side, _ = codes.shape
    cells, places, directions = tables(side)
    g = elements.astype(np.int64)
    shown = cells[g].astype(np.int64)  # (B, M): the old cell at each new one
    turned = np.take_along_axis(codes.reshape(b, c, -1), shown[:, None], 2)
    moves = turned[:, MOVES]
    bits = moves & 0xF0
    for d in range(D):
        old = directions[g, d].astype(np.uint8)[:, None]
        bits |= ((moves >> old) & 1) << d
    turned[:, MOVES] = bits

    # Plane by plane, the old plane that is shown in each new one.
    old_plane = np.tile(np.arange(len(ACTION_PLANES)), (b, 1))
    for first in (0, D):
        old_plane[:, first : first + D] = first + directions[g]
    spatial = legal[:, : old_plane.shape[1] * side * side].reshape(b, -1, side * side)
    spatial = np.take_along_axis(spatial, old_plane[:, :, None], 1)
    spatial = np.take_along_axis(spatial, shown[:, None], 2).reshape(b, -1)
    rest = legal[:, spatial.shape[1] :]

    flat = actions.astype(np.int64)
    here = flat < spatial.shape[1]
    plane, cell = np.where(here, flat, 0) // side**2, np.where(here, flat, 0) % side**2
    new_plane = np.take_along_axis(np.argsort(old_plane, 1), plane[:, None], 1)[:, 0]
    moved = new_plane * side**2 + places[g, cell]

    flipped = scalars.copy()
    swap = (g & TRANSPOSING) > 0
    flipped[swap, HEIGHT], flipped[swap, WIDTH] = scalars[swap, WIDTH], scalars[swap, HEIGHT]
    return (
        turned.reshape(codes.shape),
        flipped,
        np.concatenate([spatial, rest], 1),
        np.where(here, moved, flat).astype(np.int32),
    )
