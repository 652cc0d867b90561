"""Sequential matches: play pairs until one of two hypotheses is accepted, then stop.

A generalised sequential probability ratio test of "the first player is elo0 stronger"
against "elo1", on the mean score of pairs of games on one map from both seats. Its log
likelihood ratio in the normal approximation is, after N pairs of mean score m and
variance v, with s0 and s1 the scores of the two Elo,

    LLR = N * (s1 - s0) * (2 * m - s0 - s1) / (2 * v)

(Van den Bergh 2020, "A practical introduction to the GSPRT", whose pentanomial model of
pairs the Stockfish testing framework uses.) It stops at Wald's bounds (1945): elo1 is
accepted at LLR >= log((1 - beta) / alpha), elo0 at LLR <= log(beta / (1 - alpha)).

Half a lost and half a won pair are added to the counts, as for every Elo here, so that
the variance is never 0. A match that reaches its most games first is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from royale.evidence import elo, match
from royale.evidence.records import GameRecord, SequentialTest, TestVerdict
from royale.games.protocol import Player, StatefulPlayer

BETTER: Final = "better"
NOT_BETTER: Final = "not_better"
UNDECIDED: Final = "undecided"


@dataclass(frozen=True)
class Sprt:
    """The test, declared before the match: Elo with a draw half a win, error rates, look size."""

    elo0: float
    elo1: float
    alpha: float  # rate of accepting elo1 where elo0 is true
    beta: float  # rate of accepting elo0 where elo1 is true
    batch: int  # games between two looks, even

    @property
    def lower(self) -> float:
        """LLR at which elo0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """LLR at which elo1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int] | np.ndarray) -> np.ndarray:
        """Log likelihood ratio of pentanomial counts (..., 5), the lost pairs first."""
        counts = np.asarray(counts, float) + np.array([0.5, 0, 0, 0, 0.5])
        scores = np.linspace(0, 1, 5)
        n = counts.sum(-1)
        mean = counts @ scores / n
        variance = counts @ scores**2 / n - mean**2
        low, high = elo.score_of_elo(self.elo0), elo.score_of_elo(self.elo1)
        return n * (high - low) * (2 * mean - low - high) / (2 * variance)

    def verdict(self, llr: float) -> TestVerdict:
        """`better`, `not_better`, or `undecided`: play on."""
        if llr >= self.upper:
            return BETTER
        return NOT_BETTER if llr <= self.lower else UNDECIDED


def play(
    game: str,
    settings: Mapping[str, Any],
    players: Sequence[Player | StatefulPlayer],
    n_games: int,
    key: int,
    sprt: Sprt,
    report: Callable[[int, float], None] = lambda played, llr: None,
) -> tuple[list[GameRecord], SequentialTest]:
    """Play in batches until a hypothesis is accepted, at most `n_games` (even).

    Returns the records of the games, which are the first ones of the same match played
    whole (see `match.play`), and what the test says.
    `report(games played, llr)` is called after each batch.
    """
    played: list[GameRecord] = []
    llr = 0.0
    verdict: TestVerdict = UNDECIDED
    while verdict == UNDECIDED and len(played) < n_games:
        batch = min(sprt.batch, n_games - len(played))
        played += match.play(game, settings, players, batch, key, first=len(played))
        llr = float(sprt.llr(elo.pair_counts(played)))
        verdict = sprt.verdict(llr)
        report(len(played), llr)
    return played, {
        **vars(sprt),
        "lower": sprt.lower,
        "upper": sprt.upper,
        "llr": llr,
        "verdict": verdict,
        "games_most": n_games,
        "games_saved": n_games - len(played),
    }
