"""A learner in its parts: what a trainer is made of, after one collection."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import toy_game

from royale.learn import checkpoint
from royale.learn.network import build_network
from royale.learn.optimizer import NetworkOptimizer
from royale.learn.ppo import Updater
from royale.learn.recipe import Recipe
from royale.learn.rollout import Actors
from royale.learn.samples import Rollout
from royale.learn.segment import run_segment

SMALL = dataclasses.replace(Recipe(), channels=8, blocks=1, minibatch=32, advantage_top=1.0)


def parts(games=8, horizon=12, settings=toy_game.SETTINGS, sharp=1.0, before=None, **changes):
    """Network, actors, updater and rollout of a recipe that differs by `changes`.

    sharp: factor on the policy head, whose logits are near 0 at the start;
    before(actors, network): called between the deal and the collection.
    """
    recipe = dataclasses.replace(SMALL, **changes)
    batch = toy_game.GAME.make(games, settings, recipe.encoder)
    network = build_network(batch.spec, recipe, 3)
    network.policy.weight.data *= sharp
    actors, rollout = Actors(toy_game.GAME, batch, recipe, ("t", 0)), Rollout(batch, horizon)
    actors.start()
    if before is not None:
        before(actors, network)
    actors.collect(network, rollout, 0)
    average = [p.detach().clone() for p in network.parameters()]
    optimizer = NetworkOptimizer(network, recipe)
    updater = Updater(toy_game.GAME, batch.spec, recipe, network, average, optimizer, "cpu")
    return SimpleNamespace(
        recipe=recipe, network=network, actors=actors, rollout=rollout, updater=updater
    )


def dense(rollout, name):
    """A field of the samples as (T, R, ...), zeros where there is no sample."""
    samples = rollout.samples
    field = getattr(samples, name)
    out = np.zeros((rollout.horizon, rollout.rows, *field.shape[1:]), field.dtype)
    out[samples.turn, samples.row] = field
    return out


def spy(monkeypatch, module, name):
    """Record the calls of module.name as (arguments, result)."""
    calls, real = [], getattr(module, name)

    def recorded(*args, **named):
        result = real(*args, **named)
        calls.append((args, result))
        return result

    monkeypatch.setattr(module, name, recorded)
    return calls


def assert_resumes_exactly(plan, folder):
    """Train a plan twice as long at once, and in two segments: the same arrays.

    Returns the arrays, and the folder of the second segment.
    """
    whole, first, second = (folder / name for name in ("whole", "0", "1"))

    def train(plan, out):
        run_segment(plan, out, out / "partial", say=lambda line: None)
        return checkpoint.load(out / "checkpoint.safetensors")[0]

    expected = train(dataclasses.replace(plan, steps=2 * plan.steps), whole)
    train(plan, first)
    start = first / "checkpoint.safetensors"
    got = train(dataclasses.replace(plan, segment=1, start="checkpoint", start_file=start), second)
    assert expected.keys() == got.keys()
    for name in expected:
        assert np.array_equal(expected[name], got[name]), name
    return got, second


def changed(name, value):
    """A change of a checkpoint's parts (arrays, meta): `value` of the array of that name."""
    return lambda arrays, meta: arrays.update({name: value(arrays[name])})


def reward_lost_at_the_cap(patch):
    """Break the actors: where the audit's games meet the turn cap, no reward is left."""
    step = Actors._step

    def broken(self, actions, reward):
        lost = step(self, actions, reward)
        reward[np.repeat(self.batch.results[-1].truncated, 2)] = 0.0
        return lost

    patch.setattr(Actors, "_step", broken)
