"""Shared by the tests of the game clash: batches, and playing on with random actions."""

from __future__ import annotations

import numpy as np

from royale import games, rng
from royale.games.protocol import View

GAME = games.load("clash")
STARTER = ["Knight", "Archer", "Giant", "Minions", "Fireball", "Zap", "Cannon", "Musketeer"]
# Nothing but plays: battles begin when cards may be played, which land at once.
PROMPT = {"start_tick": 90, "command_delay_ticks": 0}


def batch(n, **settings):
    return GAME.make(n, settings, "base")


def dealt(n, seed=0, **settings):
    made = batch(n, **settings)
    made.reset(np.arange(n), rng.fold(seed, np.arange(n)))
    return made


def buffers(made):
    spec, n = made.spec, made.n_games
    return (
        np.zeros((n, 2, *spec.code_shape), np.uint8),
        np.zeros((n, 2, len(spec.scalars)), np.float32),
        np.zeros((n, 2, spec.n_actions), np.uint8),
    )


def look(made):
    out = buffers(made)
    made.observe(*out)
    return out


def uniform_actions(legal, key, share=0.3):
    """A legal action of each row (N, 2), a pass in 1 - share of the rows."""
    actions = np.full(legal.shape[:2], legal.shape[2] - 4, np.int32)
    draw = np.random.default_rng(key)
    for index in np.ndindex(*actions.shape):
        if draw.random() < share:
            actions[index] = draw.choice(np.flatnonzero(legal[index]))
    return actions


def choose(name, made, seen, turn, seed=5):
    """What a scripted player chooses for both seats, (N, 2)."""
    n = made.n_games
    player = GAME.scripted_player(name, made.spec)
    rows = [a.reshape(2 * n, *a.shape[2:]) for a in seen]
    keys = rng.fold(seed, np.arange(2 * n), turn)
    return player.act(View(*rows, np.repeat(made.turns, 2), keys)).reshape(n, 2)


def scalar(made, name):
    return made.spec.scalars.index(name)
