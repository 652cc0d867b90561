"""Stored observations of the identity's frame, as another frame would have shown them."""

from __future__ import annotations

import numpy as np

from royale.games.clash.layout import (
    COLUMN,
    EMPTY,
    HEIGHT,
    KIND,
    MIRRORED_SCALARS,
    PART,
    PASS,
    PENDING,
    RIGHT,
    SCALARS,
    SLOTS,
    SPELL,
    THINGS,
    WIDTH,
)

PAIRS = [tuple(SCALARS.index(name) for name in pair) for pair in MIRRORED_SCALARS]


def transform(
    codes: np.ndarray,
    scalars: np.ndarray,
    legal: np.ndarray,
    actions: np.ndarray,
    elements: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """codes, scalars, legal and actions in the frames `elements`; see `protocol.Game`.

    Mirrored, things stand and walk on the other side, left and right towers are exchanged,
    and so are the tiles of the hand slots. Cards, slots and buttons stay.
    """
    mirrored = elements == 1
    codes, scalars, legal, actions = codes.copy(), scalars.copy(), legal.copy(), actions.copy()

    things = codes[mirrored, :THINGS]
    kind = things[..., KIND]
    sixteenths = 16 * things[..., COLUMN].astype(int) + things[..., PART] % 16
    sixteenths = np.where(kind == EMPTY, 0, 16 * WIDTH - sixteenths)
    things[..., COLUMN] = sixteenths // 16
    things[..., PART] = things[..., PART] // 16 * 16 + sixteenths % 16
    heads = (kind != EMPTY) & (kind != SPELL) & (kind != PENDING)
    things[..., RIGHT] = np.where(heads, 256 - things[..., RIGHT].astype(int), 0)
    codes[mirrored, :THINGS] = things

    for left, right in PAIRS:
        scalars[mirrored, left], scalars[mirrored, right] = (
            scalars[mirrored, right],
            scalars[mirrored, left],
        )
    tiles = legal[mirrored, :PASS].reshape(-1, SLOTS, HEIGHT, WIDTH)
    legal[mirrored, :PASS] = tiles[..., ::-1].reshape(-1, PASS)
    moved = mirrored & (actions < PASS)
    actions[moved] += WIDTH - 1 - 2 * (actions[moved] % WIDTH)
    return codes, scalars, legal, actions.astype(np.int32)
