"""Other settings of the same training on this machine, each measured several times in turn."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from royale.bench.measure import iterate
from royale.games import load
from royale.learn.plan import SegmentPlan
from royale.learn.segment import settle
from royale.learn.trainer import Trainer
from royale.preflight.machine import usable_cores

REPEATS = 3


def candidates(plan: SegmentPlan) -> dict[str, SegmentPlan]:
    """The plan itself and its neighbours, one setting changed at a time, by name.

    Games at once change with the horizon, so an iteration stays as long; the minibatch
    changes what is learned, the others only how fast.
    """
    cores = usable_cores()
    out = {"as configured": plan}
    for factor in (0.25, 0.5, 2, 4):
        envs, horizon = plan.envs * factor, plan.horizon / factor
        if envs >= 1 and horizon >= 1 and envs == int(envs) and horizon == int(horizon):
            name = f"envs {int(envs)}, horizon {int(horizon)}"
            out[name] = replace(plan, envs=int(envs), horizon=int(horizon))
    for factor in (0.5, 2):
        size = int(plan.recipe["minibatch"] * factor)
        if size >= 1:
            recipe = {**plan.recipe, "minibatch": size}
            out[f"minibatch {size}"] = replace(plan, recipe=recipe)
    if plan.determinism != "run_exact":
        for threads in sorted({1, max(1, cores // 2), cores} - {plan.threads}):
            out[f"threads {threads}"] = replace(plan, threads=threads)
    if "workers" in getattr(load(plan.game), "speed_settings", ()):
        have = plan.settings.get("workers", 0)
        for workers in sorted({0, 1, cores, 2 * cores} - {have}):
            if workers <= plan.envs:
                settings = {**plan.settings, "workers": workers}
                out[f"workers {workers}"] = replace(plan, settings=settings)
    return out


def sweep(
    plan: SegmentPlan,
    report: Callable[[int, int], None] = lambda done, total: None,
    iterations: int = 3,
    seconds: float = 0.0,
    repeats: int = REPEATS,
) -> dict[str, Any]:
    """Agent steps a second of each candidate: the median over repeats, and their range.

    The candidates take turns, so a machine that grows busy is unjust to none. `best` is
    faster than what is configured only if its slowest repeat beats the other's fastest.
    """
    plans = candidates(plan)
    speeds: dict[str, list[float]] = {name: [] for name in plans}
    total = len(plans) * repeats
    for repeat in range(repeats):
        for number, (name, candidate) in enumerate(plans.items()):
            settle(candidate)
            trainer = Trainer(candidate)
            rest = iterate(trainer, iterations, seconds, lambda done, spent: None)[1:]
            rates = [candidate.steps_per_iteration / measured.seconds for measured in rest]
            speeds[name].append(statistics.median(rates))
            close = getattr(trainer.actors.batch, "close", None)
            if close is not None:
                close()
            report(repeat * len(plans) + number + 1, total)
    settle(plan)
    rows = [
        {
            "setting": name,
            "steps_per_second": round(statistics.median(found), 1),
            "range": [round(min(found), 1), round(max(found), 1)],
            "changes_results": name.startswith(("minibatch", "envs")),
        }
        for name, found in speeds.items()
    ]
    best = max(rows, key=lambda row: row["steps_per_second"])
    return {"repeats": repeats, "rows": rows, "best": best["setting"], "verdict": verdict(rows)}


def verdict(rows: list[dict[str, Any]]) -> str:
    """In words: what is best here, and whether the repeats' spread leaves that open."""
    base, best = rows[0], max(rows, key=lambda row: row["steps_per_second"])
    if best is base:
        return "nothing tried is faster than what is configured"
    gain = best["steps_per_second"] / base["steps_per_second"]
    if best["range"][0] <= base["range"][1]:
        return f"{best['setting']}: {gain:.2f} times as fast, which the spread leaves open"
    return f"{best['setting']}: {gain:.2f} times as fast, in every repeat"
