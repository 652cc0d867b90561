"""Exact tests on decisive games, many tests at once, and what a match size can show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.optimize import brentq
from scipy.stats import binom, binomtest

from royale.evidence.gate import Record


def p_better(record: Record) -> float:
    """Exact one-sided binomial p of "not the stronger one": the chance of as many wins or more.

    Decisive games only; 1 without one.
    """
    return (
        binomtest(record.win, record.decisive, alternative="greater").pvalue
        if record.decisive
        else 1.0
    )


def p_different(record: Record) -> float:
    """Exact two-sided binomial p of "equally strong"; decisive games only, 1 without one."""
    return binomtest(record.win, record.decisive).pvalue if record.decisive else 1.0


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p (1979): keeps the chance of any false claim among all of them.

    The i-th smallest of m is multiplied by m - i + 1; none is smaller than the one before it.
    """
    adjusted = [0.0] * len(p)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        least = max(least, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = least
    return adjusted


def wins_needed(decisive: int, bar: float) -> int:
    """The fewest wins among `decisive` games with W - L >= bar * sqrt(W + L); may exceed them."""
    wins = math.ceil((decisive + bar * math.sqrt(decisive)) / 2)
    # the gate itself decides about rounding
    while wins > 0 and 2 * (wins - 1) - decisive >= bar * math.sqrt(decisive):
        wins -= 1
    return wins


def power(share: float, decisive: int, bar: float) -> float:
    """Chance that a player who wins `share` of the decisive games clears the gate."""
    return float(binom.sf(wins_needed(decisive, bar) - 1, decisive, share)) if decisive else 0.0


def resolves(decisive: int, bar: float, chance: float = 0.8) -> float | None:
    """The smallest share of decisive games won that clears the gate with a chance (power).

    Exact, from the binomial distribution. None where no share does: too few games.
    """
    if not decisive or wins_needed(decisive, bar) > decisive:
        return None
    return float(brentq(lambda share: power(share, decisive, bar) - chance, 1e-9, 1 - 1e-12))
