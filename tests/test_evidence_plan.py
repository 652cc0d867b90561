"""What the workflow plans for the panel and for matches at equal wall clock."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from royale import games

ROOT = Path(__file__).resolve().parents[1]
SCRIPTED = games.load("generals").scripted


@pytest.mark.pipeline
def test_what_panel_and_wall_clock_plan(project_copy):
    profile = project_copy / "config/profiles/smoke.yaml"
    profile.write_text(profile.read_text().replace("arm: 1}", "arm: 2}"))
    words = [
        sys.executable,
        "-m",
        "snakemake",
        "results/smoke/panel/g03.json",
        "-n",
        "--cores",
        "1",
    ]
    done = subprocess.run(
        [*words, "--config", "profile=smoke", "wall_clock=true"],
        cwd=project_copy,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE)
    assert "Equal wall clock of g03, seed 0" in jobs
    assert "Match g03.treatment.seed0.wall_clock-vs-g03.control.seed0.wall_clock" in jobs
    champions = [job for job in jobs if re.match(r"Match g0\d\.champion-vs-", job)]
    assert len(champions) == 1 + 2 * len(SCRIPTED)
    assert "Panel of g03" in jobs and "Round robin of the scripted players of generals" in jobs
