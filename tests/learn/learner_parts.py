"""A learner in its parts: what a trainer is made of, after one collection."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import toy_game

from royale.learn.network import build_network
from royale.learn.optimizer import NetworkOptimizer
from royale.learn.ppo import Updater
from royale.learn.recipe import Recipe
from royale.learn.rollout import Actors
from royale.learn.samples import Rollout

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
