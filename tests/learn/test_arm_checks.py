"""Arms that cannot run are refused before anything is paid for, and the others are not."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
import toy_game
from learner_parts import reward_lost_at_the_cap

from royale.errors import ConfigError, RoyaleError
from royale.games import load
from royale.learn import audit as audits
from royale.learn.network import build_network
from royale.learn.recipe import Recipe, opponent_games
from royale.preflight import doctor
from royale.preflight.checks import refusals, refuse
from royale.preflight.ladder import Asked, look_at_arm
from royale.preflight.memory import BASE_MB
from royale.project.arms import changes_rewards, check_arm, needs_doctor, samples_kept

TRAIN = {"envs": 8, "horizon": 12, "segment_steps": 1000}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(audits, "TURNS", 16)


def checked(**changes):
    recipe = Recipe(**{"channels": 8, "blocks": 1, "minibatch": 16} | changes)
    check_arm("toy", toy_game.SETTINGS, TRAIN, "cpu", recipe)
    return recipe


def test_samples_kept_by_hand():
    # 2 seats * 8 games * 12 turns = 192; a quarter of them; a share that is no whole number
    assert samples_kept(TRAIN, Recipe(advantage_top=0.25)) == 48
    assert samples_kept(TRAIN, Recipe(advantage_top=0.101)) == 20


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"minibatch": 49}, ["'minibatch' is 49", "trains on 48", "next legal minibatch is 48"]),
        ({"minibatch": 16, "advantage_top": 0.05}, ["trains on 10"]),
        ({"opponents": {"random": 0.1}}, ["opponents.random' = 0.1 of 8", ">= 0.125"]),
        ({"precision": "fp8"}, ["'precision' = 'fp8'", "8-bit", "allowed: fp32, bf16"]),
        ({"settings": {"no_such": 1}}, ["'settings' = {'no_such': 1}"]),
    ],
)
def test_what_cannot_run_anywhere_is_one_line(changes, words, monkeypatch):
    def spec(settings, encoder):
        if "no_such" in settings:
            raise ValueError("no_such is no setting")

    monkeypatch.setattr(load("toy"), "spec", spec, raising=False)
    checked()
    with pytest.raises(ConfigError) as error:
        checked(**changes)
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_a_game_that_cannot_turn_samples_is_told_apart(monkeypatch):
    checked(symmetry="stored_samples")
    plain = SimpleNamespace(**{k: getattr(load("toy"), k) for k in ("spec", "scripted")})
    monkeypatch.setattr("royale.project.arms.games.load", lambda name: plain)
    with pytest.raises(ConfigError, match="toy has no `transform`; allowed: none, per_episode"):
        checked(symmetry="stored_samples")


def test_opponents_games_are_rounded_down():
    counts = opponent_games({"past": 0.25, "random": 0.4}, 8)
    assert counts == {"past": 2, "scripted": 0, "random": 3}


def test_only_what_a_machine_must_be_asked_needs_the_doctor():
    assert not needs_doctor({"treatment": {"symmetry": "none"}, "control": {"epochs": 2}})
    assert needs_doctor({"treatment": {"epochs": 2}, "control": {"draw_reward": -0.5}})
    assert needs_doctor({"treatment": {"opponents": {"past": 0.5}}, "control": {}})
    assert changes_rewards({"gamma": 0.9}) and not changes_rewards({"truncation": "reset"})


def arm(rewards=True, **changes):
    recipe = Recipe(**{"channels": 8, "blocks": 1, "minibatch": 16} | changes)
    return doctor.arm_checks("toy", toy_game.SETTINGS, TRAIN, "cpu", recipe, rewards)


def test_a_negative_control_is_warned_of_and_runs():
    found = {check.name: check for check in arm(truncation="reset", draw_reward=-0.5)}
    assert found["control"].status == "warning" and "truncation: reset" in found["control"].found
    assert found["rewards"].status == "ok"


def test_an_arm_whose_reward_is_lost_is_refused(monkeypatch):
    reward_lost_at_the_cap(monkeypatch)
    found = {check.name: check for check in arm(draw_reward=-0.5)}
    assert (
        found["rewards"].status == "refused"
        and "draw_reward at the turn cap" in found["rewards"].found
    )
    assert "rewards" not in {check.name for check in arm(rewards=False)}


def projected_mb(checks):
    memory = next(check for check in checks if check.name == "memory")
    return int(re.match(r"about ([\d,]+) MB", memory.found)[1].replace(",", ""))


def test_the_memory_of_past_selves_is_counted():
    def needed(**changes):
        return projected_mb(arm(False, channels=256, **changes))

    spec = toy_game.GAME.spec(toy_game.SETTINGS, "base")
    network = build_network(spec, Recipe(channels=256, blocks=1), 0)
    four = 4 * 4 * sum(p.numel() for p in network.parameters()) / 2**20  # 4 copies, 4 bytes
    assert four > 8
    assert needed(opponents={"past": 0.5}) - needed() == pytest.approx(four, abs=1.01)
    assert needed(opponents={"random": 0.5}) == needed()


def test_the_memory_of_games_and_their_workers_is_counted():
    def needed(train, settings):
        return projected_mb(
            doctor.arm_checks("clash", settings, train, "cpu", recipe, rewards=False)
        )

    recipe = Recipe(channels=8, blocks=1, minibatch=16)
    spec = load("clash").spec({"workers": 3}, "base")
    alone, with_workers = (needed({"envs": 8, "horizon": 1}, {"workers": n}) for n in (0, 3))
    assert with_workers - alone == pytest.approx(spec.fixed_mb, abs=1.01) and spec.fixed_mb > 300
    words = "clash", {"workers": 3}, {"envs": 8, "horizon": 1}, "cpu", recipe, False
    by_two = projected_mb(doctor.arm_checks(*words, processes=2))
    assert by_two - with_workers == pytest.approx(BASE_MB + spec.fixed_mb, abs=3)
    refused = doctor.arm_checks(*words, 600, processes=2)[0]
    assert f"a worker fewer is {2 * spec.fixed_mb / 3:,.0f} MB less" in refused.fix
    more = needed({"envs": 508, "horizon": 1}, {})
    assert more - alone > 500 * spec.game_mb > 500


def test_memory_over_what_the_executor_is_asked_for_is_refused():
    recipe = Recipe(channels=8, blocks=1, minibatch=16)
    words = "clash", {}, {"envs": 100, "horizon": 1}, "cpu", recipe, False
    fits, refused = (doctor.arm_checks(*words, budget_mb=mb)[0] for mb in (1000, 600))
    assert fits.status == "ok"
    assert refused.status == "refused" and refused.found.endswith("resources.mem_mb is 600")
    envs = int(re.search(r"train.envs is about (\d+); or raise", refused.fix)[1])
    smaller = doctor.arm_checks(*words[:2], {"envs": envs, "horizon": 1}, *words[3:], 600)[0]
    assert 1 < envs < 100 and smaller.status == "ok"
    nothing = doctor.arm_checks(*words, budget_mb=300)[0]
    assert nothing.fix == "no train.envs fits; or raise resources.mem_mb"


def looked_at(arms):
    root = {
        "game": "toy",
        "settings": toy_game.SETTINGS,
        "train": TRAIN,
        "scale": {"minibatch": 0.125, "entropy_floor": 1},
        "recipe": Recipe(channels=8, blocks=1, minibatch=128).to_dict(),
    }
    asked = Asked("cpu", threads=1, processes=1, mem_mb=1000)
    return {arm: look_at_arm(root, changes, asked) for arm, changes in arms.items()}


def test_each_arm_is_looked_at_and_refused_by_name(monkeypatch):
    arms = {"treatment": {"draw_reward": -0.5}, "control": {"minibatch": 64}}
    found = looked_at(arms)
    assert [check.name for check in found["treatment"]] == ["memory", "rewards"]
    assert [check.name for check in found["control"]] == ["memory"]
    refuse("g03", [line for checks in found.values() for line in refusals(checks)])
    reward_lost_at_the_cap(monkeypatch)
    refused = [line for arm, checks in looked_at(arms).items() for line in refusals(checks, arm)]
    with pytest.raises(RoyaleError) as caught:
        refuse("config/ladders/generals.yaml: g03", refused)
    text = str(caught.value)
    assert "g03 cannot run here: treatment: rewards: draw_reward at the turn cap" in text
    assert "control:" not in text.split("cannot run here")[1]
