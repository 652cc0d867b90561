"""What a seat sees: by hand, without secrets, the same for both sides, mirrored exactly."""

from __future__ import annotations

import json

import numpy as np
import pytest
from clash_helpers import (
    GAME,
    POOL,
    batch,
    board,
    dealt,
    encoded,
    look,
    played_states,
    scalar,
    uniform_actions,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from royale import rng
from royale.bench.measure import sample_bytes
from royale.games.clash import engine
from royale.games.clash.layout import PASS, SCALARS, STEP, WIDTH
from royale.learn.samples import Rollout
from royale.learn.sampling import pack_legal


@pytest.fixture(scope="module")
def states():
    """States of battles with all cards, as JSON objects."""
    return played_states()


def test_a_thing_is_written_as_worked_out_by_hand():
    codes, _ = encoded(
        [board(deploy_ticks=13, stun_ticks=4, attack_phase=1, shield=90, charge=500)]
    )
    assert codes[0, 0, :6, 0].tolist() == [3, 4, 4, 3, 4, 4]  # king and princesses of both
    assert codes[0, 0, 6].tolist() == [
        1,  # a troop
        0,  # own
        engine.unit_types().index("Knight"),
        1 + 0,  # card 0
        3,  # 67,500 is 3.75 tiles: tile 3 ..
        9,  # .. and 171,000 is 9.5
        12 + 16 * 8,  # 12 and 8 sixteenths
        45,  # 883 hitpoints / 20, rounded up
        128,  # 883 / 1766 of 255, rounded up
        7 + 16 * 2,  # 13 and 4 ticks, halves rounded up
        1,  # winding up
        128,  # no heading to the side ..
        255,  # .. straight forward
        125,
        12,  # 90 / 8, rounded up
        0,
    ]
    # Red sees the same as the enemy's, turned: 18 - 3.75 and 32 - 9.5 tiles
    assert codes[0, 1, 6, 1] == 1
    assert codes[0, 1, 6, 4:7].tolist() == [14, 22, 4 + 16 * 8]
    assert codes[0, 1, 6, 11:13].tolist() == [128, 1]
    assert not codes[0, :, 7:40].any()


@pytest.mark.parametrize(
    ("change", "bit"),
    [
        ({"attack_phase": 2}, 1),
        ({"flying": True}, 2),
        ({"status_flags": 256}, 3),
        ({"status_flags": 64}, 4),
        ({"status_flags": 128}, 4),
        ({"status_flags": 1}, 5),
        ({"status_flags": 2}, 5),
        ({"knockback_ticks": 3}, 6),
        ({"target_uid": 5}, 7),
    ],
)
def test_flags(change, bit):
    codes, _ = encoded([board(**change)])
    assert codes[0, 0, 6, 10] == 1 << bit
    invisible = change.get("status_flags") == 2
    assert codes[0, 1, 6, 10] == (0 if invisible else 1 << bit)
    assert (codes[0, 1, 6, 0] == 0) == invisible


def test_no_flier_while_it_is_held_to_the_ground():
    codes, _ = encoded([board(flying=True, status_flags=512)])
    assert codes[0, 0, 6, 10] == 0


def test_scalars_by_hand():
    made = dealt(1, shuffle="none", start_tick=90)
    look(made)
    made.step(np.array([[8 * WIDTH + 8, PASS]]))  # a knight of 3
    _, scalars, _ = look(made)
    blue, red = (dict(zip(SCALARS, row.tolist(), strict=True)) for row in scalars[0])
    assert blue["elixir"] == pytest.approx((6000 + 10 * 17.857) / 10000, abs=1e-4)
    assert (blue["pending_cost"], red["pending_cost"]) == (pytest.approx(0.3), 0)
    assert red["enemy_elixir"] == pytest.approx(blue["elixir"], abs=1e-3)  # has not landed
    assert blue["time"] == pytest.approx(100 / 3600)
    assert [blue[f"cost_{k}"] for k in range(4)] == pytest.approx([0.3, 0.3, 0.5, 0.3])
    assert [blue[f"waiting_{k}"] for k in range(4)] == [1, 0, 0, 0]
    assert [red[f"waiting_{k}"] for k in range(4)] == [0, 0, 0, 0]
    assert blue["elixir_rate"] == pytest.approx(1 / 3)
    for name in ("own_king", "own_left", "own_right", "enemy_king", "enemy_left", "enemy_right"):
        assert blue[name] == red[name] == 1
    for _ in range(3):
        made.step(np.full((1, 2), PASS))
    codes, scalars, _ = look(made)
    # Red has seen it: 0.3 less elixir, one play, and the knight as its last card
    assert scalars[0, 1, scalar(made, "enemy_elixir")] == pytest.approx(
        scalars[0, 0, scalar(made, "elixir")], abs=1e-3
    )
    assert scalars[0, 1, scalar(made, "enemy_plays")] == pytest.approx(1 / 40)
    assert codes[0, 1, 41, :2].tolist() == [1, 0] and codes[0, 1, 41, 8:10].tolist() == [0, 255]
    assert not codes[0, 0, 41, :8].any()


def test_left_is_the_seats_own_left():
    made = engine.battle()
    deck = list(range(8))
    full = engine.started(made)["players"][0]["tower_max_hp"]
    half = [[full[0], full[1] // 2, full[2]], list(full)]  # Blue's left princess, at low x
    made.reset(0, [deck, deck], 0, 0, None, half, [])
    _, scalars = encoded([json.loads(made.state_json())] * 2, np.array([[0, 0], [1, 1]], np.int8))
    by_name = [[dict(zip(SCALARS, row, strict=True)) for row in game] for game in scalars]
    assert by_name[0][0]["own_left"] == 0.5 and by_name[0][0]["own_right"] == 1
    assert by_name[0][1]["enemy_right"] == 0.5 and by_name[0][1]["enemy_left"] == 1
    assert by_name[1][0]["own_right"] == 0.5 and by_name[1][1]["enemy_left"] == 0.5


SECRETS = {
    "elixir_milli": 9999,
    "hand": [101, -1, 33, 7],
    "hand_costs": [9, -1, 2, 1],
    "mirror_target": 55,
    "deck": [90, 80, 70, 60, 50, 40, 30, 20],
    "forms": [1, 0, 2, 0, 0, 0, 0, 1],
    "pending_cost": 7,
    "pending": [[0, 60, 27000, 45000, 12, 3], [1, 4, 0, 0, 9, 2]],
    "abilities": [[1, 0, 2, 68, 33]],
    "next_card": 44,
}


@pytest.mark.parametrize("seat", [0, 1])
def test_what_a_player_cannot_know_is_not_in_it(states, seat):
    """Every hidden fact of the opponent's is changed, and the seat sees the same bytes."""
    changed = json.loads(json.dumps(states))
    unseen = spells = 0
    for state in changed:
        state["players"][1 - seat].update(SECRETS)
        state["entities"].append([90, 1 - seat, *board(status_flags=2)["entities"][-1][2:]])
        for entity in state["entities"]:
            if entity[1] != seat:
                entity[24:26] = [1234, 5678]  # where a tunneller goes
                if entity[20] & 2:  # invisible
                    entity[5:9] = [9000, 9000, 5, 500]
                    unseen += 1
        for spell in state["spells"]:
            if spell[0] != seat:
                spell[5:8] = [123000, 321000, 17]  # aim, delay
                spells += 1
        hidden = [[1 - seat, 108, 7, 5000, 5000, 6000, 6000, 20, 0, 0, 0, 0]]
        state["spells"] += hidden
    before, after = encoded(states), encoded(changed)
    for a, b in zip(before, after, strict=True):
        assert np.array_equal(a[:, seat], b[:, seat])
        assert not np.array_equal(a[:, 1 - seat], b[:, 1 - seat])
    assert unseen >= len(states) and spells > 5


def test_the_opponents_plays_are_counted_from_those_that_landed_alone():
    """Until they land, plays of the one change nothing of what the other sees."""
    a, b = dealt(2, 4, start_tick=90), dealt(2, 4, start_tick=90)
    played = uniform_actions(look(a)[2], 1, 1.0)
    look(b)
    played[:, 1] = PASS
    a.step(played)
    b.step(np.full((2, 2), PASS))
    for mine, other in zip(look(a)[:2], look(b)[:2], strict=True):
        assert np.array_equal(mine[:, 1], other[:, 1])
        assert not np.array_equal(mine[:, 0], other[:, 0])


def test_both_seats_see_a_turned_board_alike():
    """Blue in a state sees what Red sees where every thing is turned and changes sides."""
    state = board(facing=[100, 236])
    turned = json.loads(json.dumps(state))
    for entity in turned["entities"]:
        entity[1] = 1 - entity[1]
        entity[5:7] = [324000 - entity[5], 576000 - entity[6]]
        entity[17] = [-entity[17][0], -entity[17][1]]
    turned["players"] = [{**turned["players"][1], "team": 0}, {**turned["players"][0], "team": 1}]
    codes, scalars = encoded([state, turned])
    assert np.array_equal(codes[0, 0], codes[1, 1]) and np.array_equal(scalars[0], scalars[1, ::-1])
    assert np.array_equal(codes[0, 1], codes[1, 0])


def test_a_crowd_keeps_the_strongest_and_counts_the_rest():
    state = board()
    row = state["entities"].pop()
    for k in range(50):
        hp = 100 + k
        state["entities"].append([100 + k, k % 2, *row[2:7], hp, hp, *row[9:]])
    codes, scalars = encoded([state])
    kept = codes[0, 0, :40]
    assert (kept[:, 0] > 0).all()
    # six towers, and the 34 with the most hitpoints
    assert sorted(kept[6:, 7].tolist()) == sorted(-(-(100 + k) // 20) for k in range(16, 50))
    assert scalars[0, 0, SCALARS.index("left_out")] == 16 / 16


def test_bytes_a_row():
    """Codes, scalars, packed legal actions, nine numbers of the learner's and a flag."""
    made = dealt(1)
    codes, scalars, legal = (a.reshape(2, *a.shape[2:]) for a in look(made))
    rollout = Rollout(made, 1)
    rollout.add(0, np.arange(2), codes, scalars, pack_legal(legal))
    assert sample_bytes(rollout.samples) == 42 * 16 + 4 * 28 + 289 + 4 * 9 + 1


# The mirror.


def test_symmetries_are_a_group():
    spec = GAME.spec({}, "base")
    assert spec.symmetries == ("identity", "mirror")
    assert "not its own mirror image" in spec.symmetry_note


def test_a_mirrored_frame_shows_exactly_the_mirror_image():
    """Observation, mask and action, in battles with all cards, of both seats."""
    made = [batch(4, pool=POOL, start_tick=90) for _ in range(2)]
    for one in made:
        one.reset(np.arange(4), rng.fold(2, np.arange(4)))
    made[1].frames[:] = [[1, 1], [1, 0], [0, 1], [1, 1]]
    elements = made[1].frames.reshape(-1)
    for turn in range(160):
        plain, other = look(made[0]), look(made[1])
        actions = uniform_actions(plain[2], turn, 0.8)
        rows = [a.reshape(8, *a.shape[2:]) for a in plain]
        turned = GAME.transform(*rows, actions.reshape(-1), elements)
        for got, there in zip(turned[:3], other, strict=True):
            assert got.dtype == there.dtype
            assert np.array_equal(got, there.reshape(got.shape)), turn
        made[0].step(actions)
        made[1].step(turned[3].reshape(4, 2))
        hashes = [[b.state_hash() for b in one.battles.engines] for one in made]
        assert hashes[0] == hashes[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(-200, 324200), st.integers(0, 576000), st.integers(-256, 256))
def test_rounding_is_its_own_mirror_image(x, y, fx):
    state = board(x=x, y=y, facing=[fx, 0])
    codes, scalars = encoded([state] * 2, np.array([[0, 0], [1, 1]], np.int8))
    rows = [codes[0], scalars[0], np.zeros((2, 2308), np.uint8), np.zeros(2, np.int32)]
    turned = GAME.transform(*rows, np.ones(2, np.int8))
    assert np.array_equal(turned[0], codes[1]) and np.array_equal(turned[1], scalars[1])
    sixteenths = 16 * int(codes[0, 0, 6, 4]) + int(codes[0, 0, 6, 6]) % 16
    if 0 <= x <= 324000:
        assert abs(sixteenths * STEP - x) <= STEP / 2
