"""From logits to one legal order."""

from __future__ import annotations

import numpy as np

from royale.bot import wire
from royale.bot.layout import MOVE_PLANES, SIGHT
from royale.bot.memory import Observation

BUILD_PLANE = 2 * MOVE_PLANES


def greedy(logits: np.ndarray, legal: np.ndarray) -> int:
    """The legal action of greatest logit; ties go to the lowest index."""
    return int(np.argmax(np.where(legal, logits, -np.inf)))


def sample(logits: np.ndarray, legal: np.ndarray, uniform: float) -> int:
    """A legal action at temperature 1, from a uniform number in [0, 1)."""
    actions = np.flatnonzero(legal)
    chosen = logits[actions].astype(np.float64)
    cumulative = np.cumsum(np.exp(chosen - chosen.max()))
    place = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
    return int(actions[min(place, len(actions) - 1)])


def cheap(seen: Observation) -> int:
    """A legal move without the network: the largest army that can leave its land, else a pass."""
    side = seen.codes.shape[1]
    foreign = np.pad((seen.codes[SIGHT] & 4) == 0, 1)
    score = np.empty((MOVE_PLANES, side, side), np.int64)
    for k, (row, column) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
        target = foreign[1 + row : 1 + row + side, 1 + column : 1 + column + side]
        score[k] = seen.army * target
    score = score.ravel() * seen.legal[: score.size]
    best = int(np.argmax(score))
    return best if score[best] > 0 else seen.legal.size - 1


def to_order(action: int, side: int) -> tuple[int, int, int, int, int]:
    """Flat action -> (kind, row, column, direction, split) (spec section 11)."""
    plane, cell = divmod(action, side * side)
    row, column = divmod(cell, side)
    if plane > BUILD_PLANE:
        return wire.PASS_ORDER
    if plane == BUILD_PLANE:
        return (wire.BUILD, row, column, 0, 0)
    return (wire.MOVE, row, column, plane % MOVE_PLANES, plane // MOVE_PLANES)
