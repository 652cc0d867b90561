"""Time to target: brackets, ratios and verdicts, by values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from royale.evidence.gate import Record
from royale.evidence.target import (
    Estimate,
    Speed,
    measure,
    over,
    speed,
    speed_ratio,
    steps_ratio,
    steps_to_target,
    verdict,
)
from royale.schemas import schema

BAR = 1.65
# (60 - 40) / sqrt(100) = 2 clears, (55 - 45) / 10 = 1 does not
CLEARS, FAILS = Record(60, 40, 7), Record(55, 45, 0)


def exact(value):
    return Estimate(value, value, value)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([FAILS, CLEARS, CLEARS], Estimate(200, 100, 200)),
        ([CLEARS, CLEARS, CLEARS], Estimate(100, 0, 100)),
        ([FAILS, FAILS, CLEARS], Estimate(300, 200, 300)),
        # once by luck, then no more: only what lasts counts
        ([CLEARS, FAILS, CLEARS], Estimate(300, 200, 300)),
        ([CLEARS, CLEARS, FAILS], Estimate(None, 300, math.inf)),
        ([FAILS, FAILS, FAILS], Estimate(None, 300, math.inf)),
    ],
)
def test_steps_are_bracketed_by_checkpoints(records, expected):
    assert steps_to_target([100, 200, 300], records, BAR) == expected


def test_an_arm_that_is_no_better_is_called_there_as_often_as_at_one_look():
    # equal players, 400 arms with 5 checkpoints each: a one-sided test at 5%
    draws = np.random.default_rng(1).binomial(400, 0.5, (400, 5))
    reached = sum(
        steps_to_target(range(1, 6), [Record(int(w), 400 - int(w), 0) for w in row], BAR).value
        is not None
        for row in draws
    )
    last = sum((2 * w - 400) >= BAR * 20 for w in draws[:, -1])
    assert reached == last and 8 <= reached <= 34  # 5% of 400 is 20, four standard errors 17


def test_a_target_needs_checkpoints():
    with pytest.raises(ValueError, match="0 checkpoints"):
        steps_to_target([], [], BAR)


def test_speed_is_the_whole_runs_with_batch_means():
    # ten batches of two iterations of 10 steps: 2 s each in even batches, 1 s in odd ones
    seconds = [2.0 if batch % 2 == 0 else 1.0 for batch in range(10) for _ in range(2)]
    found = speed([(10, s) for s in seconds])
    assert found.value == pytest.approx(200 / 30)
    # logs differ by log 2: deviation (log 2 / 2) sqrt(10 / 9), over sqrt(10)
    error = math.log(2) / 2 * math.sqrt(10 / 9) / math.sqrt(10)
    assert (found.error, found.freedom) == (pytest.approx(error), 9)
    # Student's t at 97.5% with 9 degrees of freedom is 2.2622
    assert found.estimate.high / found.value == pytest.approx(math.exp(2.2622 * error), rel=1e-4)
    assert found.value / found.estimate.low == pytest.approx(found.estimate.high / found.value)


def test_one_iteration_has_no_spread():
    assert speed([(10, 2.0)]).estimate == Estimate(5.0, 0.0, math.inf)
    assert speed_ratio(speed([(10, 2.0)]), speed([(10, 1.0)])) == Estimate(0.5, 0.0, math.inf)


def test_speed_ratio_is_welchs():
    # equal errors and freedoms: error sqrt(2) e, freedom 18, t at 97.5% is 2.1009
    found = speed_ratio(Speed(300.0, 0.1, 9), Speed(400.0, 0.1, 9))
    assert found.value == 0.75
    assert found.high / 0.75 == pytest.approx(math.exp(2.1009 * 0.1 * math.sqrt(2)), rel=1e-4)


def test_steps_ratio_of_brackets():
    reached, later = Estimate(200, 100, 200), Estimate(300, 200, 300)
    assert steps_ratio(reached, later) == Estimate(200 / 300, 100 / 300, 200 / 200)
    never = Estimate(None, 400, math.inf)
    assert steps_ratio(reached, never) == Estimate(None, 0.0, 200 / 400)
    assert steps_ratio(never, reached) == Estimate(None, 400 / 200, math.inf)
    assert steps_ratio(never, never) == Estimate(None, 0.0, math.inf)
    assert steps_ratio(reached, Estimate(100, 0, 100)).high == math.inf


def test_the_public_case_lies_on_the_diagonal():
    assert verdict(exact(0.62), exact(0.617)) == "tie"
    assert over(exact(0.62), exact(0.617)).value == pytest.approx(1.00486, abs=1e-5)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (exact(0.5), exact(0.6), "treatment"),
        (exact(0.7), exact(0.6), "control"),
        (Estimate(0.5, 0.4, 0.7), exact(0.6), "open"),
        (Estimate(0.5, 0.4, 0.55), Estimate(0.6, 0.56, 0.65), "treatment"),
        (Estimate(None, 0.0, 0.5), exact(0.6), "treatment"),
        (Estimate(None, 1.0, math.inf), exact(0.6), "control"),
        (Estimate(None, 0.0, math.inf), exact(0.6), "open"),
        (Estimate(0.6, 0.1, math.inf), exact(0.6), "tie"),
    ],
)
def test_verdicts(a, b, expected):
    assert verdict(a, b) == expected


positive = st.floats(1e-3, 1e3)


@given(st.tuples(positive, positive, positive), st.tuples(positive, positive, positive))
def test_a_ratios_interval_holds_its_value(top, bottom):
    estimates = [Estimate(s[1], s[0], s[2]) for s in map(sorted, (top, bottom))]
    found = over(*estimates)
    assert found.low <= found.value * (1 + 1e-12) and found.value <= found.high * (1 + 1e-12)


@given(positive, positive)
def test_the_verdict_turns_with_the_arms(a, b):
    other = {"treatment": "control", "control": "treatment"}
    found = verdict(exact(a), exact(b))
    assert verdict(exact(1 / a), exact(1 / b)) == other.get(found, found)


def test_measure_holds_every_seeds_bracket():
    checkpoints = {
        # seed 0 is there at 100, seed 1 at 200; together 120-80 (margin 2.8), then more
        "treatment": [(100, [Record(65, 35, 0), FAILS]), (200, [CLEARS, CLEARS])],
        "control": [(100, [FAILS, FAILS]), (200, [FAILS, FAILS])],
    }
    iterations = {"treatment": [(10, 1.0)] * 20, "control": [(10, 2.0)] * 20}
    found = measure("g02.champion", BAR, checkpoints, iterations)
    treatment, control = found["arms"]["treatment"], found["arms"]["control"]
    assert treatment["steps"] == {"value": 100, "low": 0, "high": 200}
    assert treatment["seeds_reached"] == 2
    assert control["steps"] == {"value": None, "low": 200, "high": None}
    assert control["seconds"]["value"] is None and control["seconds"]["low"] == 40
    assert treatment["seconds"] == {"value": 10, "low": 0, "high": 20}
    assert found["a"] == {"value": None, "low": 0, "high": 1}
    assert found["b"] == {"value": 2, "low": 2, "high": 2}
    # at most 1 time the steps, at twice the speed
    assert found["time_ratio"] == {"value": None, "low": 0, "high": 0.5}
    assert found["sooner"] == "treatment"
    assert treatment["checkpoints"][0] == {
        "steps": 100,
        "win": 120,
        "loss": 80,
        "draw": 0,
        "margin": 2.8284,
        "clears": True,
    }
    required = set(schema("files/target")["required"])
    assert set(found) == required - {"generation", "profile", "question", "bar"}
