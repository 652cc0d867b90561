"""What the bot makes of the wire is what the engine shows, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from bot_helpers import GAME, TINY, buffers, random_actions

from royale.bot import layout, wire
from royale.bot.choose import to_order
from royale.bot.memory import Memory
from royale.bot.planes import ENCODERS, check_names, expand
from royale.export.parity import wire_frame
from royale.games.generals import layout as engine_layout
from royale.games.generals import planes as engine_planes
from royale.games.generals.boards import load_boards
from royale.games.generals.settings import COMPETITION

RULES = ("max_turns", "deathtouch_turn", "build_base", "build_surcharge", "castle_cap")


def rules_of(settings):
    numbers = GAME.make(1, settings, "base")
    defaults = {"build_base": 35, "build_surcharge": 14, "castle_cap": None}
    return {"canvas": numbers.side, **defaults, **settings}


def memories(batch, settings):
    sizes = batch.table[:, engine_layout.HEIGHT : engine_layout.WIDTH + 1].tolist()
    return [[Memory(rules_of(settings), *size) for _ in range(2)] for size in sizes]


def check(batch, found, codes, scalars, legal):
    """Compare both seats of every running game; return the observations' planes checked."""
    for n, seat in np.ndindex(batch.n_games, 2):
        if batch.table[n, engine_layout.OVER]:
            continue
        memory = found[n][seat]
        lines = wire_frame(batch, n, seat)
        seen = memory.observe(wire.parse_frame(lines, memory.height, memory.width))
        for k, name in enumerate(engine_layout.CODES):
            assert np.array_equal(seen.codes[k], codes[n, seat, k]), (name, n, seat)
        np.testing.assert_allclose(seen.scalars, scalars[n, seat], rtol=3e-7, atol=0)
        assert np.array_equal(seen.legal, legal[n, seat].astype(bool))
        for encoder in ENCODERS:
            mine = expand(seen.codes, seen.scalars, encoder)
            theirs = GAME.expand(
                torch.from_numpy(codes[n, seat][None]),
                torch.from_numpy(scalars[n, seat][None]),
                encoder,
            )[0].numpy()
            assert mine.dtype == np.float32 and mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=5e-7)


def play_and_check(settings, games, turns, seed, keep=0.9):
    rng = np.random.default_rng(seed)
    batch = GAME.make(games, settings, "history")
    batch.reset(np.arange(games), rng.integers(0, 2**63, games).astype(np.uint64))
    found = memories(batch, settings)
    codes, scalars, legal = buffers(batch)
    builds = 0
    for _ in range(turns):
        batch.observe(codes, scalars, legal)
        check(batch, found, codes, scalars, legal)
        actions = random_actions(rng, legal, keep)
        builds += int((actions >= 8 * batch.side**2).sum())
        for n, seat in np.ndindex(games, 2):
            found[n][seat].acted(to_order(int(actions[n, seat]), batch.side))
        batch.step(actions)
    assert builds


def test_small_boards_to_the_end():
    play_and_check(TINY, 6, 80, 0)


def test_boards_of_several_sizes_in_the_competitions_canvas():
    play_and_check(COMPETITION, 2, 60, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_whole_games_on_the_competitions_boards(seed):
    play_and_check({**COMPETITION, "build_base": 10}, 4, 1200, seed)


def test_large_armies_are_clipped_alike():
    settings = {**COMPETITION, "height": [6, 6], "width": [7, 7]}
    batch = GAME.make(1, settings, "history")
    owner, army = np.full((1, 6, 7), -1, np.int8), np.zeros((1, 6, 7), np.int32)
    for seat, cell in enumerate(((0, 0), (5, 6))):
        owner[0][cell], army[0][cell] = seat, 30_000 + 60_000 * seat
    owner[0, 0, 1:4], army[0, 0, 1:4] = 0, (32_767, 32_768, 70_000)
    owner[0, 1, 1], army[0, 1, 1] = 1, 300
    kind = np.zeros((1, 6, 7), np.uint8)
    load_boards(batch, owner, army, kind, np.array([[[0, 0], [5, 6]]]), 4)
    found = memories(batch, settings)
    codes, scalars, legal = buffers(batch)
    for _ in range(3):
        batch.observe(codes, scalars, legal)
        check(batch, found, codes, scalars, legal)
        batch.step(np.full((1, 2), legal.shape[2] - 1, np.int32))


def test_a_castle_in_fog_is_told_from_a_mountain():
    memory = Memory(rules_of(TINY), 5, 5)
    kind, none = np.zeros((5, 5), int), np.zeros((5, 5), int)
    kind[:2, :2] = wire.PLAIN
    kind[0, 0], kind[4, 4] = wire.GENERAL, wire.STRUCTURE_IN_FOG
    owner = none.copy()
    owner[0, 0] = wire.ME
    memory.observe(wire.Frame(0, 1, 1, 1, 1, kind, owner, none))
    later = kind.copy()
    later[4, 3] = wire.STRUCTURE_IN_FOG
    seen = memory.observe(wire.Frame(1, 1, 1, 1, 1, later, owner, none))
    moves = seen.codes[layout.MOVES]
    known, castle = (moves >> 4) & 1, (moves >> 5) & 1
    assert known[4, 4] and not known[4, 3]
    assert castle[4, 3] and not castle[4, 4]


def test_names_are_the_engines():
    assert {k: list(v) for k, v in engine_planes.ENCODERS.items()} == ENCODERS
    assert len(engine_layout.CODES) == layout.N_CODES
    assert len(engine_layout.SCALARS) == layout.N_SCALARS
    assert len(engine_layout.ACTION_PLANES) == layout.N_ACTION_PLANES
    with pytest.raises(ValueError, match="planes"):
        check_names("base", ENCODERS["base"][::-1])


def test_a_board_larger_than_the_canvas_is_refused():
    with pytest.raises(ValueError, match=r"8x5.*7x7"):
        Memory(rules_of(TINY), 8, 5)
