"""The golden table of Generals' scripted players: who must beat whom, and by how much."""

from __future__ import annotations

import pytest

from royale import games
from royale.evidence.round_robin import play_all, table
from royale.games.generals.settings import SMALL

# (winner, loser): the least margin in standard deviations, of 60 games on 8x8 boards.
# A player that beats every game has 60 / sqrt(60) = 7.7.
MUST_BEAT = {
    ("expander", "random"): 6,
    ("hunter", "random"): 6,
    ("castle_builder", "random"): 6,
    ("defender", "random"): 5,
    ("raider", "random"): 6,
    ("raider", "staller"): 5,
    ("hunter", "staller"): 4,
    ("raider", "defender"): 2,
    ("hunter", "defender"): 2,
}


@pytest.fixture(scope="module")
def records():
    return play_all("generals", SMALL, 60)


def test_every_pair_once_and_every_game_counted(records):
    names = games.load("generals").scripted
    assert len(names) == 7 and len(records) == 21
    assert all(r["win"] + r["loss"] + r["draw"] == 60 for r in records)
    assert {frozenset((r["a"], r["b"])) for r in records} == {
        frozenset((a, b)) for a in names for b in names if a != b
    }


@pytest.mark.parametrize("pair", MUST_BEAT, ids="-".join)
def test_who_must_beat_whom(records, pair):
    found = {(r["a"], r["b"]): r["margin"] for r in records}
    found |= {(b, a): -margin for (a, b), margin in found.items()}
    assert found[pair] >= MUST_BEAT[pair]


def test_table_shows_both_sides():
    records = [{"a": "x", "b": "y", "win": 1, "loss": 3, "draw": 2, "margin": -1.0}]
    lines = table(records).splitlines()
    assert lines[0] == "| | y | x |"
    assert lines[2] == "| y | - | 3-1-2 |"
    assert lines[3] == "| x | 1-3-2 | - |"
