"""What the doctor refuses before money is spent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent / "learn"))

import toy_game

from royale.errors import ConfigError, RoyaleError
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.preflight import doctor, machine
from royale.preflight.checks import expect_cleared
from royale.project.config import load_profile

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def plan():
    toy_game.register()
    import torch

    torch.set_num_threads(1)
    recipe = Recipe.from_dict({**Recipe().to_dict(), "channels": 8, "blocks": 1})
    return SegmentPlan(
        game="toy",
        settings=toy_game.SETTINGS,
        recipe=recipe.to_dict(),
        envs=4,
        horizon=4,
        steps=1,
        generation="doctor",
        arm="toy",
        seed=0,
        segment=0,
    )


def test_what_would_train_is_looked_at(plan, monkeypatch):
    assert doctor.identity_check(plan).status == "ok"
    honest = doctor.live_identity
    monkeypatch.setattr(doctor, "live_identity", lambda made: honest(made) | {"blocks": 7})
    found = doctor.identity_check(plan)
    assert (found.status, found.found) == ("refused", "asked blocks: 1, found 7")


def test_a_price_is_needed_and_tells_what_an_attempt_may_cost():
    assert machine.price_check(0.0, "EUR", 90).status == "refused"
    found = machine.price_check(1.2, "EUR", 90)
    assert found.status == "ok" and "at most 1.80 EUR an attempt" in found.found


@pytest.mark.parametrize("missing", ["identity", "rewards"])
@pytest.mark.parametrize("instead", [None, "warning"])
def test_a_rented_job_needs_both_checks_in_the_doctors_file(missing, instead):
    checks = [{"name": name, "status": "ok"} for name in ("identity", "rewards", "memory")]
    expect_cleared({"checks": checks}, "doctor.json")
    left = [check for check in checks if check["name"] != missing]
    if instead:
        left.append({"name": missing, "status": instead})
    with pytest.raises(RoyaleError, match=rf"^doctor\.json: check '{missing}' has not passed"):
        expect_cleared({"checks": left}, "doctor.json")


@pytest.mark.parametrize("price", [0, None])
def test_a_rented_profile_without_a_price_is_refused_at_once(tmp_path, price):
    folder = tmp_path / "config/profiles"
    folder.mkdir(parents=True)
    profile = yaml.safe_load((ROOT / "config/profiles/smoke.yaml").read_text()) | {"rented": True}
    profile["price_per_hour"] = price
    if price is None:
        del profile["price_per_hour"]
    (folder / "mine.yaml").write_text(yaml.safe_dump(profile))
    wanted = "is missing" if price is None else "= 0; allowed: > 0"
    with pytest.raises(ConfigError, match=f"mine.yaml: key 'price_per_hour' {wanted}"):
        load_profile("mine", tmp_path)
    (folder / "mine.yaml").write_text(yaml.safe_dump(profile | {"price_per_hour": 0.4}))
    assert load_profile("mine", tmp_path)["rented"] is True


def test_envs_must_be_shared_evenly_by_the_processes(tmp_path):
    folder = tmp_path / "config/profiles"
    folder.mkdir(parents=True)
    profile = yaml.safe_load((ROOT / "config/profiles/smoke.yaml").read_text())
    (folder / "mine.yaml").write_text(yaml.safe_dump(profile | {"processes": 5}))
    with pytest.raises(
        ConfigError, match=r"train.envs' = \d+; allowed: a multiple of 'processes' = 5"
    ):
        load_profile("mine", tmp_path)


def test_each_process_needs_a_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(machine.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(machine.torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(machine.torch.cuda, "get_device_name", lambda: "one")
    for processes, status in ((1, "ok"), (2, "refused")):
        checks = machine.machine_checks("cuda", 1, tmp_path, processes)
        (found,) = (check for check in checks if check.name == "device")
        assert found.status == status
    assert found.fix == "set processes: 1; each needs a GPU of its own"


def test_more_workers_than_cores_are_warned_of(monkeypatch):
    monkeypatch.setattr(doctor, "usable_cores", lambda: 1)
    recipe = Recipe(channels=8, blocks=1, minibatch=16)
    train = {"envs": 4, "horizon": 16, "segment_steps": 128}
    for workers, warned in ((1, False), (2, True)):
        settings = {"workers": workers, "start_tick": 90, "max_turns": 4}
        checks = {c.name: c for c in doctor.game_checks("clash", settings, train, recipe)[0]}
        assert ("workers" in checks) == warned
    assert checks["workers"].line() == (
        "warning  workers    2 processes that play, 1 cores; "
        "set settings.workers to 1; more than cores only wait"
    )
