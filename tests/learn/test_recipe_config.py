"""What a ladder file may say of the new knobs: faults are one line before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from royale.errors import ConfigError
from royale.games.generals.settings import RULE_BASE, RULE_CAP
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer
from royale.project.config import load_config, read_yaml
from royale.project.ladder import scaled
from royale.project.project import load_project

ROOT = Path(__file__).resolve().parents[2]
LADDER = Path("config/ladders/generals.yaml")


def project(copy, change):
    """The project with the recipe keys `change` in the treatment of the last generation."""
    ladder = read_yaml(copy, LADDER)
    last = list(ladder["generations"])[-1]
    ladder["generations"][last]["treatment"] = change
    (copy / LADDER).write_text(yaml.safe_dump(ladder, sort_keys=False))
    return load_project(load_config(read_yaml(ROOT, Path("config/config.yaml"))), copy), last


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"settings": {"castle_caps": 3}}, [".settings.castle_caps", "did you mean 'castle_cap'?"]),
        ({"settings": {"build_base": 0}}, [".settings.build_base' = 0; allowed: >= 1"]),
        ({"settings": {"height": [9, 8]}}, ["the least, 9, is above the greatest, 8"]),
        ({"opponents": {"past": 0.9, "random": 0.2}}, ["sums to 1.1; allowed: <= 1"]),
        ({"opponents": {"friends": 0.5}}, ["allowed: past, random, scripted"]),
        ({"opponents": {"past": -0.5}}, ["opponents.past' = -0.5; allowed: >= 0"]),
        ({"explore_plane": {"build": 1}}, ["explore_plane.build' = 1; allowed: < 1"]),
        ({"value_clip": 0.2, "value_coef": -1}, ["value_coef' = -1; allowed: >= 0"]),
        ({"precision": "fp4"}, ["allowed: fp32, bf16, fp8"]),
        ({"symmetry": "stored"}, ["allowed: none, per_episode, stored_samples"]),
        ({"truncation": "mask"}, ["allowed: terminal, reset"]),
    ],
)
def test_a_fault_is_one_line_that_says_what_is_allowed(project_copy, change, parts):
    with pytest.raises(ConfigError) as error:
        project(project_copy, change)
    assert "\n" not in str(error.value)
    for part in [str(LADDER), *parts]:
        assert part in str(error.value)


def test_price_and_cap_of_castles_are_an_arms_and_not_the_matches(project_copy):
    change = {"settings": {"castle_cap": 3, "build_base": 50}}
    made, last = project(project_copy, change)
    assert made.generations[last].changes["treatment"] == change
    sizes = made.sizes("generals")
    recipe = scaled({**made.root_recipe(last), **change, "channels": 4}, sizes["scale"])
    plan = SegmentPlan(
        "generals", sizes["settings"], recipe.to_dict(), 1, 1, 1, "g", "treatment", 0, 0
    )
    rules = Trainer(plan).actors.batch._rules
    assert (rules[RULE_CAP], rules[RULE_BASE]) == (3, 50)
    assert plan.continues()["settings"] == sizes["settings"]
    assert "castle_cap" not in sizes["settings"]


def test_a_file_of_before_a_knob_was_there_has_its_default():
    young = Recipe(gamma=0.9).to_dict()
    old = {key: value for key, value in young.items() if key != "overlap"}
    assert Recipe.of_file(old) == Recipe.of_file(young) == Recipe(gamma=0.9)
    with pytest.raises(ValueError, match=r"missing keys \['overlap'\]"):
        Recipe.from_dict(old)  # a plan is complete
    with pytest.raises(ValueError, match=r"unknown keys \['gama'\]"):
        Recipe.of_file({**old, "gama": 0.9})
