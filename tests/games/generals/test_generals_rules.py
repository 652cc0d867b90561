"""The rules one by one, on positions worked out by hand (numbers: sections of the rules)."""

from __future__ import annotations

import numpy as np
import pytest
from generals_helpers import BUILD, DOWN, LEFT, MOVE, NOTHING, PASS, RIGHT, UP, Board


def move(cell, direction, split=0, kind=MOVE):
    return (kind, *cell, direction, split)


def build(cell):
    return (BUILD, *cell, 0, 0)


# --- 5: moves


@pytest.mark.parametrize(
    ("army", "split", "stay", "go"),
    [(9, 1, 5, 4), (2, 1, 1, 1), (3, 1, 2, 1), (9, 0, 1, 8), (2, 0, 1, 1), (9, 7, 1, 8)],
)
def test_amount_of_a_move(army, split, stay, go):
    board = Board().put(0, (2, 2), army)
    board.step(move((2, 2), RIGHT, split))
    assert board.at((2, 2)) == (0, stay)
    assert board.at((2, 3)) == (0, go)


@pytest.mark.parametrize(("army", "after"), [(6, (1, 0)), (7, (0, 1)), (5, (1, 1))])
def test_attack_needs_more_than_the_defence(army, after):
    board = Board().put(0, (2, 2), army).put(1, (2, 3), 5)
    board.step(move((2, 2), RIGHT))
    assert board.at((2, 3)) == after
    assert board.at((2, 2)) == (0, 1)


def test_zero_army_cell_counts_as_land_and_falls_to_one():
    board = Board().put(0, (2, 2), 2).put(1, (2, 3), 0)
    assert board.start().totals()[0] == [2, 2]
    board.step(move((2, 2), RIGHT), move((2, 3), UP))
    assert board.at((2, 3)) == (0, 1)
    assert board.totals()[0] == [3, 1]


def test_army_of_one_mountains_and_edges_stop_moves():
    board = Board().put(0, (2, 2), 9).put(0, (0, 3), 9).mountain((2, 3))
    board.step(move((2, 2), RIGHT), move((5, 6), UP))
    assert board.at((2, 2)) == (0, 9)
    assert board.at((5, 6)) == (1, 1)
    board.go_on(move((0, 3), UP))
    assert board.at((0, 3)) == (0, 9)


def test_captured_castle_counts_at_once():
    board = Board(time=5).put(0, (2, 2), 9).put(1, (2, 3), 3, castle=True)
    assert board.start().price(1, (2, 3)) == 35 + 14 + 2
    board.step(move((2, 2), RIGHT))
    assert board.at((2, 3)) == (0, 6)  # 8 - 3, and the growth of time 6
    assert board.castle((2, 3))
    assert board.price(0, (2, 3)) == 35 + 14 + 4
    assert board.price(1, (2, 3)) == 35 + 2


# --- 4: both move; 6: who goes first


def test_second_move_is_played_after_the_general_fell():
    board = Board(generals=((0, 0), (0, 6)), time=5)
    board.put(0, (0, 5), 10).put(1, (0, 6), 2).put(1, (4, 4), 20)
    result = board.step(move((0, 5), RIGHT), move((4, 4), RIGHT))
    assert result.winner[0] == 0 and result.done[0] and not result.truncated[0]
    assert board.at((0, 6)) == (0, 7)
    assert board.at((4, 5)) == (0, 19)
    assert board.at((4, 4)) == (0, 1)
    assert board.totals()[0] == [5, 0]


@pytest.mark.parametrize(("second", "after"), [(40, (1, 15)), (25, (0, 0))])
def test_contested_neutral_cell(second, after):
    board = Board().put(0, (2, 1), 25).put(1, (2, 3), second)
    board.step(move((2, 1), RIGHT), move((2, 3), LEFT))
    assert board.at((2, 2)) == after


def test_smaller_army_first_is_not_a_matter_of_seats():
    board = Board().put(0, (2, 1), 40).put(1, (2, 3), 25)
    board.step(move((2, 1), RIGHT), move((2, 3), LEFT))
    assert board.at((2, 2)) == (0, 15)


def test_head_on():
    board = Board().put(0, (2, 1), 25).put(1, (2, 2), 10)
    board.step(move((2, 1), RIGHT), move((2, 2), LEFT))
    assert board.at((2, 1)) == (0, 1)
    assert board.at((2, 2)) == (0, 14)


def test_head_on_tie_goes_to_seat_zero_first():
    board = Board().put(0, (2, 1), 10).put(1, (2, 2), 10)
    board.step(move((2, 1), RIGHT), move((2, 2), LEFT))
    # 9 onto 10 leave 1, which cannot move.
    assert board.at((2, 1)) == (0, 1)
    assert board.at((2, 2)) == (1, 1)


def test_chase_voids_the_flight():
    board = Board().put(0, (2, 1), 25).put(1, (2, 2), 10)
    board.step(move((2, 1), RIGHT), move((2, 2), RIGHT))
    assert board.at((2, 2)) == (0, 14)
    assert board.at((2, 3)) == (-1, 0)


def test_weak_chase_lets_the_rest_flee():
    board = Board().put(0, (2, 1), 5).put(1, (2, 2), 10)
    board.step(move((2, 1), RIGHT), move((2, 2), RIGHT))
    assert board.at((2, 2)) == (1, 1)
    assert board.at((2, 3)) == (1, 5)


def test_reinforcement_before_attack():
    board = Board().put(0, (1, 2), 8).put(1, (2, 3), 20).put(1, (2, 2), 4)
    board.step(move((1, 2), DOWN), move((2, 3), LEFT))
    assert board.at((2, 2)) == (1, 16)


def test_void_move_does_not_disturb_the_other():
    board = Board().put(0, (2, 1), 5).put(1, (3, 3), 30)
    board.step(move((2, 1), RIGHT), move((4, 4), LEFT))  # seat 1 owns nothing there
    assert board.at((2, 2)) == (0, 4)


# --- 7: growth


def test_growth_of_an_idle_general():
    board = Board(time=0).start()
    seen = []
    for _ in range(52):
        board.go_on()
        seen.append(board.at((0, 0))[1])
    assert seen[:6] == [1, 2, 2, 3, 3, 4]
    assert (seen[48], seen[49], seen[51]) == (25, 27, 28)
    assert board.totals() == ([1, 1], [28, 28])


def test_land_grows_every_fifty_and_neutral_never():
    board = Board(time=49).put(0, (2, 2), 0).put(-1, (3, 3), 4).put(-1, (3, 4), 2, castle=True)
    board.step()
    assert board.at((2, 2)) == (0, 1)
    assert board.at((3, 3)) == (-1, 4)
    assert board.at((3, 4)) == (-1, 2)
    assert board.at((0, 0)) == (0, 3)


# --- 8: building


def test_prices_along_a_row():
    board = Board(height=8, width=9, generals=((0, 0), (7, 8))).start()
    assert [board.price(0, (0, d)) for d in range(8)] == [49, 47, 45, 43, 41, 39, 37, 35]


def test_price_adds_up_over_own_structures_only():
    board = Board(height=9, width=9, generals=((0, 0), (8, 8)))
    board.put(0, (0, 5), 1, castle=True).put(1, (0, 2), 1, castle=True)
    assert board.start().price(0, (0, 3)) == 35 + 8 + 10


@pytest.mark.parametrize(("army", "built"), [(47, True), (46, False)])
def test_build_to_zero(army, built):
    board = Board().put(0, (0, 1), army)
    board.step(build((0, 1)))  # time 4 -> 5: no growth
    assert board.castle((0, 1)) is built
    assert board.at((0, 1)) == (0, 0 if built else 46)


def test_built_castle_grows_on_its_first_even_turn():
    for time, army in ((0, 0), (1, 1)):
        board = Board(height=9, width=9, generals=((0, 0), (8, 8)), time=time)
        board.put(0, (4, 4), 35)
        board.step(build((4, 4)))
        assert board.at((4, 4)) == (0, army)


def test_snipe_comes_after_the_build():
    board = Board(height=13, width=13, generals=((12, 0), (12, 12))).put(0, (5, 5), 36)
    board.put(1, (5, 6), 3)
    board.step(build((5, 5)), move((5, 6), LEFT))
    assert board.at((5, 5)) == (1, 1)
    assert board.castle((5, 5))
    assert board.price(1, (5, 4)) == 35 + 12
    assert board.price(0, (5, 4)) == 35


@pytest.mark.parametrize("cell", [(0, 0), (2, 2), (3, 3), (-1, 2), (6, 0), (0, 7), (2, -5)])
def test_no_build_on_structures_or_elsewhere(cell):
    board = Board().put(0, (0, 0), 500).put(0, (2, 2), 500, castle=True)
    board.step(build(cell))
    assert board.totals()[1] == [1000, 1]
    assert (board.game.table[0, 16:18] == 0).all()


def test_castle_cap():
    board = Board(castle_cap=1).put(0, (3, 3), 500).put(0, (3, 4), 500)
    board.step(build((3, 3)))
    board.go_on(build((3, 4)))
    assert board.castle((3, 3)) and not board.castle((3, 4))


# --- 9: deathtouch, mutual capture, the end


def touch_board(time, army=3, general=500):
    board = Board(generals=((5, 0), (0, 6)), time=time)
    return board.put(0, (0, 5), army).put(1, (0, 6), general)


def test_no_touch_before_its_time():
    board = touch_board(799)
    assert not board.step(move((0, 5), RIGHT)).done[0]
    assert board.at((0, 6)) == (1, 500)  # 500 - 2, then the growth of times 2 and 50


def test_touch_grows_first_and_then_takes_all():
    board = touch_board(801)
    result = board.step(move((0, 5), RIGHT))
    assert result.winner[0] == 0 and result.done[0]
    assert board.at((0, 6)) == (0, 499)
    assert board.at((5, 0)) == (0, 2)
    assert board.game.turns[0] == 802
    assert board.totals()[0] == [3, 0]


def test_capture_ends_without_growth():
    board = Board(generals=((5, 0), (0, 7)), width=8, time=1).put(0, (0, 6), 10).put(1, (0, 7), 4)
    assert board.step(move((0, 6), RIGHT)).winner[0] == 0
    assert board.at((0, 7)) == (0, 5)
    assert board.at((5, 0)) == (0, 1)


def test_kind_three_moves_but_does_not_touch():
    board = touch_board(800)
    assert not board.step(move((0, 5), RIGHT, kind=3)).done[0]
    assert board.at((0, 6)) == (1, 498)


def test_pure_chase_defends_against_a_touch():
    board = touch_board(800).put(1, (1, 5), 9)
    result = board.step(move((0, 5), RIGHT), move((1, 5), UP))
    assert not result.done[0]
    assert board.at((0, 5)) == (1, 5)


def test_weak_chase_does_not():
    board = touch_board(800, army=9).put(1, (1, 5), 3)
    assert board.step(move((0, 5), RIGHT), move((1, 5), UP)).winner[0] == 0


def mutual_board(time, first=9, second=12, general=2):
    board = Board(generals=((5, 0), (0, 6)), time=time)
    board.put(0, (0, 5), first).put(1, (0, 6), general)
    return board.put(1, (5, 1), second).put(0, (5, 0), general)


@pytest.mark.parametrize("time", [5, 805])
def test_mutual_capture_is_a_draw_with_all_cells_the_second_movers(time):
    board = mutual_board(time)
    result = board.step(move((0, 5), RIGHT), move((5, 1), LEFT))
    assert result.done[0] and result.winner[0] == -1 and not result.truncated[0]
    assert board.totals()[0] == [0, 4]
    assert board.at((0, 6)) == (1, 6)
    assert board.at((5, 0)) == (1, 9)  # and no growth


def test_mutual_touch_is_a_draw_after_ordinary_attacks():
    board = mutual_board(805, general=100)
    result = board.step(move((0, 5), RIGHT), move((5, 1), LEFT))
    assert result.done[0] and result.winner[0] == -1 and not result.truncated[0]
    assert board.at((0, 6)) == (1, 93)
    assert board.at((5, 0)) == (0, 90)
    assert board.totals()[0] == [2, 2]


def test_capture_against_touch_is_a_draw_with_the_cells_the_capturers():
    board = mutual_board(805).put(0, (5, 0), 100)
    result = board.step(move((0, 5), RIGHT), move((5, 1), LEFT))
    assert result.done[0] and result.winner[0] == -1
    assert board.totals()[0] == [4, 0]


def test_truncation_and_rest():
    board = Board(time=1198).start()
    assert not board.go_on().done[0]
    result = board.go_on()
    assert result.done[0] and result.truncated[0] and result.winner[0] == -1
    before = board.game.state_arrays()
    result = board.go_on(move((0, 0), RIGHT), build((5, 6)))
    assert result.done[0] and result.truncated[0]
    after = board.game.state_arrays()
    assert all(np.array_equal(before[key], after[key]) for key in before)


def test_touch_on_the_last_turn_is_a_win():
    board = touch_board(1199)
    result = board.step(move((0, 5), RIGHT))
    assert result.winner[0] == 0 and not result.truncated[0]


# --- 11: out-of-range values


@pytest.mark.parametrize(
    ("direction", "to"),
    [
        (4, (2, 3)),
        (99, (2, 3)),
        (-1, (2, 3)),
        (-2, (2, 1)),
        (-3, (3, 2)),
        (-4, (1, 2)),
        (-9, (1, 2)),
    ],
)
def test_directions_out_of_range(direction, to):
    board = Board().put(0, (2, 2), 5)
    board.step(move((2, 2), direction))
    assert board.at(to) == (0, 4)


@pytest.mark.parametrize("kind", [3, -1, 77])
def test_odd_kinds_move(kind):
    board = Board().put(0, (2, 2), 5)
    board.step(move((2, 2), RIGHT, kind=kind))
    assert board.at((2, 3)) == (0, 4)


@pytest.mark.parametrize("cell", [(-1, 0), (6, 0), (0, -1), (0, 7), (10**9, 0), (0, -(10**9))])
def test_sources_off_the_board(cell):
    board = Board(time=4)
    board.step(move(cell, UP), (PASS, *cell, 0, 0))
    assert board.totals() == ([1, 1], [1, 1])
    assert board.step(NOTHING).done[0] == 0
