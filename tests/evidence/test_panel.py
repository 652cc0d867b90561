"""The panel: circles are flagged and nothing else is, shares by hand, equal weights are one."""

from __future__ import annotations

import csv
import io
from itertools import combinations

import jsonschema
import numpy as np
import pytest

from royale.evidence import bradley_terry, nontransitive, panel
from royale.evidence.elo import score_of_elo
from royale.evidence.gate import Record
from royale.report import figures
from royale.schemas import schema

BAR = 1.65


def played(rng, strengths, n_games=512, circle=0.0, draws=0.4):
    """Matches of all pairs; each of the first three beats the next by `circle` Elo more."""
    names = [f"p{k}" for k in range(len(strengths))]
    matches = []
    for a, b in combinations(range(len(names)), 2):
        extra = {(0, 1): circle, (1, 2): circle, (0, 2): -circle}.get((a, b), 0)
        decisive = n_games - rng.binomial(n_games, draws)
        win = int(rng.binomial(decisive, score_of_elo(strengths[a] - strengths[b] + extra)))
        counts = {"win": win, "loss": int(decisive) - win, "draw": int(n_games - decisive)}
        matches.append({"a": names[a], "b": names[b], **counts})
    return matches


def rated(matches, weights=None):
    return panel.rate(*panel.merge(matches, weights or {}), "p0", BAR)


def test_a_planted_circle_is_flagged():
    rng = np.random.default_rng(1)
    for _ in range(20):
        found = rated(played(rng, [0, 0, 0, 300, 450, -300], circle=150))
        assert not found["transitive"]
        assert ["p0", "p1", "p2"] in found["cycles"]
        assert found["unexplained_share"] > 0.03
    assert "NOT TRANSITIVE" in panel.reading(found) and "p0 > p1 > p2 > p0" in panel.reading(found)


def test_nothing_but_a_circle_is_all_unexplained():
    found = rated(played(np.random.default_rng(2), [0, 0, 0], circle=150))
    assert found["cycles"] == [["p0", "p1", "p2"]]
    assert found["unexplained_share"] > 0.95


@pytest.mark.parametrize(("spread", "draws"), [(0, 0.4), (20, 0.4), (100, 0.4), (300, 0)])
def test_a_transitive_panel_is_not_flagged(spread, draws):
    rng = np.random.default_rng(3)
    flagged, shares = 0, []
    for _ in range(40):
        found = rated(played(rng, spread * np.arange(6), draws=draws))
        flagged += not found["transitive"]
        shares.append(found["unexplained_share"])
    assert flagged <= 2  # 5%
    if spread >= 100:
        assert np.mean(shares) < 0.01


def test_circles_by_hand():
    # 0 > 1 > 2 > 0, and 2 > 3 > 4 > 1, which closes 1 > 2 > 3 > 4 > 1; 5 loses to all
    beats = np.zeros((6, 6), bool)
    for a, b in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 1), *((k, 5) for k in range(5))]:
        beats[a, b] = True
    assert nontransitive.cycles(beats) == [[0, 1, 2], [1, 2, 3, 4]]
    beats[2] = False
    assert nontransitive.cycles(beats) == []
    assert nontransitive.cycles(np.zeros((3, 3), bool)) == []


def test_who_beats_whom_is_the_gate():
    edges = [(0, 1, Record(60, 40, 0)), (2, 1, Record(58, 42, 0)), (0, 2, Record(10, 90, 9))]
    beats = nontransitive.beaten(3, edges, BAR)
    assert np.argwhere(beats).tolist() == [[0, 1], [2, 0]]
    # 2 * (4 choose 3) ways round, each match won by chance with 4.95%
    assert nontransitive.triples_by_chance(4, BAR) == pytest.approx(8 * 0.04947**3, rel=1e-3)


def test_unexplained_share_by_hand():
    # ratings all equal: nothing is explained, but only what is more than noise counts.
    # whole = 100 * (.3^2 + .2^2) = 13, noise = .8 * .2 + .7 * .3 = .37
    edges = [(0, 1, Record(80, 20, 0)), (1, 2, Record(70, 30, 0))]
    equal = bradley_terry.Ratings(np.zeros(3), np.zeros(3))
    assert nontransitive.unexplained(edges, equal) == 1
    fitted = bradley_terry.fit(list("xyz"), edges, 0)
    assert nontransitive.unexplained(edges, fitted) == pytest.approx(0, abs=1e-3)
    # half way: expected scores of .65 and .6, so rest = 100 * (.15^2 + .1^2) = 3.25
    elos = np.array([0, -107.54, -107.54 - 70.44])
    half = bradley_terry.Ratings(elos, np.zeros(3))
    assert nontransitive.unexplained(edges, half) == pytest.approx(3.25 / 12.63, rel=1e-3)
    assert nontransitive.unexplained([(0, 1, Record(50, 50, 0))], equal) is None


def test_the_same_weights_are_one_player():
    matches = [
        {"a": "g3.champion", "b": "g2.champion", "win": 9, "loss": 9, "draw": 2},
        {"a": "g2.champion", "b": "random", "win": 8, "loss": 2, "draw": 0},
        {"a": "g3.champion", "b": "random", "win": 7, "loss": 1, "draw": 2},
        {"a": "random", "b": "g3.champion", "win": 3, "loss": 7, "draw": 0},
        {"a": "g4.champion", "b": "g3.champion", "win": 5, "loss": 5, "draw": 0},
        {"a": "g4.champion", "b": "random", "win": 5, "loss": 5, "draw": 0},
    ]
    weights = {"g2.champion": "aa", "g3.champion": "aa", "g4.champion": "bb"}
    players, records = panel.merge(matches, weights)
    assert players == {
        "g2.champion": ["g2.champion", "g3.champion"],
        "g4.champion": ["g4.champion"],
        "random": ["random"],
    }
    assert records == {
        ("g2.champion", "random"): Record(22, 6, 2),
        ("g4.champion", "g2.champion"): Record(5, 5, 0),
        ("g4.champion", "random"): Record(5, 5, 0),
    }


def test_what_is_written():
    matches = played(np.random.default_rng(4), [0, 100, 200, 300])
    found = rated(matches, {"p3": "cc", "p2": "dd"})
    about = {"generation": "g03", "game": "generals", "profile": "smoke", "champions": []}
    jsonschema.validate({**about, **found}, schema("files/panel"))
    assert [row["name"] for row in found["ratings"]] == ["p3", "p2", "p1", "p0"]
    assert found["ratings"][-1]["elo"] == 0 and found["ratings"][0]["games"] == 3 * 512
    rows = list(csv.DictReader(io.StringIO(panel.to_csv(found))))
    assert [row["name"] for row in rows] == ["p3", "p2", "p1", "p0"]
    text = panel.markdown(found)
    assert "| p0 | +0 | - | 1,536 |" in text and "Nobody beats in a circle" in text
    assert figures.panel({**about, **found}).count("<svg") == 1
