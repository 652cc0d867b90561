"""The resolving power of a match, against closed forms and a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from royale.evidence.power import chance_by_luck, elo, share_to_show


@pytest.mark.parametrize(("n", "share"), [(32, 0.646), (512, 0.536), (2048, 0.518)])
def test_half_the_time_is_the_documented_share(n, share):
    assert share_to_show(n, 1.65, 0.5) == pytest.approx(share, abs=5e-4)


def test_a_match_at_that_share_clears_the_gate_that_often():
    share = share_to_show(400, 1.65, 0.8)
    wins = np.random.default_rng(0).binomial(400, share, 20_000)
    clears = (2 * wins - 400) >= 1.65 * 20
    assert clears.mean() == pytest.approx(0.8, abs=0.03)  # wins are whole numbers


def test_luck_and_elo():
    # one-sided tail beyond 1.65 is 0.04947
    assert chance_by_luck(1.65, 1) == pytest.approx(0.04947, abs=1e-5)
    assert chance_by_luck(1.65, 4) == pytest.approx(1 - 0.95053**4, abs=1e-4)
    assert elo(10 / 11) == pytest.approx(400) and elo(0.5) == 0
