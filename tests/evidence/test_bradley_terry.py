"""Ratings: planted strengths, the two-player case by hand, and what cannot be rated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from royale.errors import RoyaleError
from royale.evidence import bradley_terry
from royale.evidence.elo import PER_LOGIT, of_record, score_of_elo
from royale.evidence.gate import Record

STRENGTHS = np.array([0.0, 60, 120, 150, 300, -200])


def panel(rng, strengths, n_games, draws=0.0):
    """All pairs of players of given Elo, with a share of draws among the games."""
    edges = []
    for a in range(len(strengths)):
        for b in range(a):
            decisive = n_games - rng.binomial(n_games, draws)
            win = rng.binomial(decisive, score_of_elo(strengths[a] - strengths[b]))
            edges.append((a, b, Record(win, decisive - win, n_games - decisive)))
    return edges


def test_two_players_by_hand():
    # 30-20-10 is 35 of 60 points, with the prior 35.5 of 61
    found = bradley_terry.fit(["x", "y"], [(0, 1, Record(30, 20, 10))], anchor=1)
    assert found.elo == pytest.approx([PER_LOGIT * math.log(35.5 / 25.5), 0], abs=1e-3)
    assert found.error == pytest.approx([PER_LOGIT * math.sqrt(1 / 35.5 + 1 / 25.5), 0], rel=1e-4)
    assert found.expected(0, 1) == pytest.approx(35.5 / 61, abs=1e-5)
    # and without draws it is the Elo of a record
    single = of_record(Record(30, 20, 0))
    found = bradley_terry.fit(["x", "y"], [(0, 1, Record(30, 20, 0))], anchor=1)
    assert (found.elo[0], found.error[0]) == pytest.approx((single.elo, single.error), rel=1e-4)


def test_planted_strengths_are_recovered():
    edges = panel(np.random.default_rng(1), STRENGTHS, 20_000)
    found = bradley_terry.fit(list("abcdef"), edges, anchor=0)
    assert found.elo == pytest.approx(STRENGTHS, abs=5)
    shifted = bradley_terry.fit(list("abcdef"), edges, anchor=4)
    assert shifted.elo == pytest.approx(found.elo - found.elo[4], abs=0.01)


def test_intervals_cover_the_planted_strengths():
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(200):
        found = bradley_terry.fit(list("abcdef"), panel(rng, STRENGTHS, 200), anchor=0)
        for player in range(1, 6):
            low, high = found.interval(player)
            inside += low <= STRENGTHS[player] <= high
    assert 0.93 <= inside / 1000 <= 0.97  # 1000 know 95% to +- 0.7%, less as players share games


def test_who_never_met_borrows_from_who_met_both():
    # x beats y 75:25 and y beats z 75:25: x over z is twice 190.8, not quite for the prior
    edges = [(0, 1, Record(7500, 2500, 0)), (1, 2, Record(7500, 2500, 0))]
    found = bradley_terry.fit(["x", "y", "z"], edges, anchor=2)
    assert found.elo == pytest.approx([381.7, 190.8, 0], abs=0.1)


def test_a_player_that_wins_all_has_a_finite_rating():
    edges = [(0, 1, Record(512, 0, 0)), (1, 2, Record(0, 0, 512))]
    found = bradley_terry.fit(["x", "y", "z"], edges, anchor=1)
    assert found.elo[0] == pytest.approx(PER_LOGIT * math.log(512.5 / 0.5), abs=0.5)
    assert found.elo[2] == pytest.approx(0, abs=1e-3)


def test_players_that_never_met_the_others_are_named():
    edges = [(0, 1, Record(5, 5, 0)), (2, 3, Record(5, 5, 0))]
    with pytest.raises(RoyaleError, match=r"no matches connect y, z with w"):
        bradley_terry.fit(["w", "x", "y", "z"], edges, anchor=0)
