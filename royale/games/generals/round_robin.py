"""Scripted players against each other: `python -m royale.games.generals.round_robin`.

Every pair plays the same boards from both seats. Printed is the score of the
row's player, wins and half the draws, in percent.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from royale.games.generals import GAME
from royale.games.generals.settings import COMPETITION, SMALL
from royale.games.protocol import View
from royale.rng import fold


def play(names: tuple[str, str], n: int, settings: Mapping[str, Any], seed: int = 0) -> np.ndarray:
    """Winners (N,) int8 of n games between two players, seat by seat as named."""
    game = GAME.make(n, settings, "base")
    spec = game.spec
    seeds = fold(seed, np.arange(n))
    game.reset(np.arange(n), seeds)
    players = [GAME.scripted_player(name, spec) for name in names]
    codes = np.empty((n, 2, spec.code_bytes, spec.height, spec.width), np.uint8)
    scalars = np.empty((n, 2, len(spec.scalars)), np.float32)
    legal = np.empty((n, 2, spec.n_actions), np.uint8)
    actions = np.empty((n, 2), np.int32)
    for turn in range(spec.max_turns):
        game.observe(codes, scalars, legal)
        for seat, player in enumerate(players):
            seen = (np.ascontiguousarray(a[:, seat]) for a in (codes, scalars, legal))
            keys = fold(seeds, turn, seat)
            actions[:, seat] = player.act(View(*seen, game.turns.copy(), keys))
        result = game.step(actions)
        if result.done.all():
            break
    return result.winner


def score(first: str, second: str, n: int, settings: Mapping[str, Any]) -> tuple[float, float]:
    """Score of `first` against `second`, and the share of drawn games."""
    one, two = play((first, second), n, settings), play((second, first), n, settings)
    wins = (one == 0).sum() + (two == 1).sum()
    draws = (one == -1).sum() + (two == -1).sum()
    return (wins + draws / 2) / (2 * n), draws / (2 * n)


def main(arguments: list[str]) -> None:
    """Print the table; the argument `competition` plays on large boards."""
    large = arguments == ["competition"]
    settings, n = (COMPETITION, 16) if large else (SMALL, 100)
    names = GAME.scripted
    width = max(map(len, names)) + 1
    print("score in percent (drawn games in percent)")
    print(" " * width + "".join(f"{name:>{width}}" for name in names))
    for first in names:
        cells = []
        for second in names:
            if first == second:
                cells.append("-")
                continue
            points, drawn = score(first, second, n, settings)
            cells.append(f"{100 * points:.0f} ({100 * drawn:.0f})")
        print(f"{first:<{width}}" + "".join(f"{cell:>{width}}" for cell in cells))


if __name__ == "__main__":
    main(sys.argv[1:])
