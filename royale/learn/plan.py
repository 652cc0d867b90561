"""What one training segment is asked to do, and the fingerprint that names it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from royale.games import load
from royale.learn.recipe import Recipe

STARTS = ("scratch", "weights", "checkpoint")


def steps_an_iteration(envs: int, horizon: int) -> int:
    """Agent steps an iteration: both seats of N games step T turns."""
    return 2 * envs * horizon


@dataclass(frozen=True)
class SegmentPlan:
    """One segment of one arm's training.

    start is "scratch" (new weights), "weights" (`start_file` is a champion's weights
    file: its weights, everything else new) or "checkpoint" (`start_file` is the previous
    segment's checkpoint.safetensors: continued exactly). ValueError on a plan that makes
    no sense.
    """

    game: str
    settings: Mapping[str, Any]
    recipe: Mapping[str, Any]  # complete; see recipe.schema.yaml
    envs: int  # N games, 2N learner rows
    horizon: int  # T turns an iteration
    steps: int  # agent steps of this segment, rounded up to whole iterations
    generation: str
    arm: str
    seed: int
    segment: int
    threads: int = 1  # of each process
    processes: int = 1  # each plays its share of the games; see `parallel`
    device: str = "cpu"
    determinism: str = "deterministic"  # of royale.learn.determinism.TIERS
    start: str = "scratch"
    start_file: Path | None = None
    arm_steps: int | None = None  # agent steps of all the arm's segments: a schedule's whole
    checkpoint_seconds: float = 60.0  # partial work is saved this often
    checkpoint_iterations: int | None = None  # and every so many iterations

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise ValueError(f"start: {self.start!r} is none of {STARTS}")
        if (self.start_file is None) != (self.start == "scratch"):
            raise ValueError(f"start {self.start!r} with start_file {self.start_file}")
        if min(self.envs, self.horizon, self.steps, self.threads, self.processes) < 1:
            raise ValueError("envs, horizon, steps, threads and processes must be at least 1")
        if self.envs % self.processes:
            raise ValueError(f"{self.envs} envs are not the same for {self.processes} processes")
        if self.determinism == "run_exact" and (self.threads > 1 or self.processes > 1):
            raise ValueError(
                f"determinism run_exact needs 1 thread of 1 process, not {self.threads} of "
                f"{self.processes}"
            )
        if self.recipe["overlap"] and self.processes > 1:
            raise ValueError(f"overlap needs 1 process, not {self.processes}")
        if self.recipe["schedule"] and not self.arm_steps:
            raise ValueError("a schedule is in shares of arm_steps, which is missing")

    @property
    def steps_per_iteration(self) -> int:
        """Agent steps an iteration: 2 * N * T."""
        return steps_an_iteration(self.envs, self.horizon)

    @property
    def iterations(self) -> int:
        """Iterations of this segment."""
        return math.ceil(self.steps / self.steps_per_iteration)

    def training_settings(self, iteration: int | None = None) -> dict[str, Any]:
        """The game's settings in training: the machine's, with the recipe's over them.

        iteration: the arm's, from 0, at which the recipe's schedule is read; None is after
        its end. Checkpoints and champions keep the machine's, with which matches are played.
        """
        share = 1.0
        if self.recipe["schedule"] and iteration is not None:
            share = iteration * self.steps_per_iteration / self.arm_steps
        return {**self.settings, **Recipe.from_dict(self.recipe).settings_at(share)}

    def run(self) -> tuple[str, str, int]:
        """The name that the run's random keys are derived from; the same in each segment."""
        return self.generation, self.arm, self.seed

    def continues(self) -> dict[str, Any]:
        """What must be equal in all segments of one arm, as JSON values.

        Settings that decide only how fast a game plays are left out.
        """
        names = ("game", "settings", "recipe", "envs", "horizon", "generation", "arm", "seed")
        values = asdict(self)
        for name in getattr(load(self.game), "speed_settings", ()):
            values["settings"].pop(name, None)
        if self.recipe["schedule"]:  # else more segments would be another arm
            names += ("arm_steps",)
        return json.loads(json.dumps({name: values[name] for name in names}, sort_keys=True))

    def fingerprint(self) -> str:
        """sha256 over everything that decides the result, with the start file's contents.

        Where files are and how often partial work is saved decide nothing.
        """
        content = self.continues()
        for name in ("steps", "segment", "threads", "device", "determinism", "start"):
            content[name] = getattr(self, name)
        if self.processes > 1:  # sums round otherwise
            content["processes"] = self.processes
        if self.start_file is not None:
            content["start_sha256"] = hashlib.sha256(Path(self.start_file).read_bytes()).hexdigest()
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
