"""Scripted players. They see what a learner sees, mostly only what is legal, and keep nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from royale import rng
from royale.games.clash.engine import cards
from royale.games.clash.layout import HAND, HEIGHT, OWN, PASS, SLOTS, TILES, WIDTH
from royale.games.protocol import View

PASS_SHARE = 0.9  # of the random player's decisions
READY = 3  # playable slots that the patient player waits for
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

    slots (R, slots): rank of each slot, -inf never; worth (tiles,).
    """
    tiles = _slots(view)
    ranks = np.where(tiles.any(2), slots, -np.inf)
    slot = ranks.argmax(1)
    rows = np.arange(len(slot))
    tile = np.where(tiles[rows, slot], worth, -np.inf).argmax(1)
    playable = ranks[rows, slot] > -np.inf
    return np.where(playable, slot * TILES + tile, PASS).astype(np.int32)


def _lowest(view: View) -> np.ndarray:
    """Ranks that prefer the lowest slot."""
    return np.broadcast_to(-np.arange(SLOTS, dtype=float), (len(view.legal), SLOTS))


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
    costs = np.array([0, *(card.elixir for card in cards())], float)
    return _play(view, -costs[view.codes[:, OWN, HAND : HAND + SLOTS]], FORWARD)


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


CHOICES: dict[str, Callable[[View], np.ndarray]] = {
    choice.__name__: choice
    for choice in (random, noop, first_affordable, cycle, defend, push, patient)
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
