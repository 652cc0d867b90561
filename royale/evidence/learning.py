"""Does the learner learn: how a root does against players that do not, as it trains.

The bars are shares of decisive games won, after the root's last segment. Draws do not
count for them and stand beside them, since a network that draws all is not a strong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from royale.evidence.gate import Record, record_of
from royale.evidence.records import BarRecord, CurvePoint, RivalPoint, WatchFile, WatchRecord

# Scripted player -> share of decisive games that a trained root wins more than.
BARS = {"random": 0.95, "expander": 0.6}
COLOURS = ("#1f5fa8", "#c8553d", "#8a8a8a")


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


def plot(curves: Mapping[str, Sequence[Mapping[str, Any]]], path: str | Path, title: str) -> None:
    """Draw decisive games won, with the bars, and the shares of all games; a row a ladder."""
    figure, grid = pyplot.subplots(
        len(curves), 2, squeeze=False, figsize=(10, 3.6 * len(curves)), layout="constrained"
    )
    for panels, (ladder, points) in zip(grid, curves.items(), strict=True):
        at = [entry["agent_steps"] / 1e6 for entry in points]
        for colour, name in zip(COLOURS, points[0]["rivals"], strict=False):
            own = [entry["rivals"][name] for entry in points]
            won = [
                float("nan") if o["won_of_decisive"] is None else o["won_of_decisive"] for o in own
            ]
            panels[0].plot(at, won, "o-", color=colour, label=f"against {name}")
            panels[0].axhline(BARS[name], color=colour, lw=1, ls="--")
            panels[1].plot(at, [o["win_share"] for o in own], "o-", color=colour)
            panels[1].plot(at, [o["decided_share"] for o in own], "o:", mfc="none", color=colour)
        panels[0].set_ylabel("share of decisive games won")
        panels[1].set_ylabel("share of all: won (line), decided (dots)")
        panels[0].set_title(f"{title}: root of {ladder}", loc="left")
        panels[0].legend(fontsize=8, frameon=False, loc="lower right")
        for axes in panels:
            axes.set_ylim(-0.03, 1.03)
            axes.set_xlim(0, max(at) * 1.05)
            axes.grid(axis="y", lw=0.3)
            axes.set_xlabel("agent steps, million")
            time = axes.secondary_xaxis("top")
            time.set_xticks(at, [f"{entry['seconds']:.0f} s" for entry in points])
            time.tick_params(labelsize=7)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
