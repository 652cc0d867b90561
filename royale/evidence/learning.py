"""Does the learner learn: how a root does against players that do not, as it trains.

The bars are shares of decisive games won, after the root's last segment. Draws do not
count for them and stand beside them, since a network that draws all is not a strong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Scripted player -> share of decisive games that a trained root wins more than.
BARS = {"random": 0.95, "expander": 0.6}


def point(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Games of several records of `watch` together: counts and shares.

    `won_of_decisive` is null where no game was decided.
    """
    counts = {key: sum(record[key] for record in records) for key in ("win", "loss", "draw")}
    decisive, games = counts["win"] + counts["loss"], sum(counts.values())
    return counts | {
        "decided_share": decisive / games,
        "win_share": counts["win"] / games,
        "won_of_decisive": counts["win"] / decisive if decisive else None,
    }


def curve(
    watches: Sequence[Mapping[str, Any]], seconds: Mapping[tuple[int, int], float]
) -> list[dict[str, Any]]:
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


def verdict(points: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
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
