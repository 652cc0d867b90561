"""Arms that change who plays, what is stored and how it is computed: each must act."""

from __future__ import annotations

import copy
import dataclasses
import json

import jsonschema
import numpy as np
import pytest
import torch
import toy_game
from learner_parts import assert_resumes_exactly, dense, parts, spy

from royale import rng
from royale.errors import ConfigError
from royale.games.protocol import View
from royale.learn import checkpoint, opponents, ppo
from royale.learn.segment import run_segment
from royale.learn.trainer import Trainer
from royale.schemas import schema

CAPPED = {"side": 4, "max_turns": 2}  # too short to win
PASS = 64  # the toy's global action
MIXED = {"past": 0.25, "scripted": 0.25, "random": 0.25}


def trained_rows(learner, monkeypatch, advantages=None):
    """Flat indices of the samples that an update trains on."""
    calls = spy(monkeypatch, learner.updater, "gather")
    metrics = learner.updater.update(learner.rollout, 0.0, 1, 1)
    if advantages is not None:
        advantages.append(calls[0][0][2])
    return np.sort(np.concatenate([args[1] for args, _ in calls])), metrics


# symmetry


def test_stored_samples_are_turned_and_the_deviation_is_shown():
    learner = parts(sharp=300.0, symmetry="stored_samples", minibatch=192)
    samples = learner.rollout.samples
    n = len(samples)
    assert not learner.actors.batch.frames.any()
    zeros = np.zeros(n, np.float32)
    batch = learner.updater.gather(samples, np.arange(n), zeros, zeros, 5)
    codes = torch.from_numpy(samples.codes)
    scalars = torch.from_numpy(samples.scalars)
    stored = toy_game.GAME.expand(codes, scalars, "base")
    kept = (batch.planes == stored).flatten(1).all(1).float().mean()
    assert 0.1 < kept < 0.6  # a quarter meets the identity, and some boards look alike
    legal = np.unpackbits(batch.legal.numpy(), axis=-1, count=65)
    assert legal[np.arange(n), batch.action.numpy()].all()
    assert learner.updater.update(learner.rollout, 0.0, 1, 1)["ratio_max_abs_dev"] > 0.1


def test_frames_drawn_before_inference_keep_the_ratio_a_ratio():
    learner = parts(sharp=300.0, symmetry="per_episode", minibatch=192)
    assert learner.updater.update(learner.rollout, 0.0, 1, 1)["ratio_max_abs_dev"] < 1e-4


def test_stored_samples_need_a_game_that_can_turn_them(monkeypatch):
    monkeypatch.delattr(toy_game.ToyGame, "transform")
    with pytest.raises(ConfigError, match="'stored_samples': toy has no `transform`; allowed"):
        parts(symmetry="stored_samples")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"symmetry": "stored_samples"}, "the ratio is no ratio"),
        ({"truncation": "reset"}, "bootstraps from the next game"),
    ],
)
def test_negative_controls_warn_at_the_start(make_plan, tmp_path, change, line):
    said = []
    run_segment(make_plan(steps=1, **change), tmp_path, tmp_path / "p", None, said.append)
    assert said[0].startswith("warning: ") and "negative control" in said[0] and line in said[0]


# truncation


@pytest.mark.parametrize("truncation", ["terminal", "reset"])
def test_truncation_in_its_three_places(monkeypatch, truncation):
    calls = spy(monkeypatch, ppo, "gae")
    learner = parts(
        settings=CAPPED, truncation=truncation, draw_reward=-0.5, gae_lambda=0.0, gamma=0.9
    )
    rows, _ = trained_rows(learner, monkeypatch)
    rollout = learner.rollout
    value = dense(rollout, "value")
    returns = calls[0][1].reshape(value.shape) + value
    cut = rollout.truncated[:-1]
    assert cut[1].all() and cut.sum() == 5 * rollout.rows
    following = 0.9 * value[1:][cut]
    trained = np.zeros(rollout.done.size, bool)
    trained[rows] = True
    trained = trained.reshape(rollout.done.shape)
    if truncation == "terminal":
        assert (rollout.reward[rollout.truncated] == -0.5).all()
        assert np.allclose(returns[:-1][cut], -0.5)
        assert trained.all()
    else:
        assert (rollout.reward[rollout.truncated] == 0).all()
        assert np.allclose(returns[:-1][cut], following, atol=1e-6)
        assert (trained == ~rollout.truncated).all()


def test_reset_still_cuts_where_a_game_was_won(monkeypatch):
    calls = spy(monkeypatch, ppo, "gae")
    learner = parts(horizon=40, truncation="reset", gae_lambda=0.0)
    learner.updater.update(learner.rollout, 0.0, 1, 1)
    samples, reward = learner.rollout.samples, learner.rollout.reward
    won = reward[samples.turn, samples.row] == 1
    assert won.any()
    assert np.allclose((calls[0][1] + samples.value)[won], 1.0, atol=1e-6)


# opponents


def passing(actors, network):
    """Put a past self into the pool that always passes."""
    frozen = copy.deepcopy(network)
    with torch.no_grad():
        frozen.policy.weight.zero_()
        frozen.policy.bias[4] = 50.0
    actors.opponents.past = [frozen]


@pytest.mark.parametrize("rest", [1, 3])
def test_each_opponent_plays_its_rows_and_no_other(rest):
    seen = []

    def before(actors, network):
        passing(actors, network)
        honest = actors._observe
        seen.append(actors.legal.copy())
        actors._observe = lambda: (honest(), seen.append(actors.legal.copy()))

    settings = {**toy_game.SETTINGS, "rest": rest}
    learner = parts(horizon=20, settings=settings, before=before, opponents=MIXED)
    rollout, kinds = learner.rollout, learner.actors.opponents.kind
    assert kinds.tolist() == [0, 0, 1, 1, 2, 2, -1, -1]
    other = ~rollout.learner.reshape(20, 8, 2)
    assert (other.sum(2) == (kinds >= 0)).all()
    action = rollout.action.reshape(20, 8, 2)
    legal = np.stack(seen[:20])
    assert (action[:, :2][other[:, :2]] == PASS).all()
    assert (action[:, :2][~other[:, :2]] != PASS).any()
    assert (action[:, 2:4] == legal[:, 2:4].argmax(-1))[other[:, 2:4]].all()
    for t in range(20):
        keys = rng.fold(learner.actors.action_key, t, np.arange(16)).reshape(8, 2)
        for game in (4, 5):
            seat = int(np.flatnonzero(other[t, game])[0])
            view = View(None, None, legal[t, game, seat][None], None, keys[game, seat : seat + 1])
            assert toy_game.RandomPlayer().act(view)[0] == action[t, game, seat]


def test_the_opponents_seat_alternates_by_episode():
    learner = parts(horizon=30, settings=CAPPED, opponents={"random": 1.0})
    other = ~learner.rollout.learner.reshape(30, 8, 2)
    game = np.arange(8)
    for episode in range(15):
        seat = (game + episode) % 2
        assert other[2 * episode : 2 * episode + 2, game, seat].all()


def test_opponents_rows_are_neither_trained_on_nor_counted(monkeypatch):
    learner, advantages = parts(before=passing, opponents=MIXED), []
    rows, metrics = trained_rows(learner, monkeypatch, advantages)
    samples = learner.rollout.samples
    assert learner.rollout.learner[samples.turn, samples.row].all()
    mine = np.arange(len(samples))
    assert np.array_equal(rows, mine) and mine.size == 192 - 6 * 12
    assert metrics["samples_trained"] == mine.size
    assert metrics["learner_share"] == pytest.approx(10 / 16)
    assert advantages[0][mine].mean() == pytest.approx(0, abs=1e-6)
    assert advantages[0][mine].std() == pytest.approx(1, abs=1e-4)


def test_the_win_rate_is_the_learners_against_each_kind():
    learner = parts(horizon=60, before=passing, opponents=MIXED)
    rollout, rates = learner.rollout, learner.actors.episode_statistics()["win_rate"]
    reward = rollout.reward.reshape(60, 8, 2)
    ended = (rollout.done & rollout.learner).reshape(60, 8, 2)
    for kind, name in enumerate(opponents.OPPONENTS):
        games = learner.actors.opponents.kind == kind
        won = (reward[:, games] == 1)[ended[:, games]]
        assert won.size and rates[name] == pytest.approx(won.mean())
    assert rates["past"] > 0
    land = parts(horizon=60, before=passing, opponents={"past": 1.0}).actors.episode_statistics()
    assert land["statistics"]["land"] > 2 / 16  # one who passes keeps 1 cell; its seat is left out
    assert parts().actors.episode_statistics()["win_rate"] == dict.fromkeys(rates)


def test_past_selves_are_snapshots_of_the_averaged_weights(make_plan, monkeypatch):
    monkeypatch.setattr(opponents, "REFRESH", 2)
    monkeypatch.setattr(opponents, "POOL", 2)
    trainer, trail = Trainer(make_plan(opponents={"past": 0.5}, ema_decay=0.5)), []
    trainer.start()
    for _ in range(5):
        trail.append([p.clone() for p in trainer.average.parameters()])
        trainer.iterate()
    # before iterations 0, 2 and 4; the third replaced the first
    for network, kept in zip(trainer.actors.opponents.past, (4, 2), strict=True):
        assert all(
            torch.equal(*pair) for pair in zip(network.parameters(), trail[kept], strict=True)
        )
    assert set(trainer.actors.opponents.member[:4]) == {0, 1}


def test_a_run_with_past_selves_resumes_exactly(make_plan, tmp_path, monkeypatch):
    monkeypatch.setattr(opponents, "REFRESH", 2)
    plan = make_plan(opponents=MIXED, explore_plane={"up": 0.1})
    got, second = assert_resumes_exactly(plan, tmp_path)
    assert sum(name.startswith("opponents/past/3/") for name in got)
    for line in (second / "metrics.jsonl").read_text().splitlines():
        jsonschema.validate(json.loads(line), schema("files/metrics"))


@pytest.mark.parametrize(
    ("shares", "line"),
    [
        ({"past": 0.6, "random": 0.5}, "sums to 1.1; allowed: <= 1"),
        ({"past": 0.1}, r"'opponents\.past' = 0\.1 of 8 games is none; allowed: 0 or >= 0\.125"),
    ],
)
def test_impossible_shares_are_refused(shares, line):
    with pytest.raises(ConfigError, match=line):
        parts(opponents=shares)


def test_a_game_without_scripted_players_says_so(monkeypatch):
    monkeypatch.setattr(toy_game.ToyGame, "scripted", ("random",))
    with pytest.raises(ConfigError, match="toy has no scripted player"):
        parts(opponents={"scripted": 0.5})


# settings


def test_settings_rule_training_and_leave_the_matches_alone(make_plan, tmp_path):
    rows = []
    plan = make_plan()
    recipe = {**plan.recipe, "settings": {"max_turns": 3}}
    plan = dataclasses.replace(plan, recipe=recipe)
    run_segment(plan, tmp_path, tmp_path / "partial", lambda row, total: rows.append(row))
    assert all(row["game_length"] <= 3 and row["truncated_share"] > 0.5 for row in rows)
    path = tmp_path / "champion.safetensors"
    checkpoint.champion_from_checkpoint(tmp_path / "checkpoint.safetensors", path, [])
    assert checkpoint.load(path)[1]["settings"] == toy_game.SETTINGS
