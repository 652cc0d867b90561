"""The page's rules, boards and planes are the engine's, turn by turn."""

from __future__ import annotations

import base64
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from royale import rng
from royale.bot import choose
from royale.games import load
from royale.games.generals.layout import CASTLE, GENERAL, HEIGHT, MOUNTAIN, WIDTH
from royale.games.generals.settings import COMPETITION, SMALL, Settings
from royale.learn.recipe import Recipe
from royale.learn.value import ValueCodec

DATA = Path(__file__).resolve().parents[1] / "data/generals"
GAME = load("generals")
# Castles are cheap here, so that random play builds, captures and touches.
CHEAP = {**SMALL, "height": [5, 6], "width": [5, 7], "min_distance": 3, "build_base": 6}
CHEAP |= {"build_surcharge": 4, "castle_cap": 3, "max_turns": 90, "deathtouch_turn": 30}


def page_settings(settings):
    numbers = Settings.read(settings)
    return {**asdict(numbers), "side": numbers.side}


def array(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


def position(height, width, owner, army, kind, generals, time=0):
    """A position on a canvas that is square, as the page's always is."""
    side = max(height, width)

    def canvas(grid, fill):
        out = np.full((side, side), fill, int)
        out[:height, :width] = grid
        return out.ravel().tolist()

    settings = {**COMPETITION, "height": [side, side], "width": [side, side]}
    return {
        "settings": page_settings(settings),
        "owner": canvas(owner, -1),
        "army": canvas(army, 0),
        "kind": canvas(kind, MOUNTAIN),
        "generals": [int(row * side + column) for row, column in generals],
        "time": int(time),
    }


def cut(text, dtype, height, width):
    side = max(height, width)
    return array(text, dtype).reshape(side, side)[:height, :width]


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("game_*.npz")))
def test_recorded_games_replay_to_the_same_states(node, name):
    file = dict(np.load(DATA / f"{name}.npz", allow_pickle=False))
    height, width = file["owner"].shape[1:]
    kind = file["mountains"] * MOUNTAIN | file["castles"][0] * CASTLE
    start = position(
        height, width, file["owner"][0], file["army"][0], kind, file["general_positions"]
    )
    states = node("orders", position=start, orders=file["actions"].tolist())
    assert len(states) == len(file["owner"])
    found = {
        "owner": [cut(state["owner"], np.int8, height, width) for state in states],
        "army": [cut(state["army"], np.int32, height, width) for state in states],
        "castles": [cut(s["kind"], np.uint8, height, width) & CASTLE != 0 for s in states],
        "land": [state["land"] for state in states],
        "army_total": [state["total"] for state in states],
        "time": [state["time"] for state in states],
        "winner": [state["winner"] for state in states],
    }
    for key, rows in found.items():
        np.testing.assert_array_equal(np.array(rows), file[key], err_msg=key)
    assert states[-1]["winner"] == file["result"]
    ended = file["is_done"][-1]
    assert (states[-1]["over"], states[-1]["truncated"]) == (True, not ended)


def test_recorded_transitions_end_in_the_same_states(node):
    file = dict(np.load(DATA / "transitions.npz", allow_pickle=False))
    n, height, width = file["owner"].shape
    assert n > 1000
    kinds = file["mountains"] * MOUNTAIN | file["castles"] * CASTLE
    columns = zip(
        file["owner"], file["army"], kinds, file["general_positions"], file["time"], strict=True
    )
    positions = [
        position(height, width, *column) | {"orders": orders.tolist()}
        for column, orders in zip(columns, file["actions"], strict=True)
    ]
    found = node("steps", positions=positions)

    def grids(texts, dtype):
        side = max(height, width)
        rows = np.array([array(text, dtype) for text in texts]).reshape(-1, side, side)
        return rows[:, :height, :width]

    def column(key):
        return np.array([got[key] for got in found])

    castles = grids(column("kind"), np.uint8) & CASTLE != 0
    prices = grids(column("prices").ravel(), np.int32).reshape(n, 2, height, width)
    assert np.array_equal(grids(column("owner"), np.int8), file["next_owner"])
    assert np.array_equal(grids(column("army"), np.int32), file["next_army"])
    assert np.array_equal(castles, file["next_castles"])
    assert np.array_equal(prices, file["build_cost"]) and column("one").all()
    assert np.array_equal(column("time"), file["next_time"])
    assert np.array_equal(column("winner"), file["winner"])
    assert np.array_equal(column("over") & ~column("truncated"), file["is_done"])
    assert np.array_equal(column("land"), file["land"])
    assert np.array_equal(column("total"), file["army_total"])


@pytest.mark.parametrize("settings", [SMALL, CHEAP, COMPETITION], ids=["small", "cheap", "full"])
def test_boards_are_the_engines(node, settings):
    n = 60
    seeds = rng.fold(7, np.arange(n))
    batch = GAME.make(n, settings, "base")
    batch.reset(np.arange(n), seeds)
    boards = node("deal", settings=page_settings(settings), seeds=[str(seed) for seed in seeds])
    for k, board in enumerate(boards):
        height, width = batch.table[k, [HEIGHT, WIDTH]].tolist()
        assert (board["height"], board["width"]) == (height, width)
        kind = batch.kind[k].reshape(batch.side, batch.side)[:height, :width]
        assert np.array_equal(board["mountains"], (kind & MOUNTAIN).ravel())
        cells = [row // width * batch.side + row % width for row in board["generals"]]
        assert cells == batch.table[k, GENERAL : GENERAL + 2].tolist()


def random_play(settings, seed, turns):
    """Random games of the engine: actions, and what both seats saw, turn by turn."""
    random = np.random.default_rng(seed)
    board = int(random.integers(0, 2**63))
    batch = GAME.make(1, settings, "base")
    batch.reset(np.array([0]), np.array([board], np.uint64))
    spec = batch.spec
    actions, seen = [], []
    for _ in range(turns):
        codes = np.zeros((1, 2, *spec.code_shape), np.uint8)
        scalars = np.zeros((1, 2, len(spec.scalars)), np.float32)
        legal = np.zeros((1, 2, spec.n_actions), np.uint8)
        batch.observe(codes, scalars, legal)
        chosen = []
        for seat in range(2):
            allowed = np.flatnonzero(legal[0, seat])
            builds = allowed[allowed >= 8 * batch.side**2][:-1]
            allowed = builds if len(builds) and random.random() < 0.3 else allowed[: -1 or None]
            illegal = random.random() < 0.03
            pool = np.arange(spec.n_actions) if illegal or not len(allowed) else allowed
            chosen.append(int(random.choice(pool)))
        result = batch.step(np.array([chosen], np.int32))
        actions.append(chosen)
        seen.append((codes[0], scalars[0], legal[0], bool(result.done[0]), int(result.winner[0])))
        if result.done[0]:
            break
    return board, actions, seen, int(batch.table[0, 16:18].sum())


@pytest.mark.parametrize(
    ("settings", "games", "turns"),
    [(SMALL, 1, 200), (CHEAP, 5, 90), (COMPETITION, 1, 50)],
    ids=["small", "cheap", "full"],
)
def test_random_games_are_seen_and_played_alike(node, settings, games, turns):
    built = 0
    for seed in range(games):
        board, actions, seen, builds = random_play(settings, seed, turns)
        built += builds
        got = node("actions", settings=page_settings(settings), seed=str(board), actions=actions)
        assert len(got) == len(seen)
        codes, scalars, legal, done, winner = (
            np.array(column) for column in zip(*seen, strict=True)
        )
        turns = len(got)

        def both(name, dtype, got=got, turns=turns):
            """What the page's seats see, as an array (turns, 2, ...) like the engine's."""
            rows = [[array(seat[name], dtype) for seat in turn["seats"]] for turn in got]
            return np.array(rows).reshape(turns, 2, -1)

        assert np.array_equal(both("codes", np.uint8), codes.reshape(turns, 2, -1))
        assert np.array_equal(both("legal", np.uint8), legal)
        np.testing.assert_allclose(both("scalars", np.float32), scalars, rtol=3e-7, atol=0)
        rows = torch.from_numpy(codes).flatten(0, 1), torch.from_numpy(scalars).flatten(0, 1)
        for encoder in ("base", "history"):
            theirs = GAME.expand(*rows, encoder).reshape(turns, 2, -1).numpy()
            np.testing.assert_allclose(both(encoder, np.float32), theirs, rtol=0, atol=5e-7)
        assert [turn["back"] for turn in got] == actions
        assert [turn["over"] for turn in got] == done.tolist()
        assert [turn["winner"] for turn in got] == winner.tolist()
    assert built or settings is not CHEAP


def test_choices_are_the_bots(node):
    random = np.random.default_rng(3)
    rows = [
        {
            "logits": random.normal(0, 3, 40).astype(np.float32).tolist(),
            "legal": [*(random.random(39) < 0.4).astype(int).tolist(), 1],
            "uniform": float(random.random()),
        }
        for _ in range(300)
    ]
    rows[0]["logits"] = [0.0] * 40  # ties go to the lowest index
    for row, got in zip(rows, node("policy", rows=rows), strict=True):
        logits, legal = np.array(row["logits"], np.float32), np.array(row["legal"], bool)
        assert got["greedy"] == choose.greedy(logits, legal)
        assert got["sampled"] == choose.sample(logits, legal, row["uniform"])


def test_random_numbers_are_the_packages(node):
    keys = [[str(key), 3, 2**40 + key % 7, 1] for key in (0, 1, 2**64 - 1, 123456789)]
    expected = [float(rng.uniform(rng.fold(int(k[0]), *k[1:]))) for k in keys]
    assert node("uniforms", keys=keys) == expected


def test_the_value_is_the_expected_result(node):
    scalars = [0.0] * 12 + [0.25, -0.5]
    outputs = np.random.default_rng(0).normal(0, 2, 128).astype(np.float32)
    codec = ValueCodec(Recipe(value_head="hl_gauss", shaping={"land": 0.4, "army": 0.2}))
    decoded = float(codec.decode(torch.from_numpy(outputs)[None])[0])
    bot = {"value_head": "hl_gauss", "value_support": codec.support}
    # the learner's value is the result less the potential of now: 0.4 * 0.25 - 0.2 * 0.5 = 0
    shaping = {"land": 0.4, "army": 0.2}
    got = node("value", outputs=outputs.tolist(), bot={**bot, "shaping": shaping}, scalars=scalars)
    assert math.isclose(got, decoded, abs_tol=1e-6)
    scalar = {"value_head": "scalar", "value_support": 1.1, "shaping": {"land": 0.4}}
    assert math.isclose(node("value", outputs=[0.3], bot=scalar, scalars=scalars), 0.4)
