"""Scripted players. They see what a learner sees, mostly only what is legal, and keep nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from royale import rng
from royale.games.clash.engine import cards
from royale.games.clash.layout import (
    COLUMN,
    EMPTY,
    ENEMY,
    HAND,
    HEIGHT,
    HP,
    KIND,
    OWN,
    PART,
    PASS,
    ROW,
    SCALARS,
    SLOTS,
    SPELL,
    THINGS,
    TILES,
    TROOP,
    WIDTH,
)
from royale.games.protocol import View

PASS_SHARE = 0.9  # of the random player's decisions
READY = 3  # playable slots that the patient player waits for
ELIXIR, FULL_ENOUGH = SCALARS.index("elixir"), 0.9
BLAST = 2.5  # tiles around its aim that a spell is taken to hit
ROWS, COLUMNS = np.divmod(np.arange(TILES), WIDTH)
# Worth of a tile; ties are broken by its number.
FIRST = -np.arange(TILES, dtype=float)
FORWARD = ROWS * WIDTH + COLUMNS + 0.0  # furthest forward, then rightmost
GUARD = -np.hypot(ROWS - (HEIGHT / 4 - 0.5), COLUMNS - (WIDTH / 2 - 0.5)) - np.arange(TILES) * 1e-6


def _slots(view: View) -> np.ndarray:
    """(R, slots, tiles) bool: where each slot may be played."""
    return view.legal[:, :PASS].reshape(-1, SLOTS, TILES) > 0


def _play(view: View, slots: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """The best tile of the slot of the highest rank; passes where nothing is legal.

    slots (R, slots): rank of each slot, -inf never; worth (tiles,), (R, tiles) or, where it
    depends on the slot, (R, slots, tiles).
    """
    tiles = _slots(view)
    ranks = np.where(tiles.any(2), slots, -np.inf)
    slot = ranks.argmax(1)
    if worth.ndim == 3:
        worth = worth[np.arange(len(slot)), slot]
    rows = np.arange(len(slot))
    tile = np.where(tiles[rows, slot], worth, -np.inf).argmax(1)
    playable = ranks[rows, slot] > -np.inf
    return np.where(playable, slot * TILES + tile, PASS).astype(np.int32)


def _lowest(view: View) -> np.ndarray:
    """Ranks that prefer the lowest slot."""
    return np.broadcast_to(-np.arange(SLOTS, dtype=float), (len(view.legal), SLOTS))


def _costs(view: View) -> np.ndarray:
    """(R, slots): elixir of the card in each slot."""
    costs = np.array([0, *(card.elixir for card in cards())], float)
    return costs[view.codes[:, OWN, HAND : HAND + SLOTS]]


def _place(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Where the things are, (R, things) each: tiles forward, tiles to the right."""
    things = view.codes[:, :THINGS].astype(int)
    part = things[..., PART]
    return things[..., ROW] + part // 16 / 16, things[..., COLUMN] + part % 16 / 16


def _distance(forward: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(..., tiles): from places to the middle of each tile, in tiles."""
    return np.hypot(forward[..., None] - ROWS - 0.5, right[..., None] - COLUMNS - 0.5)


def noop(view: View) -> np.ndarray:
    """Never does anything."""
    return np.full(len(view.legal), PASS, np.int32)


def random(view: View) -> np.ndarray:
    """A pass in nine decisions of ten, else any other legal action, each as likely."""
    others = view.legal.copy()
    others[:, PASS] = 0
    ranks = others.cumsum(1, dtype=np.int64)
    pick = (rng.uniform(rng.fold(view.keys, 1)) * ranks[:, -1]).astype(np.int64)
    chosen = (ranks <= pick[:, None]).sum(1)
    plays = (rng.uniform(rng.fold(view.keys, 2)) >= PASS_SHARE) & (ranks[:, -1] > 0)
    return np.where(plays, chosen, PASS).astype(np.int32)


def first_affordable(view: View) -> np.ndarray:
    """The lowest playable slot on its first legal tile, at once."""
    return _play(view, _lowest(view), FIRST)


def cycle(view: View) -> np.ndarray:
    """The cheapest playable card, as far forward as it may be put, at once."""
    return _play(view, -_costs(view), FORWARD)


def defend(view: View) -> np.ndarray:
    """The lowest playable slot, as near to the middle of the own half as it may be put."""
    return _play(view, _lowest(view), GUARD)


def push(view: View) -> np.ndarray:
    """The lowest playable slot, as far forward as it may be put, rightmost."""
    return _play(view, _lowest(view), FORWARD)


def patient(view: View) -> np.ndarray:
    """Waits until three slots are playable, then pushes."""
    ready = _slots(view).any(2).sum(1) >= READY
    return np.where(ready, push(view), PASS).astype(np.int32)


def counter(view: View) -> np.ndarray:
    """Defends, then counters: puts its cheapest card beside the enemy troop that is nearest to
    its own back line, if that has crossed the river; else beside its own troop that is furthest
    forward; else waits for a bar that is all but full, and pushes."""
    things, (forward, right) = view.codes[:, :THINGS], _place(view)
    troop, enemy = things[..., KIND] == TROOP, things[..., ENEMY] == 1
    threat = np.where(troop & enemy & (forward < HEIGHT / 2), forward, np.inf)
    ally = np.where(troop & ~enemy, forward, -np.inf)
    threatened, backed = np.isfinite(threat).any(1), np.isfinite(ally).any(1)
    who = np.where(threatened, threat.argmin(1), ally.argmax(1))
    rows = np.arange(len(who))
    beside = -_distance(forward[rows, who], right[rows, who])
    worth = np.where((threatened | backed)[:, None], beside, FORWARD)
    actions = _play(view, -_costs(view), worth)
    ready = threatened | backed | (view.scalars[:, ELIXIR] >= FULL_ENOUGH)
    return np.where(ready, actions, PASS).astype(np.int32)


def spells(view: View) -> np.ndarray:
    """Spells first, at once, where they hit most of the enemy: hitpoints of troops, else towers.
    Without one in its hand it plays the cheapest card, to come to the next."""
    things, (forward, right) = view.codes[:, :THINGS], _place(view)
    kind = things[..., KIND]
    enemy = (things[..., ENEMY] == 1) & (kind != SPELL)
    weight = np.where(kind == TROOP, 1.0 + things[..., HP], 0.01) * (enemy & (kind != EMPTY))
    crowd = (weight[..., None] * (_distance(forward, right) <= BLAST)).sum(1)
    spell = np.array([False, *(card.kind == "SPELL" for card in cards())])
    mine = spell[view.codes[:, OWN, HAND : HAND + SLOTS]]
    worth = np.where(mine[..., None], crowd[:, None], FORWARD)
    return _play(view, 100.0 * mine - _costs(view), worth)


CHOICES: dict[str, Callable[[View], np.ndarray]] = {
    choice.__name__: choice
    for choice in (random, noop, first_affordable, cycle, defend, push, patient, counter, spells)
}


class Scripted:
    """A player that chooses by one of `CHOICES`."""

    def __init__(self, choice: Callable[[View], np.ndarray]) -> None:
        self._choice = choice

    def act(self, view: View) -> np.ndarray:
        """Flat actions (R,) int32."""
        return self._choice(view)


def make(name: str) -> Scripted:
    """The scripted player of that name; ValueError names those there are."""
    if name not in CHOICES:
        raise ValueError(f"no scripted player {name!r}; there are {list(CHOICES)}")
    return Scripted(CHOICES[name])
