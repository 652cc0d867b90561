"""Does the learner learn: how a root does against players that do not, as it trains.

The bars are shares of decisive games won, after the root's last segment. Draws do not
count for them and stand beside them, since a network that draws all is not a strong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from royale.evidence.gate import Record, record_of
from royale.evidence.records import BarRecord, CurvePoint, RivalPoint, WatchFile, WatchRecord

# Scripted player -> share of decisive games that a trained root wins more than.
BARS = {"random": 0.95, "expander": 0.6}


def point(records: Sequence[WatchRecord]) -> RivalPoint:
    """Games of several records of `watch` together: counts and shares.

    `won_of_decisive` is null where no game was decided.
    """
    record = sum(map(record_of, records), Record(0, 0, 0))
    return {
        **vars(record),
        "decided_share": record.decisive / record.games,
        "win_share": record.win / record.games,
        "won_of_decisive": record.win / record.decisive if record.decisive else None,
    }


def curve(
    watches: Sequence[WatchFile], seconds: Mapping[tuple[int, int], float]
) -> list[CurvePoint]:
    """One point a segment, all seeds together, in the order of training.

    watches: watch files of one root. seconds: (seed, segment) -> training time up to its
    end; the point has their mean.
    """
    points = []
    for segment in sorted({watch["segment"] for watch in watches}):
        own = [watch for watch in watches if watch["segment"] == segment]
        spent = [seconds[watch["seed"], segment] for watch in own]
        rivals = [name for name in BARS if name in own[0]["rivals"]]
        points.append(
            {
                "segment": segment,
                "agent_steps": own[0]["agent_steps"],
                "seconds": round(sum(spent) / len(spent), 1),
                "rivals": {name: point([w["rivals"][name] for w in own]) for name in rivals},
            }
        )
    return points


def verdict(points: Sequence[CurvePoint]) -> dict[str, BarRecord]:
    """rival -> its bar, the share that the last point reached, and whether that is above it."""
    last = points[-1]["rivals"]
    return {
        name: {
            "bar": BARS[name],
            "reached": found["won_of_decisive"],
            "met": found["won_of_decisive"] is not None and found["won_of_decisive"] > BARS[name],
        }
        for name, found in last.items()
    }
