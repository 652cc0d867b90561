"""Alarms: each condition at its threshold, patience, and the same state after a kill."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import jsonschema
import pytest
from segments import Killed, killer, rows, train

from royale.learn import alarms as module
from royale.learn.alarms import TABLE, Alarms, health
from royale.schemas import schema

DOCS = (Path(__file__).parents[2] / "docs/learner.md").read_text()
CALM = {
    "iteration": 1,
    "timing": {"update": 1.0},
    "samples_trained": 100,
    "kl": 0.01,
    "clip_fraction": 0.1,
    "entropy": 0.5,
    "explained_variance": 0.3,
    "ratio_max_abs_dev": 0.0,
    "draw_share": 0.1,
    "truncated_share": 0.1,
    "health": {"rss_mb": 800.0, "vram_free_mb": None},
}


def made(*changes):
    """Rows numbered from 1, each calm but for its changes."""
    return [CALM | {"iteration": k} | change for k, change in enumerate(changes, 1)]


def on_after(*changes):
    """The alarms that are on after each row."""
    alarms, out = Alarms(), []
    for row in made(*changes):
        alarms.observe(row)
        out.append(list(alarms.on))
    return out


def test_a_calm_run_has_no_alarm():
    assert on_after(*[{}] * 80) == [[]] * 80


@pytest.mark.parametrize(
    "name, bad, nearly",
    [
        ("nonfinite", {"kl": float("nan")}, {}),
        ("ratio_invariant", {"ratio_max_abs_dev": 6e-4}, {"ratio_max_abs_dev": 5e-4}),
        ("kl_high", {"kl": 0.051}, {"kl": 0.05}),
        ("kl_dead", {"kl": 9e-6}, {"kl": 1e-5}),
        ("clip_pinned", {"clip_fraction": 0.51}, {"clip_fraction": 0.5}),
        ("entropy_collapse", {"entropy": 0.019}, {"entropy": 0.02}),
        ("explained_variance_negative", {"explained_variance": -0.1}, {"explained_variance": 0}),
        (
            "draw_equilibrium",
            {"draw_share": 0.6, "truncated_share": 0.5},
            {"draw_share": 0.6, "truncated_share": 0.4},
        ),
        ("update_slow", {"timing": {"update": 2.0}}, {"timing": {"update": 1.9}}),
        (
            "memory_rising",
            {"health": {"rss_mb": 1800.0, "vram_free_mb": None}},
            {"health": {"rss_mb": 1799.0, "vram_free_mb": None}},
        ),
    ],
)
def test_threshold_and_patience(name, bad, nearly):
    patience = next(alarm.patience for alarm in TABLE if alarm.name == name)
    calm = [{}] * 3  # what is best so far
    assert on_after(*calm, *[bad] * patience)[-2:] == [[], [name]]
    assert on_after(*calm, *[nearly] * (patience + 1))[-1] == []
    # one good row starts the count again, and ends what is on
    assert on_after(*calm, *[bad] * (patience - 1), {}, *[bad] * (patience - 1))[-1] == []
    assert on_after(*calm, *[bad] * patience, {})[-1] == []


def test_a_policy_that_warm_up_holds_still_is_not_dead():
    alarms, on = Alarms(warmup=20), []
    for row in made(*[{"kl": 0.0}] * 35):
        alarms.observe(row)
        on.append("kl_dead" in alarms.on)
    assert on == [False] * 29 + [True] * 6  # 10 in succession after the 20th


def test_rows_without_a_finished_game_neither_help_nor_heal():
    bad = {"draw_share": 1.0, "truncated_share": 1.0}
    silent = {"draw_share": None, "truncated_share": None}
    assert on_after(*[bad, silent] * 5)[-2:] == [["draw_equilibrium"]] * 2
    assert on_after(*[bad, silent] * 4)[-1] == []


def test_draws_that_rise():
    level = [{"draw_share": 0.1}] * 15
    rising = [{"draw_share": 0.1 + 0.02 * k} for k in range(1, 16)]
    states = on_after(*level, *rising)
    assert states[-1] == ["draws_rising"]
    began = next(k for k, names in enumerate(states) if names)
    assert began > 15 + 5
    assert not any(on_after(*[{"draw_share": 0.4 - 0.02 * k} for k in range(20)]))


def test_a_slow_update_on_a_gpu_needs_a_full_memory():
    slow = {"timing": {"update": 3.0}}
    full, free = ({"health": {"rss_mb": 1.0, "vram_free_mb": mb}} for mb in (127.0, 129.0))
    assert on_after({}, *[slow | full] * 3)[-1] == ["update_slow"]
    assert on_after({}, *[slow | free] * 3)[-1] == []
    # an update of milliseconds is slow for any reason
    assert on_after({"timing": {"update": 0.01}}, *[{"timing": {"update": 0.4}}] * 3)[-1] == []


def test_an_update_of_more_samples_is_not_slow():
    twice = {"timing": {"update": 2.0}, "samples_trained": 200}
    assert on_after({}, *[twice] * 3)[-1] == []
    assert on_after({}, *[twice | {"samples_trained": 100}] * 3)[-1] == ["update_slow"]


def test_the_ratio_is_measured_by_what_stops_the_run():
    row = made({"ratio_max_abs_dev": 0.02})[0]
    for tolerance, on in [(1e-3, ["ratio_invariant"]), (5e-2, []), (3e-2, ["ratio_invariant"])]:
        alarms = Alarms(tolerance=tolerance)
        alarms.observe(row)
        assert alarms.on == on


def test_a_run_below_half_the_bench_is_told_with_its_likely_cause():
    bench = {"steps_per_second": 1000.0, "timing": {"env": 0.1, "update": 0.2, "checkpoint": 0.0}}
    for speed, slow, cause in [
        (500.0, {"env": 0.3, "update": 0.2}, None),
        (499.0, {"env": 0.3, "update": 0.3}, "env takes 0.3 s instead of 0.1 s: likely other"),
        (499.0, {"env": 0.1, "update": 0.9}, "update takes 0.9 s instead of 0.2 s: likely the dev"),
        (9.0, {"env": 0.1, "update": 0.2, "checkpoint": 9}, "checkpoint takes 9 s .* the disk"),
    ]:
        alarms, lines = Alarms(bench=bench), []
        for row in made(*[{"steps_per_second": speed, "timing": slow}] * 5):
            assert not alarms.on
            lines += alarms.observe(row)
        if cause is None:
            assert lines == []
        else:
            assert alarms.on == ["slower_than_bench"]
            (line,) = lines
            assert f"{speed:g} steps/s instead of 1,000" in line
            assert re.search(cause, line)


def test_a_line_when_an_alarm_begins_and_when_it_ends():
    alarms = Alarms()
    lines = [alarms.observe(row) for row in made(*[{"kl": 1.0}] * 4, {})]
    assert [len(line) for line in lines] == [0, 0, 1, 0, 1]
    assert lines[2][0].startswith(
        "alarm kl_high begins at iteration 3: kl > 0.05, 3 in succession: "
    )
    assert lines[4] == ["alarm kl_high ends at iteration 5"]


@pytest.mark.parametrize("cut", [0, 1, 7, 25])
def test_state_is_recomputed_from_the_rows(cut):
    changes = [{"kl": 1.0 if k % 9 < 5 else 1e-6, "entropy": 0.001 * k} for k in range(40)]
    table = made(*changes)
    whole, again = Alarms(), Alarms(json.loads(json.dumps(table[:cut])))
    for row in table[:cut]:
        whole.observe(row)
    for row in table[cut:]:
        assert whole.observe(row) == again.observe(row)
        assert whole.on == again.on


def test_the_table_is_whole():
    assert len({alarm.name for alarm in TABLE}) == len(TABLE)
    for alarm in TABLE:
        assert alarm.condition and alarm.meaning and alarm.patience >= 1
        assert alarm.severity in ("warn", "halt")
        row = f"| `{alarm.name}` | {alarm.condition} | {alarm.patience} | {alarm.severity} |"
        assert row in DOCS, row


def test_health_on_a_cpu():
    found = health("cpu")
    assert found["rss_mb"] > 10 and found["vram_free_mb"] is None


@pytest.fixture
def touchy(monkeypatch):
    """Alarms that depend on training alone, with little patience."""
    table = tuple(
        dataclasses.replace(alarm, patience=patience, holds=holds)
        for alarm, patience, holds in [
            (TABLE[2], 3, lambda rows: len(rows) % 5 != 0),
            (TABLE[4], 4, lambda rows: rows[-1]["iteration"] > 2),
        ]
    )
    monkeypatch.setattr(module.Alarms.__init__, "__defaults__", ((), 1e-3, table, None, 0))
    return [alarm.name for alarm in table]


def said(folder):
    return [row["alarms"] for row in rows(folder)]


@pytest.mark.parametrize("after", [1, 6])
def test_an_interrupted_segment_raises_the_same_alarms(make_plan, tmp_path, touchy, after):
    plan = make_plan(steps=8 * 192, checkpoint_iterations=2)
    lines, lines_cut = [], []
    train(plan, tmp_path / "whole", say=lines.append)
    with pytest.raises(Killed):
        train(plan, tmp_path / "cut", killer(after))
    train(plan, tmp_path / "cut", say=lines_cut.append)
    assert said(tmp_path / "cut") == said(tmp_path / "whole")
    high, dead = touchy
    assert said(tmp_path / "whole") == [[], [], [high], [high], [], [dead], [dead], [high, dead]]
    assert [line.split(":")[0] for line in lines] == [
        f"alarm {high} begins at iteration 3",
        f"alarm {high} ends at iteration 5",
        f"alarm {dead} begins at iteration 6",
        f"alarm {high} begins at iteration 8",
    ]
    name = "checkpoint.safetensors"
    assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()


def test_the_next_segment_looks_back_on_the_one_before(make_plan, tmp_path, touchy):
    plan = make_plan(steps=4 * 192)
    train(dataclasses.replace(plan, steps=8 * 192), tmp_path / "whole")
    train(plan, tmp_path / "0")
    start = tmp_path / "0" / "checkpoint.safetensors"
    second = dataclasses.replace(plan, segment=1, start="checkpoint", start_file=start)
    train(second, tmp_path / "1")
    assert said(tmp_path / "0") + said(tmp_path / "1") == said(tmp_path / "whole")
    # a checkpoint without its metrics, or with an older version's, is no fault
    old = [{k: v for k, v in row.items() if k != "health"} for row in rows(tmp_path / "0")]
    metrics = tmp_path / "0" / "metrics.jsonl"
    metrics.write_text("".join(json.dumps(row) + "\n" for row in old))
    train(second, tmp_path / "old")
    metrics.unlink()
    train(second, tmp_path / "alone")
    assert (
        said(tmp_path / "old")
        == said(tmp_path / "alone")
        == [[], [], [touchy[0]], [touchy[0], touchy[1]]]
    )


def test_rows_fit_their_schema_and_checkpoints_know_no_clock(make_plan, tmp_path):
    arrays, meta = train(make_plan(), tmp_path)
    for row in rows(tmp_path):
        jsonschema.validate(row, schema("files/metrics"))
    assert not any("health" in key or "alarm" in key for key in [*arrays, *meta])
