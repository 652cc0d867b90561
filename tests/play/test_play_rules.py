"""What is planned for a page and for a replay, and that a ladder needs neither."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.pipeline
def test_a_page_and_a_replay_are_planned_behind_what_they_show(project_copy):
    (project_copy / "profiles").symlink_to(ROOT / "profiles")
    targets = [
        "results/smoke/play/g02/index.html",
        "results/smoke/replays/g02.root.seed0-vs-random/3.html",
    ]
    words = [sys.executable, "-m", "snakemake", *targets, "-n", "--cores", "1"]
    done = subprocess.run(
        [*words, "--config", "profile=smoke"], cwd=project_copy, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    planned = re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE)
    for job in (
        "Exporting the champion of g02",
        "Fetching onnxruntime-web",
        "The page of the champion of g02",
        "Match g02.root.seed0-vs-random",
        "Replay of g02.root.seed0-vs-random, game 3",
    ):
        assert job in planned
