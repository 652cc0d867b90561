"""A stored sample that is turned is what the other frame would have shown."""

from __future__ import annotations

import numpy as np
import pytest
import toy_game

from royale import rng
from royale.games import load
from royale.games.protocol import View
from royale.learn import ppo
from royale.learn.sampling import pack_legal
from royale.learn.segment import run_segment

GENERALS = {
    "height": [5, 6],
    "width": [7, 8],  # not square: the scalars height and width must change places
    "max_turns": 60,
    "deathtouch_turn": 40,
    "min_distance": 5,
    "mountain_share": [0.1, 0.2],
    "castles_carved": [1, 3],
    "build_base": 2,
    "build_surcharge": 0,
}


@pytest.mark.parametrize(("name", "settings"), [("toy", toy_game.SETTINGS), ("generals", GENERALS)])
def test_a_turned_sample_is_what_its_frame_shows(name, settings):
    game = load(name)
    spec = game.spec(settings, "base")
    n, turns = 4 * len(spec.symmetries), 30
    games, seats = np.arange(n)[:, None], np.arange(2)
    batches = [game.make(n, settings, "base") for _ in range(2)]
    for batch in batches:
        batch.reset(np.arange(n), rng.fold(7, np.arange(n) // len(spec.symmetries)))
    batches[1].frames[:] = (games + 3 * seats) % len(spec.symmetries)
    elements = batches[1].frames.reshape(-1)
    seen = [
        (
            np.zeros((n, 2, *spec.code_shape), np.uint8),
            np.zeros((n, 2, len(spec.scalars)), np.float32),
            np.zeros((n, 2, spec.n_actions), np.uint8),
        )
        for _ in batches
    ]
    moves, built = game.scripted_player("random", spec), 0
    builds = slice(8 * spec.height * spec.width, -1)  # of Generals; the toy has none
    for turn in range(turns):
        for batch, arrays in zip(batches, seen, strict=True):
            batch.observe(*arrays)
        plain = [a.reshape(2 * n, *a.shape[2:]) for a in seen[0]]
        keys = rng.fold(9, np.repeat(np.arange(n), 2), np.tile(seats, n), turn)
        turned_turns = np.repeat(batches[0].turns, 2).astype(np.int32)
        action = moves.act(View(*plain, turned_turns, keys)).astype(np.int32)
        can_build = plain[2][:, builds].any(1)
        if can_build.any():
            action[can_build] = builds.start + plain[2][can_build, builds].argmax(1)
        turned = game.transform(*plain, action, elements)
        for got, there in zip(turned[:3], seen[1], strict=True):
            assert got.dtype == there.dtype
            assert np.array_equal(got, there.reshape(got.shape)), turn
        assert turned[2][np.arange(2 * n), turned[3]].all()
        built += int(can_build.sum())
        batches[0].step(action.reshape(n, 2))
        batches[1].step(turned[3].reshape(n, 2))
    assert name == "toy" or built > 0
    assert len(np.unique(pack_legal(turned[2]), axis=0)) > n  # the games went on, and differ


def test_generals_trains_under_the_negative_control_and_shows_its_deviation(make_plan, tmp_path):
    rows = []
    change = {"game": "generals", "settings": GENERALS, "steps": 2 * 192, "channels": 8}
    plan = make_plan(symmetry="stored_samples", learning_rate=3e-2, **change)
    run_segment(plan, tmp_path, tmp_path / "p", lambda row, total: rows.append(row), lambda s: None)
    assert rows[1]["ratio_max_abs_dev"] > ppo.Precision("fp32", "cpu").tolerance
