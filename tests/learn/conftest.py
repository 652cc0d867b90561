"""Fixtures of the learner's tests: the toy game, registered, and small plans."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

import toy_game

from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe

torch.set_num_threads(1)
toy_game.register()


@pytest.fixture(autouse=True)
def denormals():
    """Segments flush denormals, process-wide; hypothesis refuses to work so."""
    yield
    torch.set_flush_denormal(False)


@pytest.fixture
def make_plan():
    """A function making a plan of the toy game; keywords change its fields or its recipe."""

    def make(**changes) -> SegmentPlan:
        names = {f.name for f in dataclasses.fields(SegmentPlan)}
        small = {"channels": 8, "blocks": 1, "minibatch": 16, "learning_rate": 3e-3}
        recipe = dataclasses.replace(
            Recipe(), **small | {k: v for k, v in changes.items() if k not in names}
        )
        fields = {
            "game": "toy",
            "settings": toy_game.SETTINGS,
            "recipe": recipe.to_dict(),
            "envs": 8,
            "horizon": 12,
            "steps": 4 * 12 * 16,
            "generation": "g00",
            "arm": "root",
            "seed": 0,
            "segment": 0,
        }
        return SegmentPlan(**fields | {k: v for k, v in changes.items() if k in names})

    return make
