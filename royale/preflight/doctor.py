"""Looks at what would be trained: the game, the sizes, the network, its rewards, its identity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from royale import games
from royale.errors import ConfigError
from royale.learn.audit import audit
from royale.learn.identity import IdentityError, asked_identity, assert_identity, live_identity
from royale.learn.network import build_network
from royale.learn.plan import SegmentPlan
from royale.learn.precision import Precision
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer
from royale.preflight.checks import Check
from royale.preflight.geometry import choice_share, geometry
from royale.preflight.machine import usable_cores
from royale.preflight.memory import memory_check


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
    checks.append(memory_check(spec, train, recipe, parameters, budget_mb, processes))
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
    truncation = recipe.truncation
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

    rewards: follow the reward coefficients, too (seconds). budget_mb, processes: see
    `game_checks`. A negative control is allowed in an arm and only warned of; the rest of its
    rewards is followed without it.
    """
    checks = [Check("control", "warning", line) for line in recipe.negative_controls()]
    try:
        Precision(recipe.precision, device)
    except ConfigError as error:
        return [*checks, Check("precision", "refused", str(error), "set precision: fp32")]
    spec = games.load(game).spec({**settings, **recipe.settings}, recipe.encoder)
    parameters = sum(p.numel() for p in build_network(spec, recipe, seed=0).parameters())
    checks.append(memory_check(spec, train, recipe, parameters, budget_mb, processes))
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
