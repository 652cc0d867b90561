"""Forced actions: how often, with which log-probability, and what the ratio is then."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import toy_game
from learner_parts import parts

from royale.errors import ConfigError
from royale.learn import ppo
from royale.learn.explore import PlaneExplorer, mixture_log_prob
from royale.learn.ppo import minibatch_losses
from royale.rng import fold

SPEC = toy_game.GAME.spec(toy_game.SETTINGS, "base")
ROWS = 20_000


def mixed(probabilities, legal, logits, action):
    """The mixture at ROWS copies of one position."""
    rows = np.tile(legal, (ROWS, 1))
    return PlaneExplorer(probabilities, SPEC).mix(
        np.full(ROWS, action, np.int32),
        torch.from_numpy(np.tile(logits, (ROWS, 1))),
        rows,
        fold(3, np.arange(ROWS)),
    )


@pytest.fixture
def position():
    legal = np.zeros(65, np.uint8)
    legal[[2, 5, 9, 20, 64]] = 1  # three of plane "up", one of "right", pass
    return legal, np.linspace(-1, 1, 65, dtype=np.float32)


def test_each_legal_action_of_the_plane_gets_its_share(position):
    legal, logits = position
    out = mixed({"up": 0.3, "right": 0.1}, legal, logits, 64)
    share = np.bincount(out.action, minlength=65) / ROWS
    assert share[[2, 5, 9]] == pytest.approx(0.1, abs=0.01)
    assert share[20] == pytest.approx(0.1, abs=0.01)
    assert share[64] == pytest.approx(0.6, abs=0.015)
    assert out.explored.mean() == pytest.approx(0.4, abs=0.015)
    assert legal[out.action].all()


def test_the_log_prob_is_the_mixtures(position):
    legal, logits = position
    out = mixed({"up": 0.3}, legal, logits, 64)
    pi = np.where(legal, np.exp(logits.astype(np.float64)), 0)
    pi /= pi.sum()
    b = 0.7 * pi
    b[[2, 5, 9]] += 0.1
    assert b.sum() == pytest.approx(1)
    assert np.allclose(np.exp(out.log_prob), b[out.action], rtol=1e-5)


def test_a_plane_without_legal_actions_changes_nothing(position):
    legal, logits = position
    out = mixed({"left": 0.9}, legal, logits, 64)
    assert (out.action == 64).all() and not out.explored.any()
    assert (out.keep == 1).all() and (out.forced == 0).all()


def test_a_rollout_holds_the_mixture_and_passes_the_on_policy_check():
    learner = parts(sharp=300.0, explore_plane={"up": 0.5}, minibatch=192)
    plain = parts(sharp=300.0)
    rollout = learner.rollout
    up = (rollout.action[0] < 16).mean()
    assert up > (plain.rollout.action[0] < 16).mean() + 0.15
    assert 0.1 < learner.actors.explored / 192 < 0.6
    assert set(np.unique(rollout.samples.keep)) == {np.float32(0.5), np.float32(1.0)}
    assert learner.updater.update(rollout, 0.0, 1, 1)["ratio_max_abs_dev"] < 1e-4


def test_the_policys_own_log_prob_in_its_place_is_refused():
    learner = parts(sharp=300.0, explore_plane={"up": 0.5}, minibatch=192)
    learner.rollout.samples.keep[:], learner.rollout.samples.forced[:] = 1.0, 0.0
    with pytest.raises(ppo.TrainingError, match="recomputed log-probabilities differ"):
        learner.updater.update(learner.rollout, 0.0, 1, 1)


def test_the_gradient_is_that_of_the_mixture():
    """d log b = (keep pi / b) d log pi: a forced action credits the policy with its part only."""
    log_pi = torch.tensor([-3.0, -0.5], requires_grad=True)
    keep, forced = torch.tensor([0.7, 0.7]), torch.tensor([0.1, 0.0])
    mixture_log_prob(log_pi, keep, forced).sum().backward()
    pi = log_pi.detach().exp()
    assert torch.allclose(log_pi.grad, 0.7 * pi / (0.7 * pi + forced))


def test_the_loss_sees_the_mixture():
    learner = parts(sharp=300.0, explore_plane={"up": 0.5})
    n = len(learner.rollout.samples)
    ones = np.ones(n, np.float32)
    batch = learner.updater.gather(learner.rollout.samples, np.arange(n), ones, ones)
    losses = minibatch_losses(
        learner.network,
        learner.updater.codec,
        learner.recipe,
        0.0,
        batch,
        learner.updater.precision,
    )
    assert losses.log_ratio.abs().max() < 1e-4


def test_unknown_planes_and_sums_of_1_are_refused():
    line = r"'explore_plane\.build': .* no such action plane; allowed: up, right, down, left"
    with pytest.raises(ConfigError, match=line):
        parts(explore_plane={"build": 0.1})
    with pytest.raises(ConfigError, match=r"sums to 1\.1; allowed: < 1"):
        parts(explore_plane={"up": 0.6, "left": 0.5})
