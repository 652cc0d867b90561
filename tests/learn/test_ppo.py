"""The update: accumulation, the moving average, and that it learns."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
import torch
import toy_game

from royale import rng
from royale.games.protocol import View
from royale.learn import checkpoint
from royale.learn.network import build_network
from royale.learn.optimizer import NetworkOptimizer
from royale.learn.player import NetworkPlayer
from royale.learn.ppo import Updater, minibatch_losses, split_evenly
from royale.learn.recipe import Recipe
from royale.learn.rollout import Actors
from royale.learn.samples import Rollout
from royale.learn.segment import run_segment

RECIPE = dataclasses.replace(Recipe(), channels=8, blocks=1, minibatch=32, advantage_top=1.0)


def prepared(recipe, games=8, horizon=12):
    batch = toy_game.GAME.make(games, toy_game.SETTINGS, "base")
    network = build_network(batch.spec, recipe, 3)
    actors, rollout = Actors(toy_game.GAME, batch, recipe, ("t", 0)), Rollout(batch, horizon)
    actors.start()
    actors.collect(network, rollout, 0)
    average = [p.detach().clone() for p in network.parameters()]
    updater = Updater(
        toy_game.GAME,
        batch.spec,
        recipe,
        network,
        average,
        NetworkOptimizer(network, recipe),
        "cpu",
    )
    return network, updater, rollout


@pytest.mark.parametrize("head", ["scalar", "hl_gauss"])
@pytest.mark.parametrize("size", [192, 100, 64, 7, 1])
def test_gradients_accumulated_over_minibatches_are_those_of_the_whole(size, head):
    recipe = dataclasses.replace(RECIPE, value_head=head)
    network, updater, rollout = prepared(recipe)
    samples = rollout.samples
    n = len(samples)
    generator = np.random.default_rng(0)
    advantages, returns = generator.normal(size=(2, n)).astype(np.float32)
    samples.log_prob += generator.normal(0, 0.2, n).astype(np.float32)

    def gradient(parts):
        network.zero_grad()
        for part in parts:
            batch = updater.gather(samples, part, advantages, returns)
            losses = minibatch_losses(network, updater.codec, recipe, 0.1, batch, updater.precision)
            (losses.total * (part.size / n)).backward()
        return torch.cat([p.grad.flatten() for p in network.parameters()])

    whole = gradient([np.arange(n)])
    parts = gradient(split_evenly(rng.permutation(1, n), size))
    assert torch.allclose(whole, parts, atol=1e-5 * whole.abs().max().item() + 1e-7)


def test_the_loss_is_the_sum_of_its_parts():
    network, updater, rollout = prepared(RECIPE)
    samples = rollout.samples
    n = len(samples)
    zeros = np.zeros(n, np.float32)
    batch = updater.gather(samples, np.arange(n), zeros + 2.0, zeros + 1.0)
    losses = minibatch_losses(network, updater.codec, RECIPE, 0.3, batch, updater.precision)
    assert losses.policy.item() == pytest.approx(-2.0, abs=1e-4)  # every ratio is 1
    value = 0.5 * ((samples.value - 1.0) ** 2).mean()
    assert losses.value.item() == pytest.approx(value, rel=1e-4)
    shares = np.where(
        samples.n_legal > 1, samples.entropy / np.log(np.maximum(samples.n_legal, 2)), 0
    )
    assert losses.entropy.item() == pytest.approx(shares.mean(), rel=1e-4)
    total = losses.policy + RECIPE.value_coef * losses.value - 0.3 * losses.entropy
    assert losses.total.item() == pytest.approx(total.item())


def test_the_moving_average_is_its_closed_form():
    recipe = dataclasses.replace(RECIPE, ema_decay=0.9, minibatch=48)
    network, updater, rollout = prepared(recipe)
    trail = [copy.deepcopy(list(network.parameters()))]
    step = updater.optimizer.step

    def recorded():
        step()
        trail.append(copy.deepcopy(list(network.parameters())))

    updater.optimizer.step = recorded
    metrics = updater.update(rollout, 0.0, 1, 1)
    assert metrics["optimizer_steps"] == len(trail) - 1 == 4
    for i, average in enumerate(updater.average):
        # copied at the start, so the weights of the sum are 0.9^k and 0.1 * 0.9^(k-j)
        expected = 0.9**4 * trail[0][i]
        for j in range(1, 5):
            expected = expected + 0.1 * 0.9 ** (4 - j) * trail[j][i]
        assert torch.allclose(average, expected, atol=1e-6)


def test_decay_0_keeps_the_last_weights():
    network, updater, rollout = prepared(dataclasses.replace(RECIPE, ema_decay=0.0))
    updater.update(rollout, 0.0, 1, 1)
    for average, parameter in zip(updater.average, network.parameters(), strict=True):
        assert torch.equal(average, parameter)


def test_the_top_fraction_and_epochs_decide_the_steps():
    recipe = dataclasses.replace(RECIPE, advantage_top=0.25, epochs=3, minibatch=20)
    _, updater, rollout = prepared(recipe)
    metrics = updater.update(rollout, 0.0, 1, 1)
    assert metrics["samples_trained"] == 48
    assert metrics["optimizer_steps"] == 3 * 3
    assert metrics["ratio_max_abs_dev"] < 1e-5


def play(player, opponent, n=200):
    """Shares of n toy games won, lost by `player`, seats in turn."""
    batch = toy_game.GAME.make(n, toy_game.SETTINGS, "base")
    spec, games = batch.spec, np.arange(n)
    batch.reset(games, rng.fold(rng.key_of("match"), games))
    codes = np.zeros((n, 2, 3, 4, 4), np.uint8)
    scalars = np.zeros((n, 2, 1), np.float32)
    legal = np.zeros((n, 2, spec.n_actions), np.uint8)
    actions, result = np.zeros((n, 2), np.int32), None
    for turn in range(spec.max_turns):
        batch.observe(codes, scalars, legal)
        for which, who in enumerate((player, opponent)):
            seats = (games + which) % 2
            keys = rng.fold(rng.key_of("match", which), games, turn)
            view = View(
                codes[games, seats],
                scalars[games, seats],
                legal[games, seats],
                batch.turns.copy(),
                keys,
            )
            actions[games, seats] = who.act(view)
        result = batch.step(actions)
    return (result.winner == games % 2).mean(), (result.winner == 1 - games % 2).mean()


@pytest.mark.parametrize(
    "change",
    [
        {"learning_rate": 1e-2, "steps": 30_000},
        {"optimizer": "muon", "value_head": "hl_gauss", "learning_rate": 5e-3, "steps": 50_000},
    ],
)
def test_it_learns_to_beat_the_random_player(make_plan, tmp_path, change):
    plan = make_plan(
        envs=32,
        horizon=16,
        minibatch=128,
        advantage_top=1.0,
        gamma=0.95,
        gae_lambda=0.9,
        **change,
    )
    run_segment(plan, tmp_path, tmp_path / "partial")
    player = NetworkPlayer(tmp_path / "checkpoint.safetensors")
    won, lost = play(player, toy_game.RandomPlayer())
    assert won > 0.7 and lost < 0.2, (won, lost)


def test_a_player_is_reproducible_and_independent_of_its_batch(make_plan, tmp_path, monkeypatch):
    run_segment(make_plan(steps=1), tmp_path, tmp_path / "partial")
    champion = tmp_path / "champion.safetensors"
    checkpoint.champion_from_checkpoint(tmp_path / "checkpoint.safetensors", champion, [])
    view = toy_game.first_view(toy_game.GAME.make(10, toy_game.SETTINGS, "base"))
    actions = NetworkPlayer(champion).act(view)
    assert actions.dtype == np.int32
    assert view.legal[np.arange(10), actions].all()
    monkeypatch.setattr("royale.learn.player.CHUNK", 3)
    assert np.array_equal(actions, NetworkPlayer(tmp_path / "checkpoint.safetensors").act(view))
    greedy = NetworkPlayer(champion, greedy=True)
    logits = greedy.logits(view.codes.copy(), view.scalars.copy())
    masked = logits.masked_fill(torch.from_numpy(view.legal) == 0, -torch.inf)
    assert np.array_equal(greedy.act(view), masked.argmax(1).numpy())
