"""Collecting: rewards, resets, frames and storage, against a plain replay of the games."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
import toy_game

from royale import rng
from royale.learn.network import build_network
from royale.learn.recipe import Recipe
from royale.learn.rollout import Actors, Rollout
from royale.learn.sampling import pack_legal

RECIPE = dataclasses.replace(
    Recipe(),
    channels=8,
    blocks=1,
    gamma=0.9,
    draw_reward=-0.25,
    shaping={"land": 0.5},
    symmetry="per_episode",
)


def collected(recipe=RECIPE, games=6, horizon=50, settings=toy_game.SETTINGS):
    batch = toy_game.GAME.make(games, settings, "base")
    network = build_network(batch.spec, recipe, 3)
    actors, rollout = Actors(toy_game.GAME, batch, recipe, ("t", 0)), Rollout(batch, horizon)
    actors.start()
    actors.collect(network, rollout, 0)
    return network, actors, rollout


def test_a_rollout_is_what_a_plain_replay_of_its_actions_gives():
    """One game at a time, one turn at a time, from the stored actions."""
    games, horizon = 6, 50
    _, actors, rollout = collected(games=games, horizon=horizon)
    assert rollout.done.any() and not rollout.done.all()
    ends = 0
    for n in range(games):
        single = toy_game.GAME.make(1, toy_game.SETTINGS, "base")
        episode = 0

        def deal(episode, n=n, single=single):
            single.reset(np.array([0]), rng.fold(actors.board_key, np.array([n]), episode))
            for seat in (0, 1):
                key = rng.fold(actors.frame_key, n, episode, seat)
                single.frames[0, seat] = int(rng.uniform(key) * 4)
            out = np.zeros((1, 2, 1), np.float32)
            single.potentials(out)
            return 0.5 * out[0, :, 0]

        phi = deal(episode)
        for t in range(horizon):
            codes = np.zeros((1, 2, 3, 4, 4), np.uint8)
            scalars = np.zeros((1, 2, 1), np.float32)
            legal = np.zeros((1, 2, single.spec.n_actions), np.uint8)
            single.observe(codes, scalars, legal)
            rows = slice(2 * n, 2 * n + 2)
            assert np.array_equal(codes[0], rollout.codes[t, rows])
            assert np.array_equal(scalars[0], rollout.scalars[t, rows])
            assert np.array_equal(pack_legal(legal[0]), rollout.legal[t, rows])
            result = single.step(rollout.action[t, rows][None])
            after = np.zeros((1, 2, 1), np.float32)
            single.potentials(after)
            following = 0.5 * after[0, :, 0]
            if result.done[0]:
                outcome = {-1: (-0.25, -0.25), 0: (1, -1), 1: (-1, 1)}[int(result.winner[0])]
                expected = np.array(outcome) - phi
                ends += 1
                episode += 1
                phi = deal(episode)
            else:
                expected = 0.9 * following - phi
                phi = following
            assert np.allclose(rollout.reward[t, rows], expected, atol=1e-6)
            assert (rollout.done[t, rows] == result.done[0]).all()
    counted = actors.episode_statistics()
    assert counted["episodes"] == ends == rollout.done.sum() / 2
    assert 0 < counted["statistics"]["land"] <= 1


def test_shaping_telescopes_to_the_potential_at_the_start():
    """Whatever was played, the discounted shaped return is the outcome's less phi(start)."""
    _, _, shaped = collected()
    for row in range(shaped.rows):
        ends = np.flatnonzero(shaped.done[:, row])
        if ends.size:
            length = ends[0] + 1
            weights = 0.9 ** np.arange(length)
            total = float(weights @ shaped.reward[:length, row].astype(np.float64))
            # both seats start with one cell: phi(start) = 0; what is left is the outcome
            assert total / weights[-1] in [pytest.approx(x, abs=1e-4) for x in (1, -1, -0.25)]


def test_stored_values_and_log_probs_are_the_networks():
    network, _, rollout = collected(horizon=5)
    with torch.no_grad():
        for t in range(6):
            planes = toy_game.GAME.expand(
                torch.from_numpy(rollout.codes[t]), torch.from_numpy(rollout.scalars[t]), "base"
            )
            logits, value = network(planes)
            stored = rollout.value[t] if t < 5 else rollout.last_value
            assert np.allclose(value[:, 0], stored, atol=1e-6)
            if t < 5:
                bits = np.unpackbits(rollout.legal[t], axis=-1, count=logits.shape[1])
                masked = logits.masked_fill(~torch.from_numpy(bits).bool(), -torch.inf)
                log_p = torch.log_softmax(masked, 1).numpy()
                chosen = log_p[np.arange(rollout.rows), rollout.action[t]]
                assert np.allclose(chosen, rollout.log_prob[t], atol=1e-5)


def test_frames_are_drawn_each_episode_or_never():
    _, actors, _ = collected(games=64, horizon=2)
    counts = np.bincount(actors.batch.frames.reshape(-1), minlength=4)
    assert (counts > 10).all()
    _, actors, _ = collected(dataclasses.replace(RECIPE, symmetry="none"), games=64, horizon=2)
    assert not actors.batch.frames.any()


def test_a_turn_cap_is_a_draw():
    _, actors, rollout = collected(horizon=9, settings={"side": 4, "max_turns": 3})
    assert rollout.done[2].all() and rollout.done[5].all() and not rollout.done[3].any()
    counted = actors.episode_statistics()
    assert counted["draw_share"] == counted["truncated_share"] == 1.0
    assert counted["game_length"] == 3.0


def test_unknown_potentials_are_refused():
    with pytest.raises(ValueError, match=r"unknown potentials \['gold'\]"):
        collected(dataclasses.replace(RECIPE, shaping={"gold": 1.0}))
