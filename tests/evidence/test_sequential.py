"""The sequential test: its formula by hand, its error rates by simulation, and matches by it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evidence_parts import GATE, SETTINGS, generation

from royale import games
from royale.errors import RoyaleError
from royale.evidence import elo, match
from royale.evidence.generation import effect_of, match_summary
from royale.evidence.sequential import Sprt, play

SPRT = Sprt(elo0=0, elo1=40, alpha=0.05, beta=0.05, batch=64)
RUNS = 3000


def test_bounds_and_ratio_by_hand():
    assert (SPRT.lower, SPRT.upper) == pytest.approx((-math.log(19), math.log(19)))
    # 100 pairs and two halves: mean (25 * .25 + 30 * .5 + 20 * .75 + 15 + .5) / 101,
    # s1 = 1 / (1 + 10 ** -0.1) = 0.557312
    counts = [10, 25, 30, 20, 15]
    mean = (6.25 + 15 + 15 + 15.5) / 101
    second = (25 / 16 + 7.5 + 20 * 9 / 16 + 15.5) / 101
    expected = 101 * 0.057312 * (2 * mean - 1.057312) / (2 * (second - mean**2))
    assert float(SPRT.llr(counts)) == pytest.approx(expected, rel=1e-4)
    assert SPRT.verdict(3) == "better" and SPRT.verdict(-3) == "not_better"
    assert SPRT.verdict(2.9) == "undecided"


def pentanomial(strength, kind):
    """Chances of a pair's five outcomes at a true Elo: games of a kind of match."""
    score = elo.score_of_elo(strength)
    draws = {"decisive": 0.0, "drawish": 0.6, "seats": 0.1}[kind]
    if kind == "seats":  # the map favours one seat: wins and losses come in pairs
        tilt = 0.25
        first = [1 - (score + tilt), 0, score + tilt]
        second = [1 - (score - tilt), 0, score - tilt]
    else:
        win = score - draws / 2
        first = second = [1 - win - draws, draws, win]
    return np.convolve(first, second)


def verdicts(strength, kind, most=400):
    """Verdicts and games of RUNS simulated matches of at most `most` batches."""
    rng = np.random.default_rng(3)
    chances = pentanomial(strength, kind)
    counts = np.zeros((RUNS, 5))
    verdict, used = np.full(RUNS, "undecided ", object), np.zeros(RUNS)
    open_ = np.ones(RUNS, bool)
    for _ in range(most):
        counts[open_] += rng.multinomial(SPRT.batch // 2, chances, int(open_.sum()))
        used[open_] += SPRT.batch
        llr = SPRT.llr(counts)
        verdict[open_ & (llr >= SPRT.upper)] = "better"
        verdict[open_ & (llr <= SPRT.lower)] = "not_better"
        open_ &= (llr < SPRT.upper) & (llr > SPRT.lower)
        if not open_.any():
            break
    return verdict, used


@pytest.mark.parametrize("kind", ["decisive", "drawish", "seats"])
def test_error_rates_are_within_the_stated_ones(kind):
    # 3000 runs know a rate of 5% to +- 0.4%
    accepted, _ = verdicts(SPRT.elo0, kind)
    assert (accepted == "better").mean() <= SPRT.alpha + 0.008
    accepted, used = verdicts(SPRT.elo1, kind)
    assert (accepted != "better").mean() <= SPRT.beta + 0.008
    # a match of fixed size with these error rates needs, by the normal approximation,
    # ((1.645 + 1.645) / (s1 - s0))^2 * variance of a pair's score, in pairs
    chances, scores = pentanomial(SPRT.elo1, kind), np.linspace(0, 1, 5)
    variance = chances @ scores**2 - (chances @ scores) ** 2
    fixed = 2 * (3.29 / (elo.score_of_elo(40) - 0.5)) ** 2 * variance
    assert used.mean() < 0.85 * fixed


def test_a_weaker_player_is_seldom_accepted():
    accepted, _ = verdicts(-20, "decisive")
    assert (accepted == "better").mean() < 0.01


def test_a_sequential_match_is_the_beginning_of_the_whole_one():
    game = games.load("generals")
    spec = game.spec(SETTINGS, game.encoders[0])
    players = [game.scripted_player(name, spec) for name in ("expander", "random")]
    test = Sprt(elo0=0, elo1=100, alpha=0.05, beta=0.05, batch=32)
    played, said = play("generals", SETTINGS, players, 200, 7, test)
    whole = match.play("generals", SETTINGS, players, 200, 7)
    assert played == whole[: len(played)] and len(played) < 200
    assert said["verdict"] == "better" and said["llr"] >= said["upper"]
    assert said["games_saved"] == 200 - len(played)
    # and not one batch more than needed
    assert test.verdict(float(test.llr(elo.pair_counts(whole[: len(played) - 32])))) == "undecided"


def test_it_ends_undecided_when_the_games_are_out():
    game = games.load("generals")
    spec = game.spec(SETTINGS, game.encoders[0])
    players = [game.scripted_player("random", spec) for _ in range(2)]
    test = Sprt(elo0=0, elo1=10, alpha=0.01, beta=0.01, batch=32)
    played, said = play("generals", SETTINGS, players, 40, 7, test)
    assert len(played) == 40 and said["verdict"] == "undecided" and said["games_saved"] == 0


def sequential_match(verdict, llr):
    return {
        "a": "g1.treatment.seed0",
        "b": "g1.control.seed0",
        "mode": "sprt",
        "win": 60,
        "loss": 36,
        "draw": 0,
        "pairs": [8, 0, 20, 0, 20],
        "sequential": {"verdict": verdict, "llr": llr, "games_saved": 300},
    }


@pytest.mark.parametrize("verdict", ["better", "not_better", "undecided"])
def test_the_tests_verdict_is_the_gate(verdict):
    # by its margin of 24 / sqrt(96) = 2.4 it would be called moderate
    gate = {**GATE, "mode": "sprt"}
    found = match_summary([sequential_match(verdict, 3.0)], gate, direct=True)
    assert found["evidence"] == verdict and found["clears"] == (verdict == "better")
    effect = effect_of([sequential_match(verdict, 3.0)], gate)
    assert effect["evidence"] == verdict and effect["p"] == pytest.approx(math.exp(-3))
    assert "stopped early" in effect["note"]
    assert effect_of([sequential_match(verdict, -1.0)], gate)["p"] == 1


def test_modes_never_mix_in_one_table():
    root = generation("g0", None, None)
    with pytest.raises(RoyaleError) as refused:
        generation("g1", root, sequential_match("better", 3.0))
    told = str(refused.value)
    assert "matches/g1.treatment.seed0-vs-g1.control.seed0.json is of mode sprt" in told
    assert "mode fixed" in told and "\n" not in told
    root["gate"]["mode"] = "sprt"
    with pytest.raises(RoyaleError, match=r"ladder/g0.json is of mode sprt"):
        generation("g1", root, {**sequential_match("better", 3.0), "mode": "fixed"})
