"""The ladder of the second game, by the command a user gives, at its smallest scale."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml

from royale.files import read_json
from royale.play import replay

pytestmark = pytest.mark.pipeline


def test_a_clash_ladder_from_nothing_to_its_mirror_question(project_copy):
    path = project_copy / "config/profiles/smoke.yaml"
    profile = yaml.safe_load(path.read_text())
    sizes = profile["per_game"]["clash"]
    sizes["settings"]["max_turns"] = 20
    sizes["settings"]["workers"] = 1
    sizes["train"] = {
        "envs": 4,
        "horizon": 16,
        "segment_steps": 128,
        "segments": {"root": 1, "arm": 1},
    }
    path.write_text(yaml.safe_dump(profile))
    battle = "replays/c02.treatment.seed0-vs-c02.control.seed0/1"
    targets = ["results/smoke/ladder/c02.json", f"results/smoke/{battle}.html"]
    words = [sys.executable, "-m", "snakemake", *targets, "--cores", "2"]
    words += ["--config", "profile=smoke", "ladders=[clash]", "games=4"]
    done = subprocess.run(words, cwd=project_copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = project_copy / "results/smoke"
    ladder = read_json(results / "ladder/c02.json", "ladder")
    assert [entry["generation"] for entry in ladder["lineage"]] == ["c01", "c02"]
    match = read_json(results / "matches/c02.treatment.seed0-vs-c02.control.seed0.json", "match")
    assert len(match["games"]) == 4 and max(game["turns"] for game in match["games"]) <= 20
    assert replay.main([str(results / f"{battle}.json")]) == 0
    kept = read_json(results / f"{battle}.json", "replay")
    game = match["games"][1]
    assert (kept["turns"], kept["truncated"]) == (game["turns"], game["truncated"])
    assert (results / f"{battle}.svg").read_text().startswith("<svg")
    report = read_json(results / "doctor/smoke/clash.json", "preflight")
    found = {check["name"]: check["found"] for check in report["checks"]}
    assert "every 500 ms (10 ticks of 50 ms)" in found["engine"]
    log = (results / "logs/train_segment/c02.treatment.seed0.segment0.log").read_text()
    assert "warning: symmetry: per_episode" in log
