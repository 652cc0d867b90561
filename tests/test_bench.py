"""The bench: numbers that follow from its rows, the command line, the sweep's verdict."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
import torch
import yaml

from royale.bench import __main__ as shell
from royale.bench import measure, scaling, sweep
from royale.bench.markdown import LINES, bench_text, scaling_text, sweep_text
from royale.learn import determinism
from royale.project.config import load_profile
from royale.project.project import load_project
from royale.schemas import schema

ROOT = Path(__file__).resolve().parents[1]
CONFIG = {"profile": "smoke"}


@pytest.fixture(autouse=True)
def settled():
    """What is measured sets torch up for the whole process."""
    yield
    torch.set_flush_denormal(False)
    determinism.settle("throughput", "cpu")


def row(seconds, env, codec, update, check=0.0):
    timing = dict.fromkeys(("inference", "sampling", "gae", "checkpoint"), 0.0)
    timing |= {"env": env, "codec": codec, "update": update, "check": check}
    timing["residual"] = seconds - sum(timing.values())
    collecting = {"env": env, "codec": codec / 2, "inference": 0.0, "sampling": 0.0}
    return measure.Measured({"seconds": seconds, "timing": timing}, collecting, 0)


def test_an_iteration_is_collection_update_checks_and_a_residual():
    one = row(10.0, env=2.0, codec=1.0, update=4.0, check=2.5)
    assert (one.collection, one.update, one.seconds) == (2.5, 4.5, 7.5)
    assert one.collection + one.update + 0.5 == one.seconds


def test_shares_are_of_all_the_time():
    shares = measure.resource_shares([row(10.0, 2.0, 1.0, 4.0), row(30.0, 2.0, 1.0, 24.0)])
    assert shares == {
        "engine": 0.1,
        "codec": 0.05,
        "inference": 0.0,
        "update": 0.7,
        "checks": 0.0,
    }
    assert set(measure.ADVICE) == set(measure.RESOURCES)


@pytest.fixture(scope="module")
def plan():
    project = load_project(_config(), ROOT)
    root = project.roots()["generals"]
    return measure.root_plan(root, "generals", 1, "cpu", "run_exact")


def _config():
    return {**yaml.safe_load((ROOT / "config/config.yaml").read_text()), **CONFIG}


@pytest.fixture(scope="module")
def found(plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    result = measure.bench(plan, folder / "scratch", iterations=4)
    assert not (folder / "scratch").exists()
    return result


def test_the_split_adds_up(found):
    assert found["iterations"] == 4
    assert found["residual_share"] < 0.05
    whole = found["collection_seconds"] + found["update_seconds"]
    assert whole == pytest.approx(found["iteration_seconds"], rel=0.3)  # medians of each
    assert sum(found["resource_shares"].values()) == pytest.approx(1, abs=0.05)
    assert found["resource_shares"][found["slowest"]] == max(found["resource_shares"].values())
    assert found["ratio_max_abs_dev"] < found["ratio_atol"]
    low, high = found["steps_per_second_range"]
    assert low <= found["steps_per_second"] <= high
    assert found["steps_an_iteration"] == 1024 >= found["decisions_an_iteration"] > 800
    # codes, scalars and packed legal actions of a 5x5 board, 29 bytes of numbers, 8 of place
    assert 300 < found["bytes_a_sample"] < 2000


def test_run_exact_says_what_its_checks_cost(found):
    assert found["checks"]["checked_iteration"] > 0 and found["checks"]["filled_iteration"] > 0
    assert "in the long run" in found["checks"]["cost"]


def test_it_fits_its_schema_and_is_shown_whole(found):
    result = {"profile": "smoke", "threads": 1, "device": "cpu", "determinism": "run_exact"}
    result["ladders"] = {"generals": found}
    jsonschema.validate(result, schema("files/bench"))
    text = bench_text(json.loads(json.dumps(result)), "2026-11-30")
    assert text.startswith("### 2026-11-30: generals, profile smoke, cpu, 1 threads, run_exact")
    assert all(f"| {line} |" in text for line in (*LINES, "checked_iteration", "filled_iteration"))


def test_seconds_are_a_lower_bound_looked_at_between_iterations(plan, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(measure.time, "perf_counter", lambda: clock[0])

    def iterate():
        clock[0] += 4.0
        return {"seconds": 4.0}

    trainer = SimpleNamespace(
        start=lambda: None,
        iterate=iterate,
        actors=SimpleNamespace(clock=SimpleNamespace(seconds={}), expanded=0),
    )
    count = [
        len(measure.iterate(trainer, n, s, lambda *a: None)) for n, s in ((3, 9), (1, 0), (2, 13))
    ]
    assert count == [3, 2, 4]


def speeds(**named):
    return [
        {
            "setting": name,
            "steps_per_second": float(np.median(found)),
            "range": [min(found), max(found)],
            "changes_results": False,
        }
        for name, found in named.items()
    ]


def test_the_verdict_knows_the_spread():
    base = (100.0, 110.0, 120.0)
    assert "nothing tried" in sweep.verdict(speeds(base=base, other=(90.0, 100.0, 109.0)))
    clear = sweep.verdict(speeds(base=base, other=(130.0, 132.0, 140.0)))
    assert clear == "other: 1.20 times as fast, in every repeat"
    assert "leaves open" in sweep.verdict(speeds(base=base, other=(115.0, 132.0, 140.0)))


def test_each_candidate_changes_one_thing(plan, monkeypatch):
    monkeypatch.setattr(sweep, "usable_cores", lambda: 4)
    names = set(sweep.candidates(plan))
    assert {"as configured", "envs 64, horizon 8", "envs 16, horizon 32"} <= names
    assert {"minibatch 64", "minibatch 256"} <= names
    assert not any(name.startswith(("threads", "workers")) for name in names)  # run_exact; generals
    free = sweep.candidates(dataclasses.replace(plan, determinism="deterministic"))
    assert {"threads 2", "threads 4"} <= set(free) and "threads 1" not in free
    for name, candidate in free.items():
        assert candidate.steps_per_iteration == plan.steps_per_iteration, name
    clash = load_profile("smoke", ROOT)["per_game"]["clash"]
    other = dataclasses.replace(plan, game="clash", settings=clash["settings"])
    workers = [n for n in sweep.candidates(other) if n.startswith("workers")]
    assert workers == ["workers 1", "workers 4", "workers 8"]


def test_a_sweep_measures_in_turn_and_fits_its_schema(plan, monkeypatch):
    kept = list(sweep.candidates(plan).items())[:2]
    monkeypatch.setattr(sweep, "candidates", lambda plan: dict(kept))
    out = sweep.sweep(plan, iterations=2, repeats=2)
    result = {"profile": "smoke", "threads": 1, "device": "cpu", "determinism": "run_exact"}
    result["ladders"] = {"generals": out}
    jsonschema.validate(result, schema("files/bench_sweep"))
    assert [r["setting"] for r in out["rows"]] == [name for name, _ in kept]
    assert out["best"] in sweep_text(result, "2026-11-30").splitlines()[6]


@pytest.fixture
def project(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_shell_writes_both_files(project, capsys):
    words = ["--profile", "smoke", "--ladder", "generals", "--iterations", "2", "--json"]
    assert shell.main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    folder = project / "results/smoke/bench"
    assert json.loads((folder / "smoke.json").read_text()) == printed
    assert (folder / "smoke.md").read_text().startswith("### 20")
    assert list(printed["ladders"]) == ["generals"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--profile", "none"], "key 'profile' = 'none'; allowed:"),
        (["--ladder", "chess"], "--ladder chess; allowed:"),
        (["--iterations", "1"], "--iterations: allowed: 2 or more"),
        (["--seconds", "-3"], "'-3'; allowed: a number from 0"),
        (["--what"], "unrecognized arguments: --what"),
    ],
)
def test_bad_words_are_one_line_and_2(project, capsys, words, line):
    with pytest.raises(SystemExit) as stopped:
        shell.main(words)
    said = capsys.readouterr().err
    assert stopped.value.code == 2 and said.count("\n") == 1 and line in said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", "a mapping of keys to values is needed"),
        (b"profile: [", "not YAML: line"),
        (b"profile: smoke\nprofile: laptop", "line 2: 'profile' appears twice"),
        (b"\xff\xfe", "not YAML"),
        (None, "no config/config.yaml here"),
    ],
)
def test_a_bad_config_is_one_line_and_2(project, capsys, text, line):
    path = project / "config/config.yaml"
    kept = path.read_bytes()
    path.unlink()
    if text is not None:
        path.write_bytes(text)
    try:
        with pytest.raises(SystemExit) as stopped:
            shell.main(["--iterations", "2"])
    finally:
        path.write_bytes(kept)
    said = capsys.readouterr().err
    assert stopped.value.code == 2 and said.count("\n") == 1 and line in said


def test_scaling_efficiency_is_of_the_ideal():
    found = scaling.summary({1: [90.0, 100.0, 130.0], 4: [310.0, 300.0, 305.0]}, threads=2)
    assert [row["efficiency"] for row in found["rows"]] == [1.0, 0.7625]  # 305 of 400
    assert found["rows"][1]["range"] == [300.0, 310.0]
    assert "3.05 times" in found["verdict"]
    result = {"profile": "p", "threads": 2, "device": "cpu", "determinism": "throughput"}
    result["ladders"] = {"l": found}
    jsonschema.validate(result, schema("files/bench_scaling"))
    assert "| 4 | 305 | 300 to 310 | 76% |" in scaling_text(result, "2026-01-01")


def test_scaling_counts_share_the_games_evenly():
    plan = SimpleNamespace(envs=12)
    assert scaling.counts(plan, 6) == [1, 2, 4, 6]
    assert scaling.counts(plan, 2) == [1, 2]
    assert scaling.counts(SimpleNamespace(envs=6), 6) == [1, 2, 6]  # 4 does not divide 6


def test_a_word_wrong_for_scaling_is_one_line(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    for words, told in (
        (["--scaling", "1"], "2 to 64"),
        (["--scaling", "2", "--sweep"], "without --sweep"),
        (["--scaling", "5", "--profile", "smoke"], "must be a multiple"),
    ):
        with pytest.raises(SystemExit) as stopped:
            shell.main(words)
        assert stopped.value.code == 2
        error = capsys.readouterr().err
        assert told in error and error.count("\n") == 1
