"""Scripted players. They see what a learner sees, and keep nothing between turns."""

from __future__ import annotations

import numpy as np
from numba import njit

from royale.games.protocol import GameSpec, View
from royale.rng import mix, unit

PASS_SHARE = 0.05


@njit(cache=True)
def _uniform(legal, keys, chosen):
    """A legal action of each row, uniformly; a pass in PASS_SHARE of the rows."""
    last = legal.shape[1] - 1
    for r in range(legal.shape[0]):
        row = legal[r]
        count = 0
        for a in range(last):
            count += row[a]
        chosen[r] = last
        if count == 0 or unit(mix(keys[r])) < PASS_SHARE:
            continue
        left = min(int(unit(mix(keys[r] ^ np.uint64(1))) * count), count - 1)
        for a in range(last):
            if row[a]:
                if left == 0:
                    chosen[r] = a
                    break
                left -= 1


class RandomPlayer:
    """Uniform over the legal actions, a build counting as one action; 5 % passes."""

    def act(self, view: View) -> np.ndarray:
        """Flat actions (R,) int32."""
        chosen = np.empty(len(view.keys), np.int32)
        _uniform(view.legal, view.keys, chosen)
        return chosen


def make(name: str, spec: GameSpec) -> RandomPlayer:
    """The scripted player of that name."""
    if name == "random":
        return RandomPlayer()
    raise ValueError(f"no scripted player {name!r}")
