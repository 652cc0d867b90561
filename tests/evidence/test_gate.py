"""The gate and its labels, against arithmetic done by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from royale.evidence.gate import Record, clears, label, margin, summary
from royale.evidence.promotion import decide


def test_margin_by_hand():
    # 100 wins, 44 losses: 56 / sqrt(144) = 56 / 12
    assert margin(Record(100, 44, 7)) == pytest.approx(56 / 12)
    assert margin(Record(0, 0, 50)) == 0.0
    # 1102-930-13: 172 / sqrt(2032) = 172 / 45.0777
    assert margin(Record(1102, 930, 13)) == pytest.approx(3.81563, abs=1e-5)


def test_gate_is_inclusive_and_leaves_draws_out():
    # W - L = 6, W + L = 16: 6 >= 1.5 * 4 exactly
    assert clears(Record(11, 5, 0), 1.5)
    assert clears(Record(11, 5, 10_000), 1.5)
    assert not clears(Record(11, 5, 0), 1.5001)
    assert not clears(Record(0, 0, 32), 1.65)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Record(70, 30, 0), "strong"),  # 4.0
        (Record(60, 40, 0), "moderate"),  # 2.0
        (Record(58, 42, 0), "tie"),  # 1.6
        (Record(42, 58, 0), "tie"),
        (Record(40, 60, 0), "rejected"),  # -2.0
        (Record(0, 0, 9), "tie"),
    ],
)
def test_labels(record, expected):
    assert label(record, 1.65, 2.58) == expected


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 5000))
def test_swapping_players_swaps_the_verdict(win, loss, draw):
    there, back = Record(win, loss, draw), Record(loss, win, draw)
    assert margin(there) == -margin(back)
    swapped = {"strong": "rejected", "moderate": "rejected", "tie": "tie"}
    found = label(there, 1.65, 2.58)
    if found != "rejected":
        assert label(back, 1.65, 2.58) == swapped[found]
    if win + loss:
        # the other way to write the gate, squared
        squared = win >= loss and (win - loss) ** 2 >= 1.65**2 * (win + loss)
        if not math.isclose((win - loss) ** 2, 1.65**2 * (win + loss), rel_tol=1e-12):
            assert clears(there, 1.65) == squared


GOOD, BAD, BETTER = Record(80, 20, 0), Record(50, 50, 0), Record(90, 10, 0)
WON, TIED, LOST = Record(70, 30, 0), Record(52, 48, 0), Record(30, 70, 0)


@pytest.mark.parametrize(
    ("direct", "treatment", "control", "tie_break", "promoted", "rule"),
    [
        (WON, GOOD, GOOD, "control", "treatment", "direct"),
        (LOST, GOOD, GOOD, "treatment", "control", "direct"),
        # the direct loser is never promoted, even if only it beats the parent
        (WON, BAD, GOOD, "control", "parent", "carried_forward"),
        (LOST, GOOD, BAD, "control", "parent", "carried_forward"),
        (TIED, GOOD, GOOD, "control", "control", "tie_break"),
        (TIED, GOOD, GOOD, "treatment", "treatment", "tie_break"),
        (TIED, BETTER, GOOD, "parent_margin", "treatment", "tie_break"),
        (TIED, GOOD, BETTER, "parent_margin", "control", "tie_break"),
        (TIED, GOOD, GOOD, "parent_margin", "control", "tie_break"),
        (TIED, GOOD, BAD, "control", "treatment", "only_arm_over_parent"),
        (TIED, BAD, BAD, "control", "parent", "carried_forward"),
    ],
)
def test_promotion_rules(direct, treatment, control, tie_break, promoted, rule):
    parents = {"treatment": summary(treatment, 1.65), "control": summary(control, 1.65)}
    said = {**summary(direct, 1.65), "evidence": label(direct, 1.65, 2.58)}
    result = decide(said, parents, tie_break)
    assert (result.promoted, result.rule) == (promoted, rule)
    if rule == "tie_break":
        assert "predeclared" in result.why
