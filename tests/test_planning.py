"""What is planned follows from what is asked and configured, not from files that are there."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pipeline import make_project, planned, snakemake

from royale.run.told import Told

LADDER, INDEX = "results/smoke/ladder/g06.json", "results/smoke/report/index.html"
pytestmark = pytest.mark.pipeline


@pytest.fixture
def fresh(tmp_path):
    """A project as after cloning: no results."""
    return make_project(tmp_path / "fresh")


def test_ladder_and_page_plan_nothing_beyond_the_index(fresh, tmp_path):
    jobs = planned(fresh, LADDER, INDEX)
    assert "Deciding g06" in jobs and "Report page up to g06" in jobs
    assert "Report page and costs of g06 as index.html and costs.csv" in jobs
    assert not [job for job in jobs if "g07" in job or "g08" in job]
    assert sorted(planned(fresh, INDEX, LADDER)) == sorted(jobs)
    assert sorted(planned(fresh, INDEX)) == sorted(jobs)
    assert not (fresh / "results").exists()
    # later generations, and sections that nobody lists, are there: the same jobs
    later = make_project(tmp_path / "later")
    for name in ("ladder/g08.json", "report/g08.html", "costs/g08.csv", "panel/g06.json"):
        path = later / "results/smoke" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")
    assert sorted(planned(later, LADDER, INDEX)) == sorted(jobs)


def test_another_index_is_another_page(fresh):
    path = fresh / "config/ladders/generals.yaml"
    text = path.read_text()
    path.write_text(text.replace("index: g06", "index: g03"))
    jobs = planned(fresh, INDEX)
    assert "Deciding g03" in jobs and "Deciding g04" not in jobs
    path.write_text(text.replace("index: g06", "index: g99"))
    done = snakemake(fresh, INDEX, "-n")
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("config error")]
    assert line.startswith(
        "config error: config/ladders/generals.yaml: key 'index' = 'g99'; allowed:"
    )


def test_a_job_on_a_machine_of_its_own_finds_what_it_is_told(fresh):
    """Without a shared disk it gets no file of the main process, only its inputs."""
    words = [sys.executable, "-m", "snakemake", "results/smoke/doctor/smoke/generals.json"]
    words += ["--mode", "remote", "--no-hooks", "--cores", "1", "--config", "profile=smoke"]
    done = subprocess.run(words, cwd=fresh, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = Told.read(fresh / "results/smoke/told.json")
    assert told.processes == 1 and told.results == "results/smoke"


def test_another_profiles_file_is_told_apart(fresh):
    words = [sys.executable, "-m", "snakemake", "--cores", "1", "-n"]
    done = subprocess.run(
        [*words, "results/smoke/ladder/g06.json"],
        cwd=fresh,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "add --config profile=smoke" in done.stderr
