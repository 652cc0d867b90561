"""Measuring real training: a short segment of the very code that trains."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from royale.files import read_rows
from royale.learn.plan import SegmentPlan
from royale.learn.segment import METRICS, run_segment

ITERATIONS = 8


def bench(
    plan: SegmentPlan, scratch: Path, report: Callable[[Mapping[str, Any], int], None]
) -> dict[str, Any]:
    """Train `ITERATIONS` iterations of a plan in a folder of its own, and sum up their rows.

    The first iteration is told apart, since it compiles and warms up; the others give
    medians, with the spread of their speed. `slowest` names the part of the loop that
    takes the most time.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    plan = replace(plan, steps=ITERATIONS * plan.steps_per_iteration)
    run_segment(plan, scratch / "out", scratch / "partial", report)
    rows = read_rows(scratch / "out" / METRICS)
    shutil.rmtree(scratch, ignore_errors=True)
    first, rest = rows[0], rows[1:]
    timing = {
        part: round(statistics.median(row["timing"][part] for row in rest), 6)
        for part in rest[0]["timing"]
    }
    speeds = [row["steps_per_second"] for row in rest]
    speed = statistics.median(speeds)
    return {
        "iterations": len(rows),
        "steps_an_iteration": plan.steps_per_iteration,
        "first_iteration_seconds": round(first["seconds"], 4),
        "iteration_seconds": round(statistics.median(row["seconds"] for row in rest), 4),
        "steps_per_second": round(speed, 1),
        "steps_per_second_range": [round(min(speeds), 1), round(max(speeds), 1)],
        "timing": timing,
        "slowest": max(timing, key=timing.get),
    }
