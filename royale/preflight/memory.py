"""The memory that a training segment will take, projected before it is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import psutil

from royale.games.protocol import GameSpec
from royale.learn.opponents import POOL
from royale.learn.recipe import Recipe
from royale.preflight.checks import MB, Check

# Python, torch and numba with nothing loaded, measured as resident memory.
BASE_MB = 500
# Activations kept for a backward pass, as a multiple of one block's output a sample.
ACTIVATIONS_A_BLOCK = 5


def memory_check(
    spec: GameSpec,
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
