"""Collecting: rewards, resets, frames and storage, against a plain replay of the games."""

from __future__ import annotations

import dataclasses

import numpy as np
import psutil
import pytest
import torch
import toy_game

from royale import rng
from royale.learn.network import build_network
from royale.learn.recipe import Recipe
from royale.learn.rollout import Actors
from royale.learn.samples import Rollout, Samples
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


RESTING = {**toy_game.SETTINGS, "rest": 4}  # three rows in four may only pass
PASS = 64


@pytest.mark.parametrize("settings", [toy_game.SETTINGS, RESTING])
def test_a_rollout_is_what_a_plain_replay_of_its_actions_gives(settings):
    """One game at a time, one turn at a time, from the stored actions."""
    games, horizon = 6, 50
    _, actors, rollout = collected(games=games, horizon=horizon, settings=settings)
    assert rollout.done.any() and not rollout.done.all()
    samples = rollout.samples
    index = {(t, r): m for m, (t, r) in enumerate(zip(samples.turn, samples.row, strict=True))}
    assert sorted(index) == list(index) and len(index) == len(samples)
    ends, chose, total = 0, 0, 0
    for n in range(games):
        single = toy_game.GAME.make(1, settings, "base")
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
            for seat in (0, 1):
                total += 1
                options = np.flatnonzero(legal[0, seat])
                m = index.pop((t, 2 * n + seat), None)
                # who had a choice is a sample, and at the start everyone is
                assert (m is not None) == (options.size > 1 or t == 0)
                action = rollout.action[t, 2 * n + seat]
                assert action in options
                if m is not None:
                    chose += options.size > 1
                    assert np.array_equal(codes[0, seat], samples.codes[m])
                    assert np.array_equal(scalars[0, seat], samples.scalars[m])
                    assert np.array_equal(pack_legal(legal[0, seat]), samples.legal[m])
                    assert (samples.n_legal[m], samples.action[m]) == (options.size, action)
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
    assert not index
    assert chose < 0.4 * total if settings is RESTING else chose > 0.95 * total
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


@pytest.mark.parametrize("settings", [toy_game.SETTINGS, RESTING])
def test_stored_values_and_log_probs_are_the_networks(settings):
    network, actors, rollout = collected(horizon=5, settings=settings)
    samples = rollout.samples
    assert actors.expanded == len(samples) + rollout.rows  # and all that is bootstrapped from

    def ask(codes, scalars):
        with torch.no_grad():
            seen = torch.from_numpy(codes), torch.from_numpy(scalars)
            return network(toy_game.GAME.expand(*seen, "base"))

    logits, value = ask(samples.codes, samples.scalars)
    assert np.allclose(value[:, 0], samples.value, atol=1e-6)
    bits = np.unpackbits(samples.legal, axis=-1, count=logits.shape[1])
    log_p = torch.log_softmax(logits.masked_fill(~torch.from_numpy(bits).bool(), -torch.inf), 1)
    chosen = log_p.numpy()[np.arange(len(samples)), samples.action]
    assert np.allclose(chosen, samples.log_prob, atol=1e-5)
    assert np.allclose(ask(actors.codes, actors.scalars)[1][:, 0], rollout.last_value, atol=1e-6)


def test_only_rows_with_a_choice_go_through_the_network():
    batch = toy_game.GAME.make(6, RESTING, "base")
    network, asked = build_network(batch.spec, RECIPE, 3), []
    network.register_forward_hook(lambda module, given, out: asked.append(len(given[0])))
    actors, rollout = Actors(toy_game.GAME, batch, RECIPE, ("t", 0)), Rollout(batch, 30)
    actors.start()
    for start in (0, 30):
        actors.collect(network, rollout, start)
    samples = rollout.samples
    asked = asked[len(asked) // 2 :]
    # a pass a turn in which anyone chose, and one for the values at the end
    per_turn = np.bincount(samples.turn, minlength=30)
    assert asked == [*per_turn[per_turn > 0], 12] and per_turn[0] == 12
    assert sum(asked) < 0.4 * 30 * 12
    only = samples.n_legal == 1
    assert only.any() and (samples.turn[only] == 0).all()
    assert not samples.log_prob[only].any() and not samples.entropy[only].any()


def test_memory_is_proportional_to_the_decisions():
    """Pages of the store that no sample was written to are not resident."""
    batch = toy_game.GAME.make(64, {**toy_game.SETTINGS, "side": 32}, "base")
    codes, scalars = np.ones((128, 3, 32, 32), np.uint8), np.ones((128, 1), np.float32)
    legal = np.ones((128, 4 * 32 * 32 // 8 + 1), np.uint8)
    before = psutil.Process().memory_info().rss
    rollout = Rollout(batch, 256)
    for t in range(256):
        rollout.add(t, np.arange(t % 16, 128, 16), codes, scalars, legal)
    grown = psutil.Process().memory_info().rss - before
    held = [getattr(rollout.samples, f.name) for f in dataclasses.fields(Samples)]
    written = sum(array.nbytes for array in held)
    assert len(rollout.samples) == 256 * 128 / 16 and 7e6 < written < 8e6
    assert written / 2 < grown < 3 * written  # all of it would be 16 times as much


def test_an_owner_is_the_latest_decision_of_the_same_game():
    _, _, rollout = collected(settings=RESTING)
    owner, samples = rollout.owner(), rollout.samples
    for row in range(rollout.rows):
        latest = -1
        for t in range(rollout.horizon):
            here = np.flatnonzero((samples.turn == t) & (samples.row == row))
            latest = here[0] if here.size else latest
            assert owner[t, row] == latest
            if rollout.done[t, row]:
                latest = -1
    assert (owner < 0).any()


def test_a_lost_game_drops_its_unfinished_episode_and_nothing_else():
    short = {**RESTING, "max_turns": 6}  # all games end together, after turns 5, 11, 17 ...
    _, _, whole = collected(horizon=20, settings=short)
    settings = {**short, "lose": [[9, 1], [9, 4]]}
    network, actors, rollout = collected(horizon=20, settings=settings)
    lost = np.repeat([False, True, False, False, True, False], 2)
    samples = rollout.samples
    dropped = lost[samples.row] & (samples.turn >= 6) & (samples.turn <= 9)
    assert dropped.any() and np.array_equal(samples.dropped, dropped)
    # no reward is invented: not that of a draw, and no potential is taken back
    assert (rollout.reward[9, lost] == 0).all() and (rollout.reward[9, ~lost] != 0).any()
    assert rollout.done[9, lost].all() and not rollout.done[9, ~lost].any()
    assert not rollout.truncated[9].any()
    counted = actors.episode_statistics()
    assert (counted["lost_games"], counted["episodes"]) == (2, 6 + 4 + 4 + 2)
    # dealt again at once, from the next episode's key, and played to its own cap
    assert np.array_equal(actors.episodes, [3] * 6)  # after turns 5, 11, 17 or 5, 9, 15
    assert rollout.done[15, lost].all() and rollout.truncated[15, lost].all()
    # before the loss, and in the other games, nothing is different
    for t, rows in ((slice(0, 9), slice(None)), (slice(0, 20), ~lost)):
        assert np.array_equal(whole.action[t, rows], rollout.action[t, rows])
        assert np.array_equal(whole.reward[t, rows], rollout.reward[t, rows])
    # what the episodes before left is dropped neither in the iteration after
    actors.collect(network, rollout, 20)
    assert not rollout.samples.dropped.any()


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
