"""Plans of segments: what of a description they hold, and what a segment starts from."""

from __future__ import annotations

from pathlib import Path

import pytest

from royale.bench.measure import measured_before, root_plan
from royale.errors import RoyaleError
from royale.files import sha256
from royale.learn.recipe import Recipe
from royale.project import plans

ROOT = {
    "game": "generals",
    "settings": {"max_turns": 80},
    "recipe": Recipe(minibatch=128, schedule=[]).to_dict(),
    "train": {"envs": 4, "horizon": 8, "segment_steps": 64},
    "scale": {"minibatch": 0.5, "entropy_floor": 1},
}
SIZES = {key: ROOT[key] for key in ("game", "settings", "train", "scale")}
NAMES = {"generation": "g03", "arm": "control", "seed": "1", "segment": "0"}


def test_a_root_is_planned_as_described():
    plan = plans.segment_plan(ROOT, "doctor", "generals", threads=2)
    assert (plan.generation, plan.arm, plan.seed, plan.segment) == ("doctor", "generals", 0, 0)
    assert (plan.envs, plan.horizon, plan.steps, plan.arm_steps) == (4, 8, 64, None)
    assert (plan.threads, plan.start, plan.start_file) == (2, "scratch", None)
    assert plan.recipe["minibatch"] == 64 and plan.settings == {"max_turns": 80}


def test_the_bench_measures_what_a_schedule_ends_with():
    stages = [{"until": 0.5, "settings": {"max_turns": 40}}]
    root = {**ROOT, "recipe": {**ROOT["recipe"], "schedule": stages}}
    plan = root_plan(root, "generals", 1, "cpu", "throughput")
    assert plan.recipe["schedule"] == [] and plan.training_settings() == ROOT["settings"]
    assert (plan.generation, plan.determinism) == ("bench", "throughput")


@pytest.fixture
def parent(tmp_path, monkeypatch):
    """A ladder file and its champion, as far as a plan reads them."""
    champion = tmp_path / "champion.safetensors"
    champion.write_bytes(b"weights")
    told = {"recipe": ROOT["recipe"], "champion": {"sha256": sha256(champion)}}
    monkeypatch.setattr(plans, "read_json", lambda path, kind: told)
    return str(champion), str(tmp_path / "g02.json")


def test_an_arm_starts_from_its_parents_champion_and_goes_on_from_checkpoints(parent):
    plan = plans.arm_plan(SIZES, {"epochs": 2}, NAMES, *parent, processes=1)
    assert (plan.start, plan.start_file) == ("weights", Path(parent[0]))
    assert (plan.generation, plan.arm, plan.seed, plan.segment) == ("g03", "control", 1, 0)
    assert plan.recipe["epochs"] == 2 and plan.recipe["gamma"] == ROOT["recipe"]["gamma"]
    after = {**NAMES, "segment": "1"}
    plan = plans.arm_plan(SIZES, {}, after, "checkpoint.safetensors", parent[1])
    assert (plan.start, plan.segment) == ("checkpoint", 1)


def test_an_arm_has_a_schedule_only_if_it_names_one(parent, monkeypatch):
    stages = [{"until": 0.5, "settings": {"max_turns": 40}}]
    told = plans.read_json(parent[1], "ladder")
    recipe = {**told["recipe"], "schedule": stages}
    monkeypatch.setattr(plans, "read_json", lambda path, kind: {**told, "recipe": recipe})
    assert plans.arm_plan(SIZES, {"epochs": 2}, NAMES, *parent).recipe["schedule"] == []
    sizes = {**SIZES, "train": {**SIZES["train"], "arm_steps": 128}}
    plan = plans.arm_plan(sizes, {"schedule": stages}, NAMES, *parent)
    assert plan.recipe["schedule"] == stages


def test_a_root_starts_from_new_weights(parent):
    plan = plans.arm_plan(SIZES, ROOT["recipe"], NAMES, None, None)
    assert (plan.start, plan.start_file) == ("scratch", None)


def test_another_champion_than_the_ladder_files_is_refused(parent):
    Path(parent[0]).write_bytes(b"others")
    with pytest.raises(RoyaleError, match="its bytes were altered"):
        plans.arm_plan(SIZES, {}, NAMES, *parent)


def test_no_bench_was_made_before(tmp_path):
    assert measured_before(tmp_path / "smoke.json", "generals") is None
