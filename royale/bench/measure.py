"""Real training iterations, measured in a folder of their own."""

from __future__ import annotations

import os
import shutil
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from royale.files import read_json
from royale.learn import checkpoint
from royale.learn.plan import SegmentPlan
from royale.learn.samples import Samples
from royale.learn.segment import settle
from royale.learn.trainer import Trainer
from royale.project.plans import segment_plan

ITERATIONS = 8
MB = 2**20
# What of a bench is kept of an arm.
ARM_KEYS = (
    "iterations",
    "steps_an_iteration",
    "first_iteration_seconds",
    "iteration_seconds",
    "steps_per_second",
    "steps_per_second_range",
    "timing",
    "slowest",
)
# The parts of an iteration's time by the resource that they wait for.
RESOURCES = {
    "engine": ("env",),
    "codec": ("codec",),
    "inference": ("inference", "sampling"),
    "update": ("gae", "update"),
    "checks": ("check",),
}
ADVICE = {
    "engine": "more workers or a faster core would help; a larger network is nearly free",
    "codec": "expanding observations to planes holds it up",
    "inference": "choosing actions holds it up: more games at once fill a batch better",
    "update": "the learner holds it up: fewer epochs, a smaller advantage_top, a larger minibatch "
    "or a faster device",
    "checks": "proving that updates repeat holds it up: determinism deterministic does not",
}


@dataclass
class Measured:
    """An iteration's row of metrics, and what of it was collecting."""

    row: Mapping[str, Any]
    collecting: Mapping[str, float]  # seconds of env, codec, inference, sampling
    expanded: int  # rows whose codes were expanded to planes

    @property
    def collection(self) -> float:
        """Seconds of collecting."""
        return sum(self.collecting.values())

    @property
    def update(self) -> float:
        """Seconds of the update, the codec's part of it included."""
        timing = self.row["timing"]
        return timing["gae"] + timing["update"] + timing["codec"] - self.collecting["codec"]

    @property
    def seconds(self) -> float:
        """Wall time without what only proves that the update repeats."""
        return self.row["seconds"] - self.row["timing"]["check"]


def root_plan(
    root: Mapping[str, Any], arm: str, threads: int, device: str, determinism: str
) -> SegmentPlan:
    """The plan of a root as `Project.roots` describes it, or of an arm described alike."""
    # what a schedule ends with is measured
    described = {**root, "recipe": {**root["recipe"], "schedule": []}}
    setting = {"threads": threads, "device": device, "determinism": determinism}
    return segment_plan(described, "bench", arm, **setting)


def measured_before(record: Path, ladder: str) -> Mapping[str, Any] | None:
    """What a bench file says of a ladder's root; None where there is no such file or ladder."""
    return read_json(record, "bench")["ladders"].get(ladder) if record.exists() else None


def iterate(
    trainer: Trainer, iterations: int, seconds: float, report: Callable[[int, float], None]
) -> list[Measured]:
    """At least so many iterations and so many seconds, looked at between iterations.

    The first one compiles and warms up. report(iterations done, seconds of them).
    """
    trainer.start()
    began, measured = time.perf_counter(), []
    while len(measured) < max(2, iterations) or time.perf_counter() - began < seconds:
        row = trainer.iterate()
        actors = trainer.actors
        measured.append(Measured(row, dict(actors.clock.seconds), actors.expanded))
        report(len(measured), time.perf_counter() - began)
    return measured


def bench(
    plan: SegmentPlan,
    scratch: Path,
    report: Callable[[int, float], None] = lambda done, seconds: None,
    seconds: float = 0.0,
    iterations: int = ITERATIONS,
) -> dict[str, Any]:
    """Train a plan's first iterations in scratch/ and sum them up; see the schema of `bench`.

    Medians and ranges are of all iterations but the first.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    settle(plan)
    if plan.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    trainer = Trainer(plan)
    measured = iterate(trainer, iterations, seconds, report)
    began = time.perf_counter()
    checkpoint.save(Path(scratch) / "checkpoint.safetensors", *trainer.state())
    saving = time.perf_counter() - began
    shutil.rmtree(scratch, ignore_errors=True)
    out = summary(trainer, measured)
    out["checkpoint_seconds"] = round(saving, 4)
    out["segment_minutes"] = round(plan.steps / out["steps_per_second"] / 60, 2)
    if plan.determinism == "run_exact":
        out["checks"] = check_costs(trainer, out["iteration_seconds"])
    return out


def median(values: Sequence[float], digits: int = 4) -> float:
    """The median, rounded."""
    return round(statistics.median(values), digits)


def spread(values: Sequence[float], digits: int = 4) -> list[float]:
    """The least and the greatest, rounded."""
    return [round(min(values), digits), round(max(values), digits)]


def summary(trainer: Trainer, measured: Sequence[Measured]) -> dict[str, Any]:
    """The numbers of the bench from its iterations."""
    plan, first, rest = trainer.plan, measured[0], measured[1:]
    steps = plan.steps_per_iteration
    speeds = [steps / m.seconds for m in rest]
    timing = {
        part: median([m.row["timing"][part] for m in rest], 6) for part in rest[0].row["timing"]
    }
    shares = resource_shares(rest)
    slowest = max(shares, key=shares.get)
    ratios = [m.row["ratio_max_abs_dev"] for m in rest if m.row["ratio_max_abs_dev"] is not None]
    spec, batch = trainer.spec, trainer.actors
    seen = steps * (batch.codes[0].nbytes + 4 * len(spec.scalars) + spec.n_actions)
    on_gpu = plan.device == "cuda"
    return {
        "iterations": len(measured),
        "steps_an_iteration": steps,
        "decisions_an_iteration": round(median([m.row["decisions"] for m in rest])),
        "bytes_a_sample": sample_bytes(trainer.rollout.samples),
        "first_iteration_seconds": round(first.row["seconds"], 4),
        "iteration_seconds": median([m.seconds for m in rest]),
        "iteration_seconds_range": spread([m.seconds for m in rest]),
        "collection_seconds": median([m.collection for m in rest]),
        "update_seconds": median([m.update for m in rest]),
        "steps_per_second": median(speeds, 1),
        "steps_per_second_range": spread(speeds, 1),
        "env_ms_per_game_step": median(
            [1e3 * m.collecting["env"] / (plan.envs * plan.horizon) for m in rest], 5
        ),
        "codec_us_per_row": median(
            [1e6 * m.row["timing"]["codec"] / rows_of(m, plan) for m in rest], 3
        ),
        "boundary_mb_per_second": median([seen / MB / m.collection for m in rest], 2),
        "inference_ms_per_round": median(
            [1e3 * m.collecting["inference"] / (plan.horizon + 1) for m in rest], 4
        ),
        "update_timesteps_per_second": median([steps / max(m.update, 1e-9) for m in rest], 1),
        "overlap_saved_seconds": median([m.row["overlap_saved"] for m in rest]),
        "rollout_capacity_ratio": median([m.update / m.collection for m in rest], 3),
        "vram_peak_mb": round(torch.cuda.max_memory_reserved() / MB, 1) if on_gpu else None,
        "ratio_max_abs_dev": max(ratios, default=None),
        "ratio_atol": trainer.updater.precision.tolerance,
        "timing": timing,
        "residual_share": median([m.row["timing"]["residual"] / m.row["seconds"] for m in rest], 5),
        "resource_shares": {name: round(share, 4) for name, share in shares.items()},
        "slowest": slowest,
        "verdict": f"{slowest} takes {shares[slowest]:.0%} of an iteration; {ADVICE[slowest]}",
        "load_average": round(os.getloadavg()[0], 2),
    }


def resource_shares(rest: Sequence[Measured]) -> dict[str, float]:
    """Share of the iterations' time that waits for each resource."""
    total = sum(m.row["seconds"] for m in rest)
    return {
        name: sum(m.row["timing"][part] for m in rest for part in parts) / total
        for name, parts in RESOURCES.items()
    }


def rows_of(measured: Measured, plan: SegmentPlan) -> int:
    """Rows whose codes were expanded in an iteration, collecting and updating."""
    return measured.expanded + measured.row["samples_trained"] * plan.recipe["epochs"]


def sample_bytes(samples: Samples) -> int:
    """Bytes that one stored sample takes."""
    return sum(getattr(samples, field.name)[:1].nbytes for field in fields(samples))


def check_costs(trainer: Trainer, plain: float, repeats: int = 3) -> dict[str, Any]:
    """What run_exact costs: the same iterations checked, and checked in filled memory."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    trainer.checks = lambda iteration: True
    for _ in range(repeats):
        for fill in seconds:
            trainer.twice.fill = fill
            seconds[fill].append(trainer.iterate()["seconds"])
    checked, filled = (statistics.median(seconds[fill]) for fill in (False, True))
    return {
        "checked_iteration": round(checked, 4),
        "filled_iteration": round(filled, 4),
        "cost": f"a checked iteration takes {filled / plain:.2f} times as long; one in 50 is one, "
        f"and the first 10 of an arm: {(filled / plain - 1) / 50:.1%} in the long run",
    }
