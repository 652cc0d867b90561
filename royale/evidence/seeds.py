"""The effect of a change with its 95% interval: what other seeds could have said.

With several seeds the seed is the unit of resampling (a clustered bootstrap): seeds are
drawn with replacement, each with all its games, and the Elo of the games together is
taken. Drawing pairs inside a drawn seed again would count the noise of the games twice
(Davison and Hinkley 1997, "Bootstrap methods and their application", section 3.8).

A bootstrap over k clusters has (k - 1) / k of the variance that it should have, and k
is small, so the interval is

    Elo +- t(k - 1, 97.5%) * sqrt(k / (k - 1)) * spread of the bootstrap

(t(2) is 4.3, where the normal's quantile is 1.96). Seeds that agree better than their
games allow do so by chance: the interval is never narrower than the one of the games
alone, which with one seed is all there is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student

from royale.evidence import elo, exact
from royale.evidence.gate import Record, label
from royale.evidence.ladder_records import EffectRecord, GateLabel, LineageEntry

RESAMPLES = 10_000


@dataclass(frozen=True)
class Effect:
    """How much stronger the first player is, in Elo with a 95% interval."""

    seeds: int
    unit: Literal["seeds", "games"]  # what was resampled: "seeds", or "games" with one seed
    score: float
    elo: float
    low: float
    high: float
    p: float  # one-sided, of "not the stronger one"


@functools.cache
def _draws(seeds: int) -> np.ndarray:
    """How often each seed was drawn, (RESAMPLES, seeds), the same every time."""
    drawn = np.random.default_rng(0).multinomial(seeds, [1 / seeds] * seeds, RESAMPLES)
    drawn.setflags(write=False)
    return drawn


def _elo(counts: np.ndarray) -> np.ndarray:
    """Elo of pentanomial counts (N, 5), half a unit added to both ends as in `elo.strength`."""
    points = counts @ np.arange(5) / 4 + 0.5
    lost = counts @ np.arange(4, -1, -1) / 4 + 0.5
    return elo.PER_LOGIT * np.log(points / lost)


def effect(record: Record, pairs: Sequence[Sequence[int]]) -> Effect:
    """The effect from the record of all seeds together and each seed's pentanomial counts.

    p is the larger of the exact binomial p of the games and, with several seeds, the
    p of the seeds' mean by Student's t.
    """
    counts, k = np.asarray(pairs), len(pairs)
    together = elo.strength(counts.sum(0))
    half = elo.Z95 * together.error
    p = exact.p_better(record)
    if k > 1:
        spread = math.sqrt(k / (k - 1)) * float(_elo(_draws(k) @ counts).std())
        half = max(half, float(student.ppf(0.975, k - 1)) * spread)
        if spread:
            p = max(p, float(student.sf(together.elo / spread, k - 1)))
    return Effect(
        seeds=k,
        unit="seeds" if k > 1 else "games",
        score=elo.score(record),
        elo=together.elo,
        low=together.elo - half,
        high=together.elo + half,
        p=p,
    )


def verdict(record: Record, found: Effect, bar: float, strong: float) -> tuple[GateLabel, str]:
    """What may be said of the change, and on what it rests: (label, note).

    The gate's label on all games, but with several seeds a tie where the interval over
    seeds holds "equally strong": the gate knows only the noise of games.
    """
    said = label(record, bar, strong)
    if found.seeds == 1:
        return said, "one seed"
    if said != "tie" and found.low <= 0 <= found.high:
        return "tie", f"{found.seeds} seeds disagree"
    return said, f"{found.seeds} seeds"


def summary(
    record: Record, pairs: Sequence[Sequence[int]], bar: float, strong: float
) -> EffectRecord:
    """The effect and its label, as they are written to files."""
    found = effect(record, pairs)
    said, note = verdict(record, found, bar, strong)
    return {
        "seeds": found.seeds,
        "unit": found.unit,
        "score": round(found.score, 6),
        "score_low": round(elo.score_of_elo(found.low), 6),
        "score_high": round(elo.score_of_elo(found.high), 6),
        "elo": round(found.elo, 2),
        "elo_low": round(found.low, 2),
        "elo_high": round(found.high, 2),
        "p": found.p,
        "evidence": said,
        "note": note,
    }


def adjust(lineage: Sequence[LineageEntry]) -> list[LineageEntry]:
    """The lineage with the Holm-adjusted p of each effect and how many were tried.

    A ladder that asks n questions finds an answer by chance more easily than one that
    asks a single one; the root asks none.
    """
    asked = [entry["effect"] for entry in lineage if entry["effect"]]
    adjusted = iter(exact.holm([found["p"] for found in asked]))
    return [
        {
            **entry,
            "effect": entry["effect"]
            and {**entry["effect"], "p_holm": next(adjusted), "tried": len(asked)},
        }
        for entry in lineage
    ]
