"""What the metrics files of segments say of training: steps, seconds, iterations that lagged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from royale.files import read_rows


def steps_of_rows(rows: Sequence[Mapping[str, Any]]) -> int:
    """Agent steps an iteration, from rows of metrics.

    `agent_steps` counts over all segments of the arm, in equal iterations.
    """
    return round(rows[-1]["agent_steps"] / rows[-1]["iteration"])


def trained(metrics: str | Path) -> tuple[int, float]:
    """Agent steps and seconds of one segment's iterations, from its metrics file."""
    rows = read_rows(metrics)
    return steps_of_rows(rows) * len(rows), sum(row["seconds"] for row in rows)


def slow_rows(metrics: Iterable[str | Path]) -> tuple[int, int]:
    """How many iterations of some segments were far slower than the bench, and of how many."""
    rows = [row for path in metrics for row in read_rows(path)]
    return sum("slower_than_bench" in row.get("alarms", ()) for row in rows), len(rows)


def by_arm(metrics: Iterable[str]) -> dict[str, list[str]]:
    """Metrics files `train/{generation}/{arm}/seed{seed}/segment{segment}/metrics.jsonl` by arm."""
    arms: dict[str, list[str]] = {}
    for path in metrics:
        arms.setdefault(Path(path).parts[-4], []).append(path)
    return arms
