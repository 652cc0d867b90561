"""Codes to planes in numpy: the same numbers that the network was trained on.

The names and their order are the learner's; the bundle carries the list of its
champion, and `check_names` refuses one that this file does not write.
"""

from __future__ import annotations

import numpy as np

from royale.bot.layout import (
    AGE,
    ARMY_HIGH,
    ARMY_LOW,
    CHANGE,
    LAST_HIGH,
    LAST_LOW,
    MEMORY,
    MOVES,
    PRICE,
    SIGHT,
    UNITS,
)

BASE = [
    "inside",
    "visible",
    "own",
    "opponent",
    "mountain",
    "castle",
    "general",
    "structure_in_fog",
    "own_castle",
    "opponent_castle",
    "own_general",
    "opponent_general",
    "neutral",
    "fog",
    "can_move",
    "can_build",
    "own_army",
    "opponent_army",
    "own_army_linear",
    "opponent_army_linear",
    "price",
    "own_land",
    "opponent_land",
    "own_total",
    "opponent_total",
    "time",
    "phase_2",
    "phase_50",
    "deathtouch",
    "deathtouch_in",
    "castles",
]
HISTORY = [
    "known_mountain",
    "castle_in_fog",
    "hideout",
    "general_known",
    "seen",
    "last_opponent",
    "last_own",
    "gained",
    "lost",
    "source",
    "target",
    "last_army",
    "age",
    "change",
]
ENCODERS = {"base": BASE, "history": [*BASE, *HISTORY]}
N_SCALARS = 10  # the first scalars are planes; the others are not


def check_names(encoder: str, names: list[str]) -> None:
    """ValueError unless `expand` writes exactly these planes."""
    if ENCODERS.get(encoder) != names:
        raise ValueError(f"planes of encoder {encoder!r} are not those this bot writes")


def _army(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low.astype(np.float32) + high.astype(np.float32) * np.float32(256)


def expand(codes: np.ndarray, scalars: np.ndarray, encoder: str) -> np.ndarray:
    """codes (C, H, W) uint8, scalars (S,) float32 -> planes (P, H, W) float32."""
    out = np.empty((len(ENCODERS[encoder]), *codes.shape[1:]), np.float32)
    shifts = np.arange(8, dtype=np.uint8)[:, None, None]
    out[:8] = (codes[SIGHT] >> shifts) & 1
    out[8:16] = (codes[UNITS] >> shifts) & 1
    army = _army(codes[ARMY_LOW], codes[ARMY_HIGH])
    own = out[2]
    log_army = np.log1p(army) / np.float32(5)
    linear = np.minimum(army, np.float32(50)) / np.float32(50)
    np.multiply(log_army, own, out=out[16])
    np.subtract(log_army, out[16], out=out[17])
    np.multiply(linear, own, out=out[18])
    np.subtract(linear, out[18], out=out[19])
    out[20] = codes[PRICE].astype(np.float32) / np.float32(50)
    out[21:31] = scalars[:N_SCALARS, None, None]
    if encoder == "history":
        out[31:35] = (codes[MOVES] >> shifts[4:]) & 1
        out[35:42] = (codes[MEMORY] >> shifts[:7]) & 1
        last = _army(codes[LAST_LOW], codes[LAST_HIGH])
        out[42] = np.log1p(last) / np.float32(5) * (1 - out[1])
        out[43] = codes[AGE].astype(np.float32) / np.float32(255)
        change = codes[CHANGE].astype(np.float32) - np.float32(128)
        out[44] = np.sign(change) * np.log1p(np.abs(change)) / np.float32(5)
    return out
