"""Exact tests, Holm's adjustment and resolving power, by hand and by plain sums."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from royale.evidence import exact
from royale.evidence.gate import Record, clears


def test_binomial_p_by_hand():
    # 8 of 10 or more: (45 + 10 + 1) / 1024
    assert exact.p_better(Record(8, 2, 5)) == pytest.approx(56 / 1024)
    assert exact.p_different(Record(8, 2, 5)) == pytest.approx(112 / 1024)
    assert exact.p_different(Record(2, 8, 0)) == pytest.approx(112 / 1024)
    # not fewer than 2 of 10: 1 - (1 + 10) / 1024
    assert exact.p_better(Record(2, 8, 0)) == pytest.approx(1013 / 1024)
    assert exact.p_better(Record(0, 0, 9)) == exact.p_different(Record(0, 0, 9)) == 1


def test_holm_worked_example():
    # 4 * .005, 3 * .01, 2 * .03, and .04 lifted to the one before it
    assert exact.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert exact.holm([0.9, 0.6]) == [1.0, 1.0]
    assert exact.holm([0.2]) == [0.2] and exact.holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p):
    adjusted = exact.holm(p)
    for raw, here in zip(p, adjusted, strict=True):
        assert raw <= here <= min(1, len(p) * raw) + 1e-15
    pairs = sorted(zip(p, adjusted, strict=True))
    assert [a for _, a in pairs] == sorted(a for _, a in pairs)


@given(st.integers(1, 3000), st.sampled_from([0.5, 1.0, 1.65, 2.58]))
def test_wins_needed_is_where_the_gate_opens(decisive, bar):
    wins = exact.wins_needed(decisive, bar)
    assert not clears(Record(wins - 1, decisive - wins + 1, 0), bar)
    if wins <= decisive:
        assert clears(Record(wins, decisive - wins, 0), bar)


@pytest.mark.parametrize("decisive", [32, 100, 512])
def test_resolving_power_by_plain_sums(decisive):
    share = exact.resolves(decisive, 1.65)
    chance = sum(
        math.comb(decisive, wins) * share**wins * (1 - share) ** (decisive - wins)
        for wins in range(decisive + 1)
        if 2 * wins - decisive >= 1.65 * math.sqrt(decisive)
    )
    assert chance == pytest.approx(0.8, abs=1e-6)


def test_larger_matches_resolve_less_and_tiny_ones_nothing():
    shares = [exact.resolves(n, 1.65) for n in (32, 128, 512, 2048)]
    assert shares == sorted(shares, reverse=True)
    # normal approximation: 1/2 + (1.65 + 0.84) / (2 sqrt(n))
    assert shares[-1] == pytest.approx(0.5 + 2.49 / (2 * math.sqrt(2048)), abs=0.001)
    assert exact.resolves(2, 1.65) is None  # both won is W - L = 2 < 2.33
    assert exact.resolves(0, 1.65) is None
