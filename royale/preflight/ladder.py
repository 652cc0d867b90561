"""Preflight of a ladder and of its arms: everything that is looked at, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from royale.evidence.generation import inherited
from royale.preflight.checks import Check, refusals
from royale.preflight.doctor import arm_checks, game_checks, identity_check, reward_check
from royale.preflight.machine import machine_checks, price_check
from royale.preflight.vram import vram_check
from royale.project.arms import changes_rewards
from royale.project.ladder import scaled
from royale.project.plans import segment_plan


@dataclass(frozen=True)
class Asked:
    """What a training segment asks of a machine."""

    device: str
    threads: int  # of each process
    processes: int
    mem_mb: float


@dataclass(frozen=True)
class Rent:
    """What a rented machine costs, and how long an attempt of a job may take."""

    price_per_hour: float
    currency: str
    minutes: int


def look_at_ladder(
    root: Mapping[str, Any],
    ladder: str,
    asked: Asked,
    determinism: str,
    results: Path,
    rent: Rent | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[list[Check], dict[str, int]]:
    """Look at the machine and at the root that it would train; the checks and the geometry.

    root: as `Project.roots` has it. results: the folder to be written below. The costly looks
    (identity, rewards, a GPU's memory) are left out if something was refused before them.
    """
    recipe, sizes = scaled(root["recipe"], root["scale"]), (root["settings"], root["train"])
    checks = machine_checks(asked.device, asked.threads, results, asked.processes)
    if rent:
        checks.append(price_check(rent.price_per_hour, rent.currency, rent.minutes))
    say("looking at the game; compiling its kernels takes a minute the first time")
    more, geometry = game_checks(root["game"], *sizes, recipe, asked.mem_mb, asked.processes)
    checks += more
    if not refusals(checks):
        # a schedule needs the steps of the whole arm; here an arm is one segment
        whole = {**root["train"], "arm_steps": root["train"]["segment_steps"]}
        plan = segment_plan(
            {**root, "train": whole},
            "doctor",
            ladder,
            threads=asked.threads,
            device=asked.device,
            determinism=determinism,
        )
        checks.append(identity_check(plan))
        checks.append(reward_check(root["game"], root["settings"], recipe))
        if asked.device == "cuda":
            checks.append(vram_check(root["game"], *sizes, recipe))
    return checks, geometry


def look_at_arm(root: Mapping[str, Any], changes: Mapping[str, Any], asked: Asked) -> list[Check]:
    """Look at what an arm's changes (recipe keys) ask for beyond its root.

    The parent's recipe is not known yet; what it keeps of the root's is.
    """
    recipe = scaled({**inherited(root["recipe"]), **changes}, root["scale"])
    words = root["game"], root["settings"], root["train"]
    rewards = changes_rewards(changes)
    checks = arm_checks(*words, asked.device, recipe, rewards, asked.mem_mb, asked.processes)
    if asked.device == "cuda" and "minibatch" in changes:
        checks.append(vram_check(*words, recipe))
    return checks
