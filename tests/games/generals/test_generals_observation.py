"""Codes, planes, frames, memory, and going on from a saved state."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from generals_helpers import buffers, random_position, twin_of

from royale.games.generals import GAME, layout, planes, symmetry
from royale.games.generals.settings import COMPETITION, SMALL

RULES = {"max_turns": 1210, "deathtouch_turn": 799, "build_base": 5, "build_surcharge": 6}


def random_actions(rng, legal, sloppy=0.1):
    """A random legal action of every row, and a share of any numbers at all."""
    n, _, n_actions = legal.shape
    weight = rng.random(legal.shape) * legal
    weight[..., -1] *= 0.3
    actions = weight.argmax(axis=-1).astype(np.int32)
    odd = rng.random((n, 2)) < sloppy
    actions[odd] = rng.integers(-5, n_actions + 500, odd.sum())
    return actions


def board_order(action, game, n, seat):
    """The raw order that a flat action stands for, by the definition of frames."""
    side, frame = game.side, int(game.frames[n, seat])
    if not 0 <= action < 9 * side * side:
        return (1, 0, 0, 0, 0)
    plane, cell = divmod(int(action), side * side)
    cells, _, directions = symmetry.tables(side)
    row, column = divmod(int(cells[frame, cell]), side)
    if plane == 8:
        return (2, row, column, 0, 0)
    return (0, row, column, int(directions[frame, plane % 4]), plane // 4)


def in_frame(picture, frame):
    """A picture (..., side, side) of the board as the frame shows it."""
    if frame & 2:
        picture = picture[..., ::-1, :]
    if frame & 1:
        picture = picture[..., ::-1]
    return np.swapaxes(picture, -1, -2) if frame & 4 else picture


def test_planes_match_the_twin():
    rng = np.random.default_rng(11)
    n = 5
    game = random_position(rng, n, 5, 7, **RULES)
    game.frames[:] = rng.integers(0, 8, (n, 2))
    twins = [twin_of(game, k, **RULES) for k in range(n)]
    arrays = buffers(game)
    names = list(planes.ENCODERS["history"])
    cells = [(r, c) for r in range(game.side) for c in range(game.side)]
    for _ in range(40):
        game.observe(*arrays)
        codes, scalars, legal = arrays
        flat = [torch.from_numpy(a.reshape(2 * n, *a.shape[2:])) for a in (codes, scalars)]
        got = GAME.expand(*flat, "history").numpy()
        assert np.array_equal(GAME.expand(*flat, "base").numpy(), got[:, :31])
        for k, twin in enumerate(twins):
            for seat in (0, 1):
                twin.look(seat)
                want = twin.planes(seat, game.side)
                picture = [[float(want[x][name]) for x in cells] for name in names]
                picture = np.array(picture).reshape(len(names), game.side, game.side)
                picture = in_frame(picture, int(game.frames[k, seat]))
                error = abs(picture - got[2 * k + seat]).reshape(len(names), -1).max(axis=1)
                worst = int(error.argmax())
                assert error[worst] < 1e-5, (names[worst], twin.time, k, seat)
        actions = random_actions(rng, legal)
        orders = [[board_order(actions[k, s], game, k, s) for s in (0, 1)] for k in range(n)]
        game.step(actions)
        for twin, order in zip(twins, orders, strict=True):
            twin.step(order)


def test_frames_are_the_same_game_seen_otherwise():
    rng = np.random.default_rng(5)
    n = 32
    framed, plain = (GAME.make(n, SMALL, "history") for _ in range(2))
    for game in (framed, plain):
        game.reset(np.arange(n), np.arange(n, dtype=np.uint64))
    framed.frames[:] = (np.arange(2 * n).reshape(n, 2) * 5 + 3) % 8
    one, two = buffers(framed), buffers(plain)
    side, area = framed.side, framed.side**2
    cells, places, directions = symmetry.tables(side)
    for _ in range(SMALL["max_turns"]):
        framed.observe(*one)
        plain.observe(*two)
        actions = random_actions(rng, one[2], sloppy=0)
        mapped = actions.copy()
        for k in range(n):
            for seat in (0, 1):
                f = int(framed.frames[k, seat])
                seen, known = one[0][k, seat].copy(), two[0][k, seat].copy()
                move_bits = np.uint8(15)
                # Directions turn with the frame; all other bits stay.
                turned = known[layout.MOVES] & ~move_bits
                for d in range(4):
                    turned |= (known[layout.MOVES] >> np.uint8(directions[f, d]) & 1) << np.uint8(d)
                known[layout.MOVES] = turned
                assert np.array_equal(seen, in_frame(known, f))
                got = one[2][k, seat, :-1].reshape(9, area)
                want = two[2][k, seat, :-1].reshape(9, area)
                order = [*directions[f], *(directions[f] + 4), 8]
                assert np.array_equal(got, want[order][:, cells[f]])
                a = int(actions[k, seat])
                if a < 9 * area:
                    mapped[k, seat] = order[a // area] * area + cells[f, a % area]
        equal = one[1].copy()
        swap = framed.frames & 4 != 0
        equal[swap, 10:12] = equal[swap, 11:9:-1]  # height and width
        assert np.array_equal(equal, two[1])
        results = framed.step(actions), plain.step(mapped)
        assert np.array_equal(results[0].winner, results[1].winner)
        for name in ("table", "owner", "army", "kind", "price", "structures"):
            assert np.array_equal(getattr(framed, name), getattr(plain, name)), name
    assert (places[3][cells[3]] == np.arange(area)).all()


def test_symmetries_are_eight_and_a_group():
    cells, _, _ = symmetry.tables(5)
    assert len({tuple(c) for c in cells}) == 8 == len(symmetry.NAMES)
    assert np.array_equal(cells[0], np.arange(25))
    products = {tuple(a[b]) for a in cells for b in cells}
    assert products == {tuple(c) for c in cells}
    picture = np.arange(25).reshape(5, 5)
    for name, turned in (
        ("rotate_left", np.rot90(picture)),
        ("rotate_right", np.rot90(picture, -1)),
        ("rotate_180", np.rot90(picture, 2)),
        ("transpose", picture.T),
        ("anti_transpose", np.rot90(picture, 2).T),
        ("flip_rows", picture[::-1]),
        ("flip_columns", picture[:, ::-1]),
    ):
        assert np.array_equal(picture.ravel()[cells[symmetry.NAMES.index(name)]], turned.ravel())


def fresh(n, seed=50):
    game = GAME.make(n, SMALL, "history")
    game.reset(np.arange(n), np.arange(n, dtype=np.uint64) + seed)
    return game


def play_on(game, rng, turns):
    arrays = buffers(game)
    trace = []
    for _ in range(turns):
        game.observe(*arrays)
        trace += [a.copy() for a in arrays]
        result = game.step(random_actions(rng, arrays[2]))
        trace += [result.done, result.truncated, result.winner]
    return trace


@pytest.mark.parametrize("observed", [False, True])
def test_going_on_from_saved_arrays_is_exact(observed):
    game = fresh(8)
    game.frames[:] = np.arange(16).reshape(8, 2) % 8
    play_on(game, np.random.default_rng(0), 60)
    if observed:
        game.observe(*buffers(game))
    saved = game.state_arrays()
    first = play_on(game, np.random.default_rng(1), 80)
    other = GAME.make(8, SMALL, "history")
    other.load_state_arrays(saved)
    second = play_on(other, np.random.default_rng(1), 80)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    ends = game.state_arrays(), other.state_arrays()
    assert all(np.array_equal(ends[0][key], ends[1][key]) for key in ends[0])


def test_loading_refuses_other_shapes():
    game, other = (GAME.make(k, SMALL, "base") for k in (2, 3))
    with pytest.raises(ValueError, match="state array table"):
        game.load_state_arrays(other.state_arrays())
    with pytest.raises(ValueError, match="nothing"):
        game.load_state_arrays({})


def test_observing_twice_is_observing_once():
    game = fresh(4)
    play_on(game, np.random.default_rng(0), 40)
    first, second = buffers(game), buffers(game)
    game.observe(*first)
    game.observe(*second)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_every_byte_is_written_also_to_views():
    game = fresh(3)
    play_on(game, np.random.default_rng(0), 40)
    clean, dirty = buffers(game), [np.full_like(a, 7) for a in buffers(game)]
    game.observe(*clean)
    game.observe(*dirty)
    assert all(np.array_equal(a, b) for a, b in zip(clean, dirty, strict=True))
    wide = np.zeros((3, 2, 2, *clean[0].shape[2:]), np.uint8)
    game.observe(wide[:, :, 1], clean[1], clean[2])
    assert np.array_equal(wide[:, :, 1], clean[0])


@pytest.mark.parametrize("side", [2, 3, 4, 6, 21, 64])
def test_nothing_is_written_beyond_the_arrays(side):
    """Planes are written in whole instructions, which must end within the arrays."""
    settings = {**COMPETITION, "height": [side, side], "width": [side, side]}
    game = GAME.make(2, settings, "base")
    game.frames[:] = [[0, 3], [5, 6]]
    game.table[:, layout.GENERAL : layout.GENERAL + 2] = [0, side * side - 1]
    game.owner[:, 0], game.owner[:, -1] = 0, 1
    game.army[:] = 7
    game.kind[:] = layout.INSIDE
    wide = [np.full((4, *a.shape[1:]), 9, a.dtype) for a in buffers(game)]
    game.observe(*(a[1:3] for a in wide))
    for a in wide:
        assert (a[[0, 3]] == 9).all()
    legal = wide[2][1:3, :, :-1].reshape(2, 2, 9, side, side)
    for n, seat in np.ndindex(2, 2):
        # Each seat moves, all or half, from its one cell, a corner: in two directions.
        assert legal[n, seat, :8].sum() == 4
        assert legal[n, seat].any(axis=0).sum() == 1
    assert (wide[2][1:3, :, -1] == 1).all()


def test_refuses_a_canvas_without_room():
    settings = {**COMPETITION, "height": [65, 65], "width": [65, 65]}
    with pytest.raises(ValueError, match="largest is 64"):
        GAME.make(1, settings, "base")


def test_refuses_arrays_of_other_shapes():
    game = GAME.make(3, SMALL, "base")
    codes, scalars, legal = buffers(game)
    for bad in ((codes[:2], scalars, legal), (codes, scalars[..., 1:], legal)):
        with pytest.raises(ValueError, match="want"):
            game.observe(*bad)
    with pytest.raises(ValueError, match="legal"):
        game.observe(codes, scalars, legal[..., 1:])
    with pytest.raises(ValueError, match="actions"):
        game.step(np.zeros((2, 2), np.int32))
    with pytest.raises(IndexError):
        game.reset(np.array([3]), np.array([1], np.uint64))


def test_potentials_and_statistics():
    game = fresh(4)
    play_on(game, np.random.default_rng(3), 120)
    potentials = np.empty((4, 2, 2), np.float32)
    statistics = np.empty((4, 2, 4), np.float32)
    game.potentials(potentials)
    game.statistics(statistics)
    assert np.array_equal(potentials[:, 0], -potentials[:, 1])
    assert (abs(potentials) <= 1).all()
    land, army = statistics[:, :, 1], statistics[:, :, 2]
    for seat in (0, 1):
        assert np.array_equal(land[:, seat], (game.owner == seat).sum(axis=1))
        assert np.array_equal(army[:, seat], (game.army * (game.owner == seat)).sum(axis=1))
    lead = (land[:, 0] - land[:, 1]) / land.sum(axis=1)
    assert np.allclose(potentials[:, 0, 0], lead)


def test_spec_and_its_tables():
    spec = GAME.spec(COMPETITION, "history")
    assert (spec.height, spec.width, spec.n_actions) == (21, 21, 3970)
    assert len(spec.planes) == 45 and len(GAME.spec(COMPETITION, "base").planes) == 31
    assert spec.code_shape[0] <= 16
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in spec.planes)
    assert planes.N_BASE_SCALARS == 10 and len(layout.SCALARS) == len(spec.scalars)
    with pytest.raises(ValueError, match="encoder"):
        GAME.spec(COMPETITION, "none")
