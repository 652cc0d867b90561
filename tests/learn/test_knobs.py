"""Each plain knob acts where it should: its specific effect, not that something differs."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from learner_parts import dense, parts, spy

from royale.errors import ConfigError
from royale.learn import entropy, ppo
from royale.learn.ppo import minibatch_losses
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer


def losses(learner, advantages, returns, coefficient=0.0):
    """The loss of all samples, with constant advantages and returns where numbers are given."""
    n = len(learner.rollout.samples)
    constants = (np.zeros(n, np.float32) + np.asarray(x, np.float32) for x in (advantages, returns))
    batch = learner.updater.gather(learner.rollout.samples, np.arange(n), *constants)
    return minibatch_losses(
        learner.network,
        learner.updater.codec,
        learner.recipe,
        coefficient,
        batch,
        learner.updater.precision,
    )


def returns_of(monkeypatch, **changes):
    """A learner's rollout and the returns that its update works with, both (T, R)."""
    calls = spy(monkeypatch, ppo, "gae")
    learner = parts(horizon=40, **changes)
    learner.updater.update(learner.rollout, 0.0, 1, 1)
    value = dense(learner.rollout, "value")
    return learner.rollout, calls[0][1].reshape(value.shape) + value


def test_gamma_discounts_what_is_won_later(monkeypatch):
    rollout, returns = returns_of(monkeypatch, gamma=0.5, gae_lambda=1.0)
    wins = np.argwhere((rollout.reward == 1) & rollout.done)
    assert len(wins)
    for t, row in wins:
        for back in range(1, 5):
            if t >= back and not rollout.done[t - back : t, row].any():
                assert returns[t - back, row] == pytest.approx(0.5**back, abs=1e-5)


def test_gae_lambda_0_looks_one_turn_ahead(monkeypatch):
    rollout, returns = returns_of(monkeypatch, gamma=0.9, gae_lambda=0.0)
    ahead = rollout.reward[:-1] + 0.9 * dense(rollout, "value")[1:] * ~rollout.done[:-1]
    assert np.allclose(returns[:-1], ahead, atol=1e-6)


def test_clip_bounds_the_ratio():
    for clip, expected in ((0.2, -1.2), (0.6, -1.5)):
        learner = parts(clip=clip)
        learner.rollout.samples.log_prob -= np.log(1.5).astype(np.float32)
        got = losses(learner, 1.0, 0.0)
        assert got.policy.item() == pytest.approx(expected, abs=1e-4)
        clipped = learner.updater._measure(got, torch.tensor(0.0), 1.0)[3]
        assert clipped.item() == (1.0 if clip < 0.5 else 0.0)


def test_value_coef_weighs_the_value_loss():
    got = losses(parts(value_coef=3.0), 0.0, 2.0)
    assert got.total.item() == pytest.approx(got.policy.item() + 3 * got.value.item(), rel=1e-5)


def test_value_clip_holds_a_value_that_has_moved_far_enough():
    for clip, moves in ((0.0, True), (0.1, False), (0.9, True)):
        learner = parts(value_clip=clip)
        with torch.no_grad():
            learner.network.value.bias += 0.5
        target = learner.rollout.samples.value + 1.0
        got = losses(learner, 0.0, target)
        got.total.backward()
        assert bool(learner.network.value.bias.grad.abs() > 1e-3) == moves, clip
        # half of (0.5 away from the target)^2, or of (0.9 away)^2
        assert got.value.item() == pytest.approx(0.405 if clip == 0.1 else 0.125, rel=1e-3)


def test_value_clip_by_hand_takes_the_greater_error():
    codec = parts().updater.codec
    outputs, old = torch.tensor([[0.5], [0.5]]), torch.tensor([0.0, 0.0])
    # towards the target: clipped to 0.1, error 0.9; away from it: not clipped, error 1.5
    loss = codec.clipped_loss(outputs, torch.tensor([1.0, -1.0]), old, 0.1)
    assert loss.item() == pytest.approx(0.5 * (0.9**2 + 1.5**2) / 2)
    with pytest.raises(ConfigError, match=r"'value_clip' = 0\.1 .*'hl_gauss'; allowed: 0"):
        parts(value_clip=0.1, value_head="hl_gauss")


def test_max_grad_norm_is_the_norm_of_what_is_stepped():
    learner = parts(max_grad_norm=0.01, minibatch=1000)
    norms, step = [], learner.updater.optimizer.step

    def recorded():
        norms.append(torch.cat([p.grad.flatten() for p in learner.network.parameters()]).norm())
        step()

    learner.updater.optimizer.step = recorded
    before = learner.updater.update(learner.rollout, 0.0, 1, 1)["grad_norm"]
    assert before > 0.02
    assert norms[0].item() == pytest.approx(0.01, rel=1e-3)


def test_epochs_and_minibatch_decide_the_optimizer_steps():
    for epochs, minibatch, expected in ((1, 32, 6), (2, 32, 12), (1, 16, 12), (1, 192, 1)):
        learner = parts(epochs=epochs, minibatch=minibatch)
        metrics = learner.updater.update(learner.rollout, 0.0, 1, 1)
        assert metrics["optimizer_steps"] == expected


def test_advantage_top_trains_on_exactly_its_share():
    for share, expected in ((1.0, 192), (0.25, 48), (0.1, 20)):
        learner = parts(advantage_top=share)
        assert learner.updater.update(learner.rollout, 0.0, 1, 1)["samples_trained"] == expected


def test_entropy_floor_decides_when_the_coefficient_rises(make_plan):
    for floor, expected in ((1.0, 1.3**3), (0.0, 1.0)):
        trainer = Trainer(make_plan(entropy_floor=floor))
        trainer.start()
        for _ in range(3):
            trainer.iterate()
        assert trainer.coefficient == pytest.approx(entropy.SMALLEST * expected)


def test_the_entropy_coefficient_raises_the_entropy():
    def share(coefficient):
        learner = parts(sharp=300.0, learning_rate=1e-2, epochs=4, advantage_top=1.0)
        before = learner.rollout.samples.entropy.mean()
        learner.updater.update(learner.rollout, coefficient, 1, 1)
        learner.actors.collect(learner.network, learner.rollout, 12)
        return learner.rollout.samples.entropy.mean() - before

    assert share(1.0) > 0.1 + share(0.0)


def test_learning_rate_and_weight_decay_reach_the_optimizer(make_plan):
    plan = make_plan(learning_rate=0.125, weight_decay=0.25, optimizer="muon")
    optimizer = Trainer(plan).optimizer
    for group in (*optimizer._adamw.param_groups, *optimizer._muon.param_groups):
        assert (group["lr"], group["weight_decay"]) == (0.125, 0.25)


def test_warmup_raises_the_learning_rate_and_resumes(make_plan, monkeypatch):
    trainer = Trainer(make_plan(learning_rate=0.01, warmup=4, optimizer="muon"))
    trainer.start()
    rates = []
    honest = trainer.optimizer.step

    def watched():
        groups = (*trainer.optimizer._adamw.param_groups, *trainer.optimizer._muon.param_groups)
        rates.append((trainer.iteration, {group["lr"] for group in groups}))
        honest()

    monkeypatch.setattr(trainer.optimizer, "step", watched)
    for _ in range(2):
        trainer.iterate()
    # whatever the optimizer held, the iteration alone decides
    trainer.optimizer.warm(7.0)
    for _ in range(4):
        trainer.iterate()
    found = dict(rates)
    for iteration, share in enumerate((0.2, 0.4, 0.6, 0.8, 1.0, 1.0)):
        assert list(found[iteration]) == [pytest.approx(0.01 * share)], iteration


def test_channels_blocks_encoder_and_value_head_shape_the_network(make_plan):
    network = Trainer(
        make_plan(channels=12, blocks=3, encoder="wide", value_head="hl_gauss")
    ).network
    assert network.stem.weight.shape[:2] == (12, 7)
    assert len(network.blocks) == 3
    assert network.value.out_features == 128


def test_the_table_of_arms_has_every_knob_and_names_real_tests():
    here = Path(__file__).parent
    text = (here.parents[1] / "docs/learner.md").read_text()
    rows = [line.split("|")[1:3] for line in text.splitlines() if "| `test_" in line]
    knobs = {word for row in rows for word in re.findall(r"`(\w+)", row[0])}
    assert knobs == {f.name for f in dataclasses.fields(Recipe)}
    named = {word for row in rows for word in re.findall(r"`(test_\w+)`", row[1])}
    files = " ".join(path.read_text() for path in here.glob("test_*.py"))
    assert named <= set(re.findall(r"def (test_\w+)", files))
