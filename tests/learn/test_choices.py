"""Rows without a choice, and games that are lost, in the update and in its metrics."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
import toy_game
from learner_parts import assert_resumes_exactly, parts, spy

from royale.learn import entropy, ppo
from royale.learn.player import NetworkPlayer
from royale.learn.sampling import pack_legal, single_action
from royale.learn.segment import run_segment
from royale.learn.trainer import Trainer
from royale.schemas import schema

RESTING = {**toy_game.SETTINGS, "rest": 4}  # three rows in four may only pass


def test_single_actions_by_hand():
    legal = np.zeros((4, 19), np.uint8)
    legal[0, [18]] = 1
    legal[1, [7, 8]] = 1
    legal[2, [0]] = 1
    legal[3, [16, 17]] = 1
    first, several = single_action(pack_legal(legal), 19)
    assert first.tolist() == [18, 7, 0, 16] and several.tolist() == [False, True, False, True]
    legal[2] = 0
    with pytest.raises(FloatingPointError, match="row 2: no legal action"):
        single_action(pack_legal(legal), 19)


def trained(learner, monkeypatch):
    """Indices of the samples of each minibatch, and the metrics of the update."""
    calls = spy(monkeypatch, learner.updater, "gather")
    metrics = learner.updater.update(learner.rollout, 0.0, 1, 1)
    return [args[1] for args, _ in calls], metrics


def test_an_update_counts_and_measures_choices(monkeypatch):
    learner = parts(horizon=40, settings=RESTING, sharp=300.0)
    samples = learner.rollout.samples
    parted, metrics = trained(learner, monkeypatch)
    choice = samples.n_legal > 1
    assert 0 < (~choice).sum() < 16 and choice.sum() < 0.4 * 40 * 16
    assert metrics["decisions"] == choice.sum()
    assert np.array_equal(np.sort(np.concatenate(parted)), np.arange(len(samples)))
    shares = samples.entropy[choice] / np.log(samples.n_legal[choice])
    assert metrics["entropy"] == pytest.approx(shares.mean(), rel=1e-5)
    assert metrics["ratio_max_abs_dev"] < 1e-4
    assert metrics["rows_dropped"] == 0


def test_a_row_without_a_choice_teaches_the_value_and_not_the_policy():
    learner = parts(horizon=40, settings=RESTING, sharp=300.0)
    only = np.flatnonzero(learner.rollout.samples.n_legal == 1)
    ones = np.ones(len(learner.rollout.samples), np.float32)
    batch = learner.updater.gather(learner.rollout.samples, only, ones, ones)
    losses = ppo.minibatch_losses(
        learner.network,
        learner.updater.codec,
        learner.recipe,
        0.5,
        batch,
        learner.updater.precision,
    )
    losses.total.backward()
    assert not learner.network.policy.weight.grad.any()
    assert learner.network.value.weight.grad.any()


def test_exploration_and_turned_samples_go_on_working(monkeypatch):
    learner = parts(horizon=40, settings=RESTING, sharp=300.0, explore_plane={"up": 0.5})
    assert learner.updater.update(learner.rollout, 0.0, 1, 1)["ratio_max_abs_dev"] < 1e-4
    samples, actors = learner.rollout.samples, learner.actors
    mixed = (samples.keep < 1) & (samples.n_legal > 1)
    assert 0.3 < actors.explored / mixed.sum() < 0.7
    turned = parts(horizon=40, settings=RESTING, sharp=300.0, symmetry="stored_samples")
    assert turned.updater.update(turned.rollout, 0.0, 1, 1)["ratio_max_abs_dev"] > 0.1


def test_reset_leaves_the_last_decision_of_a_truncated_game_out(monkeypatch):
    settings = {**RESTING, "max_turns": 5}  # too short to win
    learner = parts(horizon=20, settings=settings, truncation="reset", gae_lambda=0.0, gamma=0.5)
    calls = spy(monkeypatch, ppo, "gae")
    parted, _ = trained(learner, monkeypatch)
    rollout, samples = learner.rollout, learner.rollout.samples
    assert rollout.truncated[4].all()
    left_out = np.setdiff1d(np.arange(len(samples)), np.concatenate(parted))
    expected = [
        np.flatnonzero((samples.row == row) & (samples.turn // 5 == game))[-1:]
        for row in range(rollout.rows)
        for game in range(4)
    ]
    assert np.array_equal(left_out, np.sort(np.concatenate(expected)))
    # and bootstraps from the row's next decision, in another game
    returns = calls[0][1] + samples.value
    for m in left_out:
        later = np.flatnonzero((samples.row == samples.row[m]) & (samples.turn > samples.turn[m]))
        next_turn = samples.turn[later[0]] if later.size else 20
        value = samples.value[later[0]] if later.size else rollout.last_value[samples.row[m]]
        assert returns[m] == pytest.approx(value * 0.5 ** (next_turn - samples.turn[m]), abs=1e-5)


@pytest.mark.parametrize("epochs", [1, 2])
def test_rows_of_lost_games_are_not_trained_on_and_counted(monkeypatch, epochs):
    settings = {**toy_game.SETTINGS, "lose": [[5, 0], [5, 1], [9, 1]]}
    learner = parts(settings=settings, epochs=epochs, advantage_top=0.5)
    samples = learner.rollout.samples
    advantages = spy(monkeypatch, ppo, "normalise")
    parted, metrics = trained(learner, monkeypatch)
    # of game 0 turns 0-5, of game 1 turns 0-9 in its two episodes; no game is won so early
    gone = ((samples.row // 2 == 0) & (samples.turn <= 5)) | (
        (samples.row // 2 == 1) & (samples.turn <= 9)
    )
    assert metrics["rows_dropped"] == gone.sum() == 2 * (6 + 10)
    assert not np.isin(np.concatenate(parted), np.flatnonzero(gone)).any()
    assert metrics["samples_trained"] == (192 - 32) / 2
    (_, of), out = advantages[0]
    assert not of[gone].any()
    assert out[~gone].mean() == pytest.approx(0, abs=1e-6)


def test_a_segment_goes_on_where_games_are_lost(make_plan, tmp_path):
    """Iteration 1 loses two games; iteration 2 all of them in every turn."""
    lose = [[3, 2], [6, 5], *[[step, n] for step in range(12, 24) for n in range(8)]]
    plan = make_plan(settings={**RESTING, "max_turns": 200, "lose": lose})
    run_segment(plan, tmp_path, tmp_path / "partial", say=lambda line: None)
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    for row in rows:
        jsonschema.validate(row, schema("files/metrics"))
    assert [row["lost_games"] for row in rows] == [2, 96, 0, 0]
    assert rows[0]["rows_dropped"] > 0 and rows[0]["optimizer_steps"] > 0
    # nothing was left to train on: no step, and no number is made up
    second = rows[1]
    assert second["samples_trained"] == second["optimizer_steps"] == 0
    assert second["rows_dropped"] >= second["decisions"] > 0
    assert second["policy_loss"] is second["kl"] is second["ratio_max_abs_dev"] is None
    assert second["alarms"] == []
    assert rows[2]["optimizer_steps"] > 0 and rows[2]["rows_dropped"] == 0
    assert [row["agent_steps"] for row in rows] == [192, 384, 576, 768]


def test_without_a_decision_the_entropy_coefficient_stays(make_plan):
    trainer = Trainer(make_plan(settings={**toy_game.SETTINGS, "rest": 10**9}))
    trainer.coefficient = 0.1
    trainer.start()
    row = trainer.iterate()
    assert row["decisions"] == 0 and row["entropy"] is None
    assert row["samples_trained"] == 4 and row["optimizer_steps"] == 1  # a quarter of turn 0
    assert row["explored_share"] == 0
    assert trainer.coefficient == 0.1 != entropy.next_coefficient(0.1, 0.0, 0.1)


def test_it_resumes_exactly(make_plan, tmp_path):
    plan = make_plan(settings=RESTING, symmetry="per_episode", opponents={"past": 0.25})
    assert_resumes_exactly(plan, tmp_path)


def test_a_player_asks_its_network_only_where_it_has_a_choice(make_plan, tmp_path):
    run_segment(make_plan(steps=1, settings=RESTING), tmp_path, tmp_path / "p")
    player, asked = NetworkPlayer(tmp_path / "checkpoint.safetensors"), []
    player.network.register_forward_hook(lambda module, given, out: asked.append(len(given[0])))
    batch = toy_game.GAME.make(10, RESTING, "base")
    view = toy_game.first_view(batch)
    options = view.legal.sum(1)
    actions = player.act(view)
    assert asked == [(options > 1).sum()] and 0 < asked[0] < 10
    assert view.legal[np.arange(10), actions].all()
