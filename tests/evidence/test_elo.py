"""Score, Elo and its interval, against arithmetic by hand and exact coverage."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from royale.evidence import elo
from royale.evidence.gate import Record

COUNT = st.integers(0, 10**6)


def test_score_and_elo():
    assert elo.score(Record(3, 1, 4)) == 5 / 8
    assert elo.score(Record(0, 0, 0)) == 0.5
    # three points of four: odds 3, and log10(3) = 0.47712
    assert elo.elo_of_score(0.75) == pytest.approx(190.848, abs=0.001)
    assert elo.score_of_elo(400) == pytest.approx(10 / 11)
    assert elo.score_of_elo(elo.elo_of_score(0.3)) == pytest.approx(0.3)


def test_without_draws_it_is_the_interval_of_log_odds():
    # 30-20: log(30.5 / 20.5) = 0.39730, its error sqrt(1/30.5 + 1/20.5) = 0.28559
    found = elo.of_record(Record(30, 20, 0))
    per = 400 / math.log(10)
    assert found.elo == pytest.approx(0.39730 * per, abs=0.01)
    assert found.error == pytest.approx(0.28559 * per, abs=0.01)
    low, high = found.interval()
    assert (low, high) == pytest.approx((found.elo - 97.24, found.elo + 97.24), abs=0.02)


def test_draws_narrow_the_interval():
    # 10-10-80 with 1/2 added twice: 101 units, variance (10.5 / 4) * 2 / 101 = 0.051980
    found = elo.of_record(Record(10, 10, 80))
    expected = 400 / math.log(10) * math.sqrt(0.051980 / 101) / 0.25
    assert found.elo == pytest.approx(0, abs=1e-9)
    assert found.error == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("n", "share"), [(20, 0.5), (20, 0.7), (100, 0.5), (100, 0.9), (512, 0.97)]
)
def test_the_interval_covers_95_percent(n, share):
    truth = elo.elo_of_score(share)
    covered = 0.0
    for wins in range(n + 1):
        low, high = elo.of_record(Record(wins, n - wins, 0)).interval()
        covered += binom.pmf(wins, n, share) * (low <= truth <= high)
    assert covered >= 0.94


@given(COUNT, COUNT, COUNT)
def test_finite_and_symmetric_whatever_the_record(win, loss, draw):
    found, back = elo.of_record(Record(win, loss, draw)), elo.of_record(Record(loss, win, draw))
    assert math.isfinite(found.elo) and 0 < found.error < 1000
    assert back.elo == pytest.approx(-found.elo, abs=1e-6)
    assert back.error == pytest.approx(found.error, rel=1e-6)


def test_a_player_that_wins_all_or_nothing():
    # 0-32: log(0.5 / 32.5) = -4.17439
    found = elo.of_record(Record(0, 32, 0))
    assert found.elo == pytest.approx(-725.17, abs=0.01)
    assert found.interval()[1] < 0


def test_pairs_take_out_what_the_seats_decide():
    # the player in seat 0 wins every game: each pair scores 1 of 2
    games = [{"winner": 0}, {"winner": 1}] * 50
    assert elo.pair_counts(games) == [0, 0, 50, 0, 0]
    pairs, single = elo.strength([0, 0, 50, 0, 0]), elo.of_record(Record(50, 50, 0))
    assert pairs.elo == pytest.approx(single.elo) == pytest.approx(0, abs=1e-9)
    assert pairs.error < single.error / 3


def test_pair_counts_by_hand():
    winners = [0, 0, 0, None, 1, 0, None, None, None, 1, 1, 1]
    assert elo.pair_counts([{"winner": one} for one in winners]) == [1, 1, 2, 1, 1]
    with pytest.raises(ValueError):
        elo.pair_counts([{"winner": 0}])


def test_independent_games_give_pairs_the_same_error():
    # pair outcomes of independent games at 50%: 1 : 2 : 1
    pairs, single = elo.strength([250, 0, 500, 0, 250]), elo.of_record(Record(1000, 1000, 0))
    assert pairs.error == pytest.approx(single.error, rel=2e-3)
