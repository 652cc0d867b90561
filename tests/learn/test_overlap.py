"""Collecting beside the update: what is trained on, by whom it was played, and how it resumes."""

from __future__ import annotations

import dataclasses
import json

import jsonschema
import numpy as np
import pytest
import torch
from learner_parts import assert_resumes_exactly, changed

from royale.learn import checkpoint, entropy, ppo
from royale.learn.overlap import frozen
from royale.learn.samples import Rollout
from royale.learn.trainer import Trainer
from royale.schemas import schema

BIG_STEPS = {"overlap": True, "learning_rate": 0.05, "epochs": 2}


def weights(network):
    return {name: p.detach().clone() for name, p in network.named_parameters()}


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def lagged(plan, iterations):
    """A trainer after so many iterations, by a plain loop without a thread: rollout k + 1 is
    played by the weights that update k begins with."""
    trainer = Trainer(plan)
    trainer.start()
    actors, horizon = trainer.actors, plan.horizon
    actors.opponents.snapshot(trainer.average, 0)
    actors.collect(trainer.network, trainer.rollout, 0)
    rollout, behaviour = trainer.rollout, None
    for k in range(iterations):
        before = frozen(trainer.network)
        following = Rollout(actors.batch, horizon)
        actors.opponents.snapshot(trainer.average, k + 1)
        actors.collect(before, following, (k + 1) * horizon)
        trainer.optimizer.warm(trainer.warmth)
        metrics = trainer._update(rollout, k + 1, behaviour)
        trainer.coefficient = entropy.next_coefficient(
            trainer.coefficient, metrics["entropy"], plan.recipe["entropy_floor"]
        )
        trainer.iteration, rollout, behaviour = k + 1, following, before
    return trainer, rollout


def test_it_trains_what_a_plain_loop_trains(make_plan):
    plan = make_plan(**BIG_STEPS, opponents={"past": 0.5})
    trainer = Trainer(plan)
    trainer.start()
    rows = [trainer.iterate() for _ in range(4)]
    plain, following = lagged(plan, 4)
    assert same(weights(trainer.network), weights(plain.network))
    assert same(weights(trainer.average), weights(plain.average))
    for name, array in following.state_arrays().items():
        assert np.array_equal(trainer.ahead.rollout.state_arrays()[name], array), name
    assert [row["policy_lag"] for row in rows] == [0, 1, 1, 1]
    without = Trainer(make_plan(**BIG_STEPS | {"overlap": False}, opponents={"past": 0.5}))
    without.start()
    for _ in range(4):
        without.iterate()
    assert not same(weights(trainer.network), weights(without.network))


def test_what_is_trained_on_was_played_one_update_ago_and_is_proved_so(make_plan):
    trainer = Trainer(make_plan(**BIG_STEPS))
    trainer.start()
    first = trainer.iterate()
    assert first["policy_lag_kl"] < 1e-6 and first["ratio_max_abs_dev"] < 1e-4
    behaviour, before = trainer.ahead.behaviour, weights(trainer.network)
    assert not same(weights(behaviour), before)
    second = trainer.iterate()
    # by the network of now the stored log-probabilities are off; by the one that played, right
    assert second["policy_lag_kl"] > 1e-4 and second["ratio_max_abs_dev"] < 1e-4
    assert same(weights(trainer.ahead.behaviour), before)


def test_a_rollout_of_another_network_is_refused(make_plan):
    trainer = Trainer(make_plan(**BIG_STEPS))
    trainer.start()
    trainer.iterate()
    trainer.ahead.behaviour = frozen(trainer.network)
    with pytest.raises(ppo.TrainingError, match="recomputed log-probabilities differ"):
        trainer.iterate()


def test_the_seconds_saved_make_the_split_add_up(make_plan):
    trainer = Trainer(make_plan(overlap=True))
    trainer.start()
    for _ in range(3):
        row = trainer.iterate()
        total = sum(row["timing"].values())
        assert total == pytest.approx(row["seconds"] + row["overlap_saved"])
        assert 0 <= row["overlap_saved"] <= sum(trainer.actors.clock.seconds.values()) + 0.05


def test_it_resumes_exactly(make_plan, tmp_path):
    plan = make_plan(**BIG_STEPS, opponents={"past": 0.5}, explore_plane={"up": 0.1})
    got, second = assert_resumes_exactly(plan, tmp_path)
    assert any(name.startswith("ahead/") for name in got)
    whole = (tmp_path / "whole/metrics.jsonl").read_text().splitlines()
    resumed = (second / "metrics.jsonl").read_text().splitlines()
    timed = ("seconds", "steps_per_second", "timing", "overlap_saved", "health", "alarms")
    for one, other in zip(map(json.loads, whole[4:]), map(json.loads, resumed), strict=True):
        jsonschema.validate(other, schema("files/metrics"))
        assert {k: v for k, v in one.items() if k not in timed} == {
            k: v for k, v in other.items() if k not in timed
        }


def test_a_stage_of_a_schedule_begins_with_games_of_its_own(make_plan, tmp_path):
    stages = [{"until": 0.5, "settings": {"max_turns": 3}}]
    plan = make_plan(**BIG_STEPS, schedule=stages, arm_steps=8 * 12 * 16)
    trainer = Trainer(plan)
    trainer.start()
    lags = [trainer.iterate()["policy_lag"] for _ in range(8)]
    assert lags == [0, 1, 1, 1, 0, 1, 1, 1] and trainer.settings["max_turns"] != 3
    assert_resumes_exactly(plan, tmp_path)


@pytest.mark.parametrize("who", ["update", "collection"])
def test_a_failure_of_either_ends_both(make_plan, monkeypatch, who):
    trainer = Trainer(make_plan(overlap=True))
    trainer.start()
    trainer.iterate()
    if who == "update":
        monkeypatch.setattr(trainer.updater, "update", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            trainer.iterate()
        assert not trainer.actors.stopping
    else:
        with torch.no_grad():
            trainer.network.policy.bias.fill_(torch.nan)
        monkeypatch.setattr(trainer, "_update", lambda *args: {})
        with pytest.raises(ppo.TrainingError, match="iteration 3: logits"):
            trainer.iterate()


@pytest.fixture(scope="module")
def ahead(tmp_path_factory):
    return {}


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("samples/row", lambda a: a + 99, "not in the order of turns and rows"),
        ("samples/turn", lambda a: a[::-1], "not in the order of turns and rows"),
        ("samples/turn", lambda a: a * 0 - 1, "not in the order of turns and rows"),
        ("samples/action", lambda a: a + 10**6, "actions that there are not"),
        ("samples/n_legal", lambda a: a * 0, "actions that there are not"),
        ("samples/value", lambda a: a[1:], r"samples/value is float32"),
        ("samples/value", lambda a: a * np.float32(np.nan), "not finite"),
        ("turns/reward", lambda a: a[:-1], r"turns/reward is float32"),
        ("behaviour/stem.bias", lambda a: a[:1], r"behaviour/stem\.bias is float32"),
    ],
)
def test_a_strangers_rollout_is_checked(make_plan, tmp_path, ahead, name, value, line):
    plan = make_plan(overlap=True)
    if not ahead:
        trainer = Trainer(plan)
        trainer.start()
        trainer.iterate()
        ahead["state"] = trainer.state()
    arrays, meta = dict(ahead["state"][0]), ahead["state"][1]
    path = tmp_path / "evil.safetensors"
    checkpoint.save(path, arrays, meta)
    Trainer(plan).load_state(*checkpoint.load(path), path)  # as it is it is taken
    changed(f"ahead/{name}", value)(arrays, meta)
    checkpoint.save(path, arrays, meta)
    with pytest.raises(checkpoint.FileError, match=rf"evil\.safetensors: .*{line}"):
        Trainer(plan).load_state(*checkpoint.load(path), path)


def test_several_processes_are_refused(make_plan):
    with pytest.raises(ValueError, match="overlap needs 1 process, not 2"):
        dataclasses.replace(make_plan(overlap=True), processes=2)
