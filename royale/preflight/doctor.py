"""Preflight: refuse, with the reason and the next legal value, before anything is paid for."""

from __future__ import annotations

import math
import os
import platform
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch

from royale import games
from royale.errors import ConfigError, RoyaleError
from royale.learn.audit import audit
from royale.learn.identity import IdentityError, asked_identity, assert_identity, live_identity
from royale.learn.network import build_network
from royale.learn.opponents import POOL
from royale.learn.plan import SegmentPlan
from royale.learn.precision import Precision
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer
from royale.preflight.geometry import choice_share, geometry

MB = 2**20
# Python, torch and numba with nothing loaded, measured as resident memory.
BASE_MB = 500
# Activations kept for a backward pass, as a multiple of one block's output a sample.
ACTIVATIONS_A_BLOCK = 5


@dataclass(frozen=True)
class Check:
    """One thing looked at: `ok`, `warning` or `refused`, and what was found."""

    name: str
    status: str
    found: str
    fix: str = ""

    def line(self) -> str:
        """As people read it."""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{self.status:8} {self.name:10} {self.found}{fix}"


def refusals(checks: Iterable[Check]) -> list[str]:
    """What was refused, each with its fix."""
    return [f"{c.name}: {c.found}; {c.fix}" for c in checks if c.status == "refused"]


def usable_cores() -> int:
    """Cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def machine(device: str, threads: int, folder: Path, processes: int = 1) -> list[Check]:
    """Look at the machine: Python, cores, the device asked for, disk, the results folder."""
    checks = [
        Check("python", "ok", platform.python_version()),
        Check("torch", "ok", torch.__version__),
    ]
    cores = usable_cores()
    few = threads > cores
    checks.append(
        Check(
            "cores",
            "warning" if few else "ok",
            f"{cores} cores, {threads} threads a segment",
            f"set threads.train to {cores}; more threads than cores only wait" if few else "",
        )
    )
    if device == "cuda" and not torch.cuda.is_available():
        checks.append(
            Check(
                "device",
                "refused",
                "cuda asked for, no GPU found",
                "set device: cpu in the profile, or use a machine with a GPU",
            )
        )
    elif device == "cuda" and torch.cuda.device_count() < processes:
        checks.append(
            Check(
                "device",
                "refused",
                f"{processes} processes asked for, {torch.cuda.device_count()} GPUs found",
                f"set processes: {torch.cuda.device_count()}; each needs a GPU of its own",
            )
        )
    else:
        found = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "cpu"
        checks.append(Check("device", "ok", f"{device} asked for, found {found}"))
    folder.mkdir(parents=True, exist_ok=True)
    writable = os.access(folder, os.W_OK)
    checks.append(
        Check(
            "results",
            "ok" if writable else "refused",
            str(folder),
            "" if writable else "make the folder writable",
        )
    )
    free = shutil.disk_usage(folder).free / MB
    low = free < 500
    checks.append(
        Check(
            "disk", "refused" if low else "ok", f"{free:,.0f} MB free", "free 500 MB" if low else ""
        )
    )
    return checks


def game_checks(
    game: str,
    settings: Mapping[str, Any],
    train: Mapping[str, Any],
    recipe: Recipe,
    budget_mb: float = math.inf,
    processes: int = 1,
) -> tuple[list[Check], dict]:
    """Look at one ladder's game, network and sizes; returns the checks and the geometry.

    budget_mb: the memory that a training segment asks of an executor; processes: that train
    it, each with workers of its own.
    """
    checks = []
    module = games.load(game)
    if recipe.encoder not in module.encoders:
        return [
            Check(
                "encoder",
                "refused",
                f"{recipe.encoder!r}",
                f"allowed: {', '.join(module.encoders)}",
            )
        ], {}
    spec = module.spec(settings, recipe.encoder)
    unknown = sorted(set(recipe.shaping) - set(spec.potentials))
    if unknown:
        checks.append(
            Check(
                "shaping",
                "refused",
                f"no potential {unknown[0]!r}",
                f"allowed: {', '.join(spec.potentials)}",
            )
        )
    numbers = geometry(module, train, recipe)
    kept = numbers["samples_trained_on"]
    if recipe.minibatch > kept:
        checks.append(
            Check(
                "minibatch",
                "refused",
                f"{recipe.minibatch} samples asked, an iteration trains on {kept}",
                f"the next legal minibatch is {kept}; or raise envs, horizon or advantage_top",
            )
        )
    else:
        checks.append(
            Check("minibatch", "ok", f"{recipe.minibatch} of {kept} samples an iteration")
        )
    network = build_network(spec, recipe, seed=0)
    parameters = sum(p.numel() for p in network.parameters())
    checks.append(Check("network", "ok", f"{parameters:,} parameters, {len(spec.planes)} planes"))
    checks.append(_memory(spec, train, recipe, parameters, budget_mb, processes))
    cores, playing = usable_cores(), spec.workers * processes
    if playing > cores:
        found = f"{playing} processes that play, {cores} cores"
        fix = f"set settings.workers to {cores // processes}; more than cores only wait"
        checks.append(Check("workers", "warning", found, fix))
    if hasattr(module, "facts"):
        facts = module.facts(settings)
        checks.append(Check("engine", "ok", "; ".join(f"{k} {v}" for k, v in facts.items())))
    if recipe.symmetry != "none" and spec.symmetry_note:
        checks.append(Check("symmetry", "warning", recipe.symmetry, spec.symmetry_note))
    boards = 8 if spec.games_at_once else 64
    batch = module.make(boards, settings, recipe.encoder)
    batch.reset(np.arange(boards), np.arange(boards, dtype=np.uint64))
    canvas = f"{spec.height}x{spec.width}"
    checks.append(Check("boards", "ok", f"{boards} boards dealt on a {canvas} canvas"))
    share = choice_share(module, batch)
    about = round(share * numbers["samples_an_iteration"])
    checks.append(
        Check(
            "decisions",
            "ok",
            f"played at random {share:.0%} of rows have a choice: about {about:,} of "
            f"{numbers['samples_an_iteration']:,} rows an iteration are samples",
        )
    )
    return checks, numbers


def reward_check(game: str, settings: Mapping[str, Any], recipe: Recipe) -> Check:
    """Refuse a recipe with a reward coefficient that never reaches the gradient.

    A few seconds of real training on a CPU; see `royale.learn.audit`.
    """
    findings = audit(game, settings, recipe)
    dead = [finding.line() for finding in findings if finding.died_at]
    if not dead:
        names = ", ".join(finding.coefficient for finding in findings)
        return Check("rewards", "ok", f"reach the gradient: {names}")
    truncation = getattr(recipe, "truncation", "terminal")
    fix = "the learner loses that reward (docs/learner.md, Audit and alarms)"
    if truncation != "terminal":
        fix = (
            f"set recipe key truncation to terminal; {truncation} is a negative control, for an arm"
        )
    return Check("rewards", "refused", "; ".join(dead), fix)


def arm_checks(
    game: str,
    settings: Mapping[str, Any],
    train: Mapping[str, Any],
    device: str,
    recipe: Recipe,
    rewards: bool,
    budget_mb: float = math.inf,
    processes: int = 1,
) -> list[Check]:
    """Look at what an arm changes that the look at its root did not cover.

    rewards: follow the reward coefficients, too (seconds); budget_mb: see `game_checks`. A negative control is the arm's
    right and only warned of; the rest of its rewards is followed without it.
    """
    checks = [Check("control", "warning", line) for line in recipe.negative_controls()]
    try:
        Precision(recipe.precision, device)
    except ConfigError as error:
        return [*checks, Check("precision", "refused", str(error), "set precision: fp32")]
    spec = games.load(game).spec({**settings, **recipe.settings}, recipe.encoder)
    parameters = sum(p.numel() for p in build_network(spec, recipe, seed=0).parameters())
    checks.append(_memory(spec, train, recipe, parameters, budget_mb, processes))
    if rewards:
        checks.append(reward_check(game, settings, replace(recipe, truncation="terminal")))
    return checks


def identity_check(plan: SegmentPlan) -> Check:
    """Refuse a machine whose objects, made as for training, are not what the plan asks for."""
    try:
        assert_identity(asked_identity(plan), live_identity(Trainer(plan)))
    except IdentityError as error:
        found = "; ".join(str(error).splitlines())
        return Check("identity", "refused", found, "install the versions of requirements.lock")
    return Check("identity", "ok", "what would train is what was asked")


def price_check(price: float, currency: str, runtime: int) -> Check:
    """Refuse a rented machine without a price; tell what an attempt of `runtime` minutes may cost."""
    if not price > 0:
        return Check(
            "price", "refused", f"{price:g} {currency} an hour", "set price_per_hour in the profile"
        )
    most = price * runtime / 60
    found = f"{price:g} {currency} an hour, at most {most:.2f} {currency} an attempt of a job"
    return Check("price", "ok", found)


def expect_cleared(preflight: Mapping[str, Any], path: str | Path) -> None:
    """RoyaleError unless a preflight file says that identity and rewards were looked at and right.

    A rented machine trains only then: a file of an earlier version has less in it.
    """
    passed = {check["name"] for check in preflight["checks"] if check["status"] == "ok"}
    for name in ("identity", "rewards"):
        if name not in passed:
            raise RoyaleError(
                f"{path}: check {name!r} has not passed, and this machine is rented; "
                f"run snakemake --force {path}"
            )


def _memory(
    spec: Any,
    train: Mapping[str, Any],
    recipe: Recipe,
    parameters: int,
    budget_mb: float,
    processes: int,
) -> Check:
    """Project the memory of a training segment; refuse over budget or total, warn over the free."""
    cells = spec.height * spec.width
    row = math.prod(spec.code_shape) + 4 * len(spec.scalars) + spec.n_actions / 8 + 32
    rollout = (1 + recipe.overlap) * 2 * train["envs"] * (train["horizon"] + 1) * row
    forward = 2 * train["envs"] * cells * 4 * (len(spec.planes) + 3 * recipe.channels)
    kept = (
        cells * 4 * (len(spec.planes) + ACTIVATIONS_A_BLOCK * recipe.channels * (recipe.blocks + 1))
    )
    backward = recipe.minibatch * (kept + 12 * spec.n_actions)
    past = 4 * POOL * parameters if recipe.opponents.get("past") else 0
    # each process has all rows, and its share of games and minibatches
    fixed = processes * (BASE_MB + spec.fixed_mb + (20 * parameters + past) / MB)
    needed = fixed + spec.game_mb * train["envs"]
    needed += (processes * rollout + forward + backward) / MB
    memory = psutil.virtual_memory()
    total, free = memory.total / MB, memory.available / MB
    found = f"about {needed:,.0f} MB a segment, {free:,.0f} MB free of {total:,.0f} MB"
    most = min(total, budget_mb)
    if needed > most:
        fit = int(train["envs"] * max(most - fixed, 0) / (needed - fixed) * 0.8)
        fix = f"the next legal train.envs is about {fit}" if fit else "no train.envs fits"
        if spec.workers:
            fix += f"; a worker fewer is {processes * spec.fixed_mb / spec.workers:,.0f} MB less"
        if budget_mb < needed <= total:
            found += f", resources.mem_mb is {budget_mb:,.0f}"
            fix += "; or raise resources.mem_mb"
        return Check("memory", "refused", found, fix)
    if needed > free:
        return Check(
            "memory", "warning", found, "close other programs, or run fewer segments at once"
        )
    return Check("memory", "ok", found)
