"""What everybody could see of each side's plays, and what follows from it.

A play becomes public when it lands. From these alone the other side's elixir is counted: it
starts at a known amount, grows at a known rate, and each card costs what it costs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from royale.games.clash.compiled import kernel
from royale.games.clash.engine import cards, ids
from royale.games.clash.layout import DECK, TICK

START, FULL = 6000.0, 10000.0  # thousandths of elixir
# Milliseconds for a full bar, by the rate that a state tells (1, 2, 3 times).
REFILL_MS = np.array([28000.0, 28000.0, 14000.0, 9300.0])
LONG_AGO = 255


@kernel
def _grow(estimate, ticks, head, rates, refill):
    """Bring the estimates (N, 2) to the tick of each battle's state."""
    for g in range(head.shape[0]):
        gain = FULL * 50.0 / refill[rates[g]]
        for team in range(2):
            passed = head[g, TICK] - ticks[g, team]
            estimate[g, team] = min(FULL, estimate[g, team] + gain * passed)
            ticks[g, team] = head[g, TICK]


class Public:
    """Of N battles and both teams: estimate (N, 2) float64, thousandths of elixir; seen and
    since (N, 2, 8) int32, the cards in the order first seen (-1 none) and the team's plays
    behind the last play of each (255 never); plays (N, 2) int32.
    """

    STATE = ("estimate", "ticks", "seen", "since", "plays", "last")

    def __init__(self, n: int) -> None:
        self.estimate = np.zeros((n, 2))
        self.ticks = np.zeros((n, 2), np.int32)
        self.seen = np.full((n, 2, DECK), -1, np.int32)
        self.since = np.full((n, 2, DECK), LONG_AGO, np.int32)
        self.plays = np.zeros((n, 2), np.int32)
        self.last = np.full((n, 2), -1, np.int32)  # the card that a Mirror would copy
        self._mirror = ids()["Mirror"]

    def begin(self, game: int, tick: int) -> None:
        """Forget, as a battle begins at `tick`."""
        self.estimate[game], self.ticks[game] = START, tick
        self.seen[game], self.last[game] = -1, -1
        self.since[game], self.plays[game] = LONG_AGO, 0

    def play(self, game: int, team: int, card: int, tick: int, rate: int) -> None:
        """A card has landed at `tick`, when elixir came at `rate`."""
        cost = cards()[card].elixir
        if card == self._mirror:
            copied = int(self.last[game, team])
            cost += cards()[copied].elixir if copied >= 0 else 0
        else:
            self.last[game, team] = card
        self.pay(game, team, cost, tick, rate)
        self.plays[game, team] += 1
        seen, since = self.seen[game, team], self.since[game, team]
        since[(seen >= 0) & (since < LONG_AGO - 1)] += 1
        slots: Sequence[int] = np.flatnonzero((seen == card) | (seen < 0))
        if len(slots):  # else more kinds of cards than a deck has: a card changed its form
            seen[slots[0]], since[slots[0]] = card, 0

    def pay(self, game: int, team: int, cost: int, tick: int, rate: int) -> None:
        """Take the price of a card or an ability off the estimate."""
        passed = tick - int(self.ticks[game, team])
        grown = self.estimate[game, team] + FULL * 50.0 / REFILL_MS[rate] * passed
        self.estimate[game, team] = max(0.0, min(FULL, grown) - 1000.0 * cost)
        self.ticks[game, team] = tick

    def grow(self, head: np.ndarray, rates: np.ndarray) -> None:
        """Bring every estimate to the tick of the state `head` (N, 8).

        rates (N,) int32: of the state before. The rate changes at a decision, if the battle
        began at a multiple of ten ticks.
        """
        _grow(self.estimate, self.ticks, head, rates, REFILL_MS)
