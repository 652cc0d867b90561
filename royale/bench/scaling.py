"""One training by 1, 2, ... processes on this machine: how much of each is used."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from royale.files import read_rows
from royale.learn.plan import SegmentPlan
from royale.learn.processes import starter
from royale.learn.segment import METRICS, run_segment


def counts(plan: SegmentPlan, most: int) -> list[int]:
    """1, 2, 4, ... and `most`, those that the plan's games can be shared by."""
    doubled = [1]
    while doubled[-1] * 2 < most:
        doubled.append(doubled[-1] * 2)
    return [n for n in dict.fromkeys([*doubled, most]) if plan.envs % n == 0]


def scaling(
    plan: SegmentPlan,
    most: int,
    scratch: Path,
    report: Callable[[str], None] = lambda text: None,
    iterations: int = 8,
) -> dict[str, Any]:
    """Train the plan's first iterations with each count of processes; see `summary`.

    The training is the same to the last sample (strong scaling), so the efficiency has the
    cost of shares that become small in it. Each process has the plan's threads and, on a
    GPU, a GPU of its own.
    """
    speeds: dict[int, list[float]] = {}
    for n in counts(plan, most):
        shutil.rmtree(scratch, ignore_errors=True)
        some = replace(plan, processes=n, steps=iterations * plan.steps_per_iteration)
        log = scratch / "log.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        run_segment(
            some,
            scratch / "out",
            scratch / "partial",
            say=report,
            start_processes=starter(f"bench {n} processes", log),
        )
        # the first iteration compiles and warms up
        speeds[n] = [row["steps_per_second"] for row in read_rows(scratch / "out" / METRICS)[1:]]
        report(f"{n} processes: {statistics.median(speeds[n]):,.0f} agent steps/s")
    shutil.rmtree(scratch, ignore_errors=True)
    return summary(speeds, plan.threads)


def summary(speeds: Mapping[int, Sequence[float]], threads: int) -> dict[str, Any]:
    """Rows of agent steps a second of all processes, and `efficiency` = R_n / (n * R_1)."""
    alone = statistics.median(speeds[1])
    rows = [
        {
            "processes": n,
            "steps_per_second": round(statistics.median(found), 1),
            "range": [round(min(found), 1), round(max(found), 1)],
            "efficiency": round(statistics.median(found) / (n * alone), 4),
        }
        for n, found in speeds.items()
    ]
    last = rows[-1]
    verdict = (
        f"{last['processes']} processes of {threads} threads do "
        f"{last['steps_per_second'] / rows[0]['steps_per_second']:.2f} times what one does: "
        f"scaling efficiency {last['efficiency']:.0%}"
    )
    return {"rows": rows, "verdict": verdict}
