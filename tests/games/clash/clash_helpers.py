"""Shared by the tests of the game clash: batches, and playing on with random actions."""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from royale import games, rng
from royale.games.clash import encode, engine
from royale.games.clash.public import Public
from royale.games.clash.scan import Scanned
from royale.games.protocol import View

GAME = games.load("clash")
STARTER = ["Knight", "Archer", "Giant", "Minions", "Fireball", "Zap", "Cannon", "Musketeer"]
POOL = [card.name for card in engine.cards()]  # every card there is
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


def encoded(states, frames=None, public=None):
    """codes and scalars of states given as JSON objects."""
    n = len(states)
    read, public = Scanned(n), public or Public(n)
    texts = [json.dumps(state, separators=(",", ":")).encode() for state in states]
    read.read(texts, np.arange(n))
    spec = GAME.spec({}, "base")
    codes = np.zeros((n, 2, *spec.code_shape), np.uint8)
    scalars = np.zeros((n, 2, len(spec.scalars)), np.float32)
    frames = np.zeros((n, 2), np.int8) if frames is None else frames
    encode.encode(
        read.head,
        read.players,
        read.entities,
        read.spells,
        read.counts,
        public.estimate,
        public.seen,
        public.since,
        public.plays,
        frames,
        codes,
        scalars,
    )
    return codes, scalars


@cache
def played_states():
    """States of battles with all cards, as JSON objects; to be read, not changed."""
    made = dealt(4, 1, pool=POOL, start_tick=90)
    out = []
    for turn in range(260):
        made.step(uniform_actions(look(made)[2], turn, 0.8))
        if turn % 4 == 0:
            out += [json.loads(battle.state_json()) for battle in made.battles.engines]
    return out


@cache
def start():
    return json.dumps(engine.started(engine.battle()))


def board(**changes):
    """A state with an own knight of Blue's, and changes of its row by column name."""
    state = json.loads(start())
    row = [99, 0, 0, 0, -1, 67500, 171000, 883, 1766, 9000, False, 0, 0, 0, None, -1, 0, [0, 256]]
    row += [0, [], 0, 11, -1, 0, -1, -1, 0, engine.unit_types().index("Knight")]
    for name, value in changes.items():
        row[engine.EXPECTED["ENTITY_FIELDS"].index(name)] = value
    state["entities"].append(row)
    return state
