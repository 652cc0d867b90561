"""The learning bench: shares counted by hand, bars at the last segment, one point a segment."""

from __future__ import annotations

import json

import pytest

from royale.evidence import learning
from royale.evidence.from_files import learned, learned_lines
from royale.files import read_json, write_json
from royale.report import figures


def watch(segment, seed, random, expander):
    """A watch file's part that is read; the counts are (win, loss, draw)."""
    rivals = {"hunter": (0, 8, 0), "expander": expander, "random": random}
    keys = ("win", "loss", "draw")
    return {
        "generation": "g02",
        "seed": seed,
        "segment": segment,
        "agent_steps": 1000 * (segment + 1),
        "rivals": {name: dict(zip(keys, counts, strict=True)) for name, counts in rivals.items()},
    }


WATCHES = [
    watch(1, 0, (6, 0, 2), (3, 2, 3)),
    watch(0, 0, (0, 0, 8), (1, 5, 2)),
    watch(1, 1, (7, 1, 0), (4, 2, 2)),
    watch(0, 1, (0, 0, 8), (0, 8, 0)),
]
SECONDS = {(0, 0): 10.0, (0, 1): 20.0, (1, 0): 14.0, (1, 1): 30.0}


def test_a_curve_by_hand():
    first, last = learning.curve(WATCHES, SECONDS)
    assert (first["agent_steps"], last["agent_steps"]) == (1000, 2000)
    assert (first["seconds"], last["seconds"]) == (12.0, 25.0)
    # only those with a bar, both seeds together
    assert list(last["rivals"]) == ["random", "expander"]
    assert last["rivals"]["random"] == {
        "win": 13,
        "loss": 1,
        "draw": 2,
        "decided_share": 14 / 16,
        "win_share": 13 / 16,
        "won_of_decisive": 13 / 14,
    }
    assert first["rivals"]["random"]["won_of_decisive"] is None


def test_bars_are_of_the_last_segment_and_must_be_passed():
    points = learning.curve(WATCHES, SECONDS)
    found = learning.verdict(points)
    # 13 of 14 is 0.929; 7 of 11 is 0.636
    assert not found["random"]["met"] and found["expander"]["met"]
    assert found["random"]["bar"] == 0.95 and found["expander"]["bar"] == 0.6
    assert not any(bar["met"] for bar in learning.verdict(points[:1]).values())
    exactly = [watch(0, 0, (19, 1, 0), (6, 4, 90))]
    points = learning.curve(exactly, {(0, 0): 1.0})
    assert not any(bar["met"] for bar in learning.verdict(points).values())


def test_a_root_by_its_files(tmp_path):
    paths = {}
    for seed in (0, 1):
        paths[str(seed)] = []
        for segment in (0, 1):
            path = tmp_path / f"{seed}.{segment}.jsonl"
            row = {"seconds": 5.0 + seed, "agent_steps": 1000 * (segment + 1)}
            path.write_text(json.dumps(row) + "\n")
            paths[str(seed)].append(str(path))
    others = [{**one, "generation": "c02"} for one in WATCHES]
    found = learned("g02", [*others, *WATCHES], paths)
    record = tmp_path / "a.json"
    write_json(record, {"profile": "smoke", "ladders": {"generals": found}}, "bench_learning")
    assert read_json(record, "bench_learning")["ladders"]["generals"] == found
    assert found["seeds"] == [0, 1]
    assert [entry["seconds"] for entry in found["curve"]] == [5.5, 11.0]
    assert found["bars"]["expander"]["reached"] == pytest.approx(7 / 11)
    record = {"profile": "smoke", "ladders": {"generals": found}}
    assert figures.learning(record).count("<svg") == 1
    said = learned_lines(found)
    assert "against random: W-L-D 13-1-2, 92.9% of decisive games, bar 95%: NOT met" in said
    assert "against expander: W-L-D 7-4-5, 63.6% of decisive games, bar 60%: met" in said
