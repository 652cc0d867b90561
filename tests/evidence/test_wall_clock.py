"""Which segment ends are compared at equal wall clock, by hand."""

from __future__ import annotations

import json

from royale.evidence.wall_clock import choose, segment_ends


def ends(*seconds):
    return [
        {"segment": k, "steps": 100 * (k + 1), "seconds": float(s)} for k, s in enumerate(seconds)
    ]


def test_the_slower_arm_is_taken_where_it_was():
    found = choose({"treatment": ends(10, 20, 30), "control": ends(13, 26, 39)})
    assert found["treatment"]["segment"] == 2 and found["control"]["segment"] == 1
    found = choose({"treatment": ends(15, 30), "control": ends(10, 20)})
    assert found["treatment"] == {"segment": 0, "steps": 100, "seconds": 15.0}
    assert found["control"]["segment"] == 1


def test_equally_fast_arms_are_both_at_their_end():
    found = choose({"treatment": ends(10, 20), "control": ends(10, 20)})
    assert [end["segment"] for end in found.values()] == [1, 1]


def test_an_arm_without_a_finished_segment_is_taken_at_its_first():
    found = choose({"treatment": ends(50, 100), "control": ends(10, 20)})
    assert found["treatment"]["segment"] == 0 and found["control"]["segment"] == 1


def test_ends_add_up_over_segments(tmp_path):
    paths = []
    for k, rows in enumerate(([(64, 1.5), (128, 2.0)], [(192, 1.25), (256, 1.0)])):
        paths.append(tmp_path / f"{k}.jsonl")
        lines = [json.dumps({"agent_steps": steps, "seconds": s}) for steps, s in rows]
        paths[-1].write_text("\n".join(lines) + "\n")
    assert segment_ends(paths) == [
        {"segment": 0, "steps": 128, "seconds": 3.5},
        {"segment": 1, "steps": 256, "seconds": 5.75},
    ]
