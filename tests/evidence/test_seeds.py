"""Effects over seeds: simulated ladders with a known truth, and the interval by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence_parts import GATE, generation, made_up_pairs, match_of
from scipy.stats import norm, t

from royale.evidence import elo, seeds
from royale.evidence.gate import Record
from royale.evidence.generation import at_equal_time, effect_of

LADDERS = 400


def simulated(truth, seed_noise, n_seeds=3, n_pairs=256, draws=0.3):
    """The effects of LADDERS simulated generations.

    seed_noise: how far each seed's strength is off, in Elo.
    """
    rng = np.random.default_rng(5)
    effects = []
    for _ in range(LADDERS):
        strengths = truth + seed_noise * rng.standard_normal(n_seeds)
        matches = [match_of(made_up_pairs(rng, s, n_pairs, draws)) for s in strengths]
        effects.append(effect_of(matches, GATE))
    return effects


@pytest.mark.parametrize("seed_noise", [0, 20, 80])
def test_a_null_effect_over_three_seeds_is_not_called_an_improvement(seed_noise):
    effects = simulated(0, seed_noise)
    called = sum(found["evidence"] in ("strong", "moderate") for found in effects)
    assert called <= 0.05 * LADDERS
    assert sum(found["evidence"] == "rejected" for found in effects) <= 0.05 * LADDERS
    assert sum(found["p"] <= 0.05 for found in effects) <= 0.08 * LADDERS
    # and the interval holds the truth as often as it says, or more
    assert sum(found["elo_low"] <= 0 <= found["elo_high"] for found in effects) >= 0.93 * LADDERS


def test_the_gate_alone_would_call_seed_noise_an_improvement():
    rng = np.random.default_rng(5)
    called = 0
    for _ in range(LADDERS):
        strengths = 80 * rng.standard_normal(3)
        matches = [match_of(made_up_pairs(rng, s, 256, 0.3)) for s in strengths]
        record = Record(*(sum(m[key] for m in matches) for key in ("win", "loss", "draw")))
        called += seeds.label(record, 1.65, 2.58) in ("strong", "moderate")
    assert called > 0.25 * LADDERS


def test_a_real_effect_is_found():
    effects = simulated(120, 10)
    assert sum(found["evidence"] in ("strong", "moderate") for found in effects) >= 0.9 * LADDERS
    # 30% draws take their part of the score
    truth = elo.elo_of_score(0.3 / 2 + 0.7 * elo.score_of_elo(120))
    assert np.mean([found["elo"] for found in effects]) == pytest.approx(truth, abs=2)
    assert sum(one["elo_low"] <= truth <= one["elo_high"] for one in effects) >= 0.93 * LADDERS


def test_one_seed_is_told_and_rests_on_its_games():
    pairs = [10, 20, 40, 25, 15]
    record = Record(100, 80, 40)
    found = seeds.summary(record, [pairs], 1.65, 2.58)
    assert (found["seeds"], found["unit"], found["note"]) == (1, "games", "one seed")
    low, high = elo.strength(pairs).interval()
    assert (found["elo_low"], found["elo_high"]) == pytest.approx((low, high), abs=0.01)


def test_the_interval_over_seeds_is_students():
    # three seeds of 1000 pairs: points 0.45, 0.5, 0.58 a game, whose Elo is close to linear
    pairs = [[550, 0, 0, 0, 450], [500, 0, 0, 0, 500], [420, 0, 0, 0, 580]]
    record = Record(2 * 1530, 2 * 1470, 0)
    found = seeds.effect(record, pairs)
    each = [elo.elo_of_score(s) for s in (0.45, 0.5, 0.58)]
    half = t.ppf(0.975, 2) * np.std(each, ddof=1) / math.sqrt(3)
    assert found.elo == pytest.approx(elo.elo_of_score(0.51), abs=0.1)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.03)
    spread = np.std(each, ddof=1) / math.sqrt(3)
    assert found.p == pytest.approx(t.sf(found.elo / spread, 2), rel=0.05)


def test_seeds_that_agree_by_chance_do_not_narrow_the_interval():
    pairs = [[50, 0, 0, 0, 70]] * 3
    found = seeds.effect(Record(420, 300, 0), pairs)
    low, high = elo.strength([150, 0, 0, 0, 210]).interval()
    assert (found.low, found.high) == pytest.approx((low, high))
    # 120 of 720: 120 / sqrt(720) = 4.47 standard deviations
    assert found.p == pytest.approx(norm.sf(4.47), rel=0.2)


def test_disagreeing_seeds_are_a_tie_whatever_the_gate_says():
    pairs = [[10, 0, 0, 0, 190], [100, 0, 0, 0, 100], [110, 0, 0, 0, 90]]
    record = Record(760, 440, 0)
    assert seeds.label(record, 1.65, 2.58) == "strong"
    found = seeds.summary(record, pairs, 1.65, 2.58)
    assert (found["evidence"], found["note"]) == ("tie", "3 seeds disagree")
    assert found["elo_low"] < 0 and found["p"] > 0.05


def test_all_won_is_finite():
    found = seeds.summary(Record(96, 0, 0), [[0, 0, 0, 0, 16]] * 3, 1.65, 2.58)
    assert found["evidence"] == "strong" and math.isfinite(found["elo_high"])
    assert 0 < found["elo_low"] < found["elo"]


def test_how_many_were_tried_stands_beside_each_p():
    ladder = generation("g0", None, None)
    assert ladder["effect"] is None
    wins = (570, 530, 500)
    for number, win in enumerate(wins, 1):
        pairs = [250, 0, 0, 0, 250]
        direct = {"a": "t", "b": "c", "mode": "fixed", "win": win, "loss": 1000 - win, "draw": 0}
        direct["pairs"] = pairs
        ladder = generation(f"g{number}", ladder, direct)
    effects = [entry["effect"] for entry in ladder["lineage"]]
    assert effects[0] is None and all(one["tried"] == 3 for one in effects[1:])
    raw = [one["p"] for one in effects[1:]]
    assert raw == sorted(raw)
    assert [one["p_holm"] for one in effects[1:]] == pytest.approx(
        [3 * raw[0], max(2 * raw[1], 3 * raw[0]), max(raw[2], 2 * raw[1])]
    )
    assert ladder["effect"] == effects[-1]
    # a parent match has no label of its own: it shows no effect
    assert "evidence" not in ladder["sanity"]["treatment"]["p"]


def test_equal_wall_clock_has_the_same_words():
    matches = {str(k): match_of(np.full((50, 2), 0.5)) for k in range(3)}
    found = at_equal_time(matches, {}, GATE)
    assert found["direct"]["evidence"] == found["effect"]["evidence"] == "tie"
    assert at_equal_time({}, {}, GATE) is None
