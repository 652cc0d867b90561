"""Records at the shell: the public week's table, and one clear line for what is malformed."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from royale.evidence.__main__ import main
from royale.schemas import schema

ROOT = Path(__file__).resolve().parents[2]
WEEK = list(csv.DictReader((ROOT / "tests/data/evidence/public_week.csv").open()))


def test_the_public_week(capsys):
    assert main(["--json", *(row["record"] for row in WEEK)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["record"] for row in found] == [row["record"] for row in WEEK]
    assert [row["w_minus_l"] for row in found] == [int(row["w_minus_l"]) for row in WEEK]
    assert [row["label"] for row in found] == [row["label"] for row in WEEK]
    # 172 games over 1.65 * sqrt(2032) = 74.38
    assert found[0]["bar_games"] == 74.38
    assert found[0]["ratio_to_bar"] == pytest.approx(172 / 74.378, abs=1e-4)
    assert found[0]["standard_deviations"] == pytest.approx(172 / 45.0777, abs=1e-4)
    assert all(row["tried"] == 6 for row in found)
    # the smallest p of six
    assert found[0]["p_holm"] == pytest.approx(6 * found[0]["p_one_sided"])
    for row in found:
        assert row["elo_low"] < row["elo"] < row["elo_high"]


def test_the_table_at_the_shell():
    words = [sys.executable, "-m", "royale.evidence", "1102-930-13", "1009-1030-2"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    for name in ("record", "W-L", "bar", "ratio", "p Holm", "Elo", "95%", "label"):
        assert name in lines[0]
    assert lines[2].split()[:4] == ["1102-930-13", "2,045", "+172", "74.4"]
    assert lines[2].endswith("strong") and lines[3].endswith("tie")
    assert "2 tried" in done.stdout and "improve" not in done.stdout


def test_one_record_has_nothing_to_adjust(capsys):
    assert main(["3-1-2"]) == 0
    assert "Holm" not in capsys.readouterr().out


def test_other_thresholds(capsys):
    assert main(["--json", "--bar", "4", "--strong", "5", "1102-930-13"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["label"] == "tie"
    rules = schema("config")["properties"]["evidence"]["properties"]
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())["evidence"]
    assert {key: config[key] for key in ("bar", "strong")} == {
        key: rules[key]["default"] for key in ("bar", "strong")
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no record given"),
        ([""], "''"),
        (["1-2"], "'1-2'"),
        (["a-b-c"], "'a-b-c'"),
        (["-1-2-3"], "'-1-2-3'"),
        (["1-2-3", "1--2-3"], "'1--2-3'"),
        (["1-2-3-4"], "'1-2-3-4'"),
        (["1.5-2-3"], "'1.5-2-3'"),
        (["\u0661-\u0662-\u0663"], "allowed: W-L-D"),
        (["1-2-3\n"], "allowed: W-L-D"),
        (["0-0-0"], "no games"),
        (["9" * 5000 + "-1-1"], "at most 1,000,000,000 games"),
        (["999999999-2-0"], "at most 1,000,000,000 games"),
        (["--bar", "x", "1-2-3"], "--bar"),
        (["--bar", "-1", "1-2-3"], "'bar' = -1.0; allowed: > 0"),
        (["--strong", "nan", "1-2-3"], "'strong' = nan"),
        (["--unknown", "1-2-3"], "--unknown"),
    ],
)
def test_malformed_is_one_line_and_exit_2(words, told, capsys):
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ") and shown.err.count("\n") == 1 and told in shown.err
    assert len(shown.err) < 150
