"""From counts to score and Elo, with a 95% interval that is finite at 0% and 100%.

    score = mean over games of 1 (win), 1/2 (draw), 0 (loss)
    Elo = 400 * log10(score / (1 - score))

To the counts are added half a lost and half a won unit, and the interval is the normal
one of log(score / (1 - score)), whose standard deviation by the delta method is
sqrt(variance / n) / (score * (1 - score)). Without draws that is the interval of Gart
(1966, "Alternative analyses of contingency tables"), which covers 95% as long as a few
games of either kind are to be expected; beyond, an interval only says "very far".

A unit is a game, or a pair of games on one map from both seats (the pentanomial counts),
which takes out what the map and its seats do to both games of the pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from royale.evidence.gate import Record
from royale.evidence.records import GameRecord

PER_LOGIT = 400 / math.log(10)  # Elo of one unit of log odds
Z95 = 1.959963984540054  # 97.5% quantile of the standard normal


@dataclass(frozen=True)
class Strength:
    """A player's strength over another, in Elo: the estimate and its standard error."""

    elo: float
    error: float

    def interval(self, quantile: float = Z95) -> tuple[float, float]:
        """(low, high) in Elo, `quantile` standard errors to each side."""
        return self.elo - quantile * self.error, self.elo + quantile * self.error


def elo_of_score(score: float) -> float:
    """Elo of an expected score strictly between 0 and 1."""
    return PER_LOGIT * math.log(score / (1 - score))


def score_of_elo(elo: float) -> float:
    """Expected score of a player that is `elo` stronger."""
    return 0.5 * (1 + math.tanh(elo / PER_LOGIT / 2))


def strength(counts: Sequence[int] | np.ndarray) -> Strength:
    """Strength from how many units scored 0, ..., 1 in equal steps, the lost ones first.

    Three counts are games (losses, draws, wins), five are pairs of games.
    """
    counts = np.asarray(counts, float)
    counts[[0, -1]] += 0.5
    scores = np.linspace(0, 1, len(counts))
    n = counts.sum()
    score = float(counts @ scores / n)
    variance = float(counts @ (scores - score) ** 2 / n)
    error = PER_LOGIT * math.sqrt(variance / n) / (score * (1 - score))
    return Strength(elo_of_score(score), error)


def of_record(record: Record) -> Strength:
    """Strength from won, lost and drawn games, each game for itself."""
    return strength([record.loss, record.draw, record.win])


def score(record: Record) -> float:
    """Mean score of the first player, a draw half a win; 1/2 without a game."""
    return (record.win + record.draw / 2) / record.games if record.games else 0.5


def pair_counts(games: Sequence[GameRecord]) -> list[int]:
    """The pentanomial counts of a match: how many pairs scored 0, 1/2, 1, 3/2 and 2 points.

    games: records as `match.play` returns them; 2p and 2p+1 are a pair.
    """
    points = [{0: 2, 1: 0, None: 1}[game["winner"]] for game in games]  # in half points
    counts = [0] * 5
    for first, second in zip(points[::2], points[1::2], strict=True):
        counts[first + second] += 1
    return counts
