"""The pipeline on a real Slurm: same statistics, same bytes, with a job cancelled on the way.

`make cluster`; the log of the run is left in results/cluster/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
import slurm_node
import yaml

from royale.files import read_json, sha256

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "results" / "cluster"
LADDER = "results/smoke/ladder/g03.json"
SEGMENT = "train/g02/root/seed0/segment1"
pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    reason = slurm_node.missing()
    if reason is None and find_spec("snakemake_executor_plugin_slurm") is None:
        reason = "snakemake-executor-plugin-slurm is not installed: pip install '.[slurm]'"
    if reason:
        pytest.skip(reason)
    with slurm_node.running(tmp_path_factory.mktemp("slurm")) as folder:
        yield folder
        LOGS.mkdir(parents=True, exist_ok=True)
        for log in folder.glob("*.log"):
            (LOGS / log.name).write_bytes(log.read_bytes())


def make_project(folder):
    """The smoke profile, its segments long enough to be cancelled, also on a busy machine."""
    (folder / "config").mkdir(parents=True)
    subprocess.run(["cp", "-r", f"{ROOT}/config", str(folder)], check=True)
    for name in ("Snakefile", "workflow", "scripts", "royale", "profiles"):
        (folder / name).symlink_to(ROOT / name)
    path = folder / "config/profiles/smoke.yaml"
    profile = yaml.safe_load(path.read_text())
    profile["checkpoint_seconds"] = 0.2
    profile["resources"] = {"mem_mb": 1000, "runtime": 60, "gpu": 1}
    profile["per_game"]["generals"]["train"]["segment_steps"] = 20480
    path.write_text(yaml.safe_dump(profile))
    return folder


def snakemake(*words):
    return [sys.executable, "-m", "snakemake", LADDER, *words, "--config", "profile=smoke"]


def jobs():
    """Slurm's jobs by id: state, comment (which has the rule), and what they asked for."""
    fields = ("JobID", "State", "Comment", "NumCPUs", "MinMemory", "TimeLimit", "tres-per-job")
    words = ["squeue", "-h", "-t", "all", "-O", ",".join(f"{field}:|" for field in fields)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = [dict(zip(fields, line.split("|"), strict=False)) for line in done.stdout.splitlines()]
    return {row["JobID"]: row for row in rows}


def statistics(value):
    """A ladder file without what a clock measured."""
    if isinstance(value, dict):
        measured = ("seconds", "steps_per_second")
        return {k: statistics(v) for k, v in value.items() if k not in measured}
    return [statistics(v) for v in value] if isinstance(value, list) else value


def test_the_ladder_on_slurm_with_a_job_cancelled_is_the_local_one(slurm, tmp_path):
    LOGS.mkdir(parents=True, exist_ok=True)
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    local, remote = make_project(tmp_path / "local"), make_project(tmp_path / "slurm")
    with open(LOGS / "local.log", "w") as log:
        began = time.monotonic()
        done = subprocess.run(
            snakemake("--cores", "2"), cwd=local, stdout=log, stderr=log, env=env, check=False
        )
        local_seconds = time.monotonic() - began
    assert done.returncode == 0, (LOGS / "local.log").read_text()

    partial = remote / "results/smoke/partial" / SEGMENT / "checkpoint.safetensors"
    with open(LOGS / "slurm.log", "w") as log:
        began = time.monotonic()
        running = subprocess.Popen(
            snakemake(
                *("--profile", "workflow/profiles/slurm", "--jobs", "2"),
                *("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "20"),
            ),
            cwd=remote,
            stdout=log,
            stderr=log,
            env=env,
        )
        while not partial.exists():
            assert running.poll() is None, (LOGS / "slurm.log").read_text()
            time.sleep(0.05)
        (cancelled,) = (
            number
            for number, job in jobs().items()
            if job["State"] == "RUNNING" and "train_segment" in job["Comment"]
        )
        subprocess.run(["scancel", cancelled], check=True)
        assert running.wait() == 0, (LOGS / "slurm.log").read_text()
        slurm_seconds = time.monotonic() - began

    text = (LOGS / "slurm.log").read_text()
    (LOGS / "jobs.txt").write_text("".join(f"{job}\n" for job in jobs().values()))
    assert f"has been submitted with SLURM jobid {cancelled}" in text
    assert re.search(rf"SLURM-job '{cancelled}' failed, SLURM status is: 'CANCELLED", text)
    assert "Trying to restart job" in text
    found = jobs()
    training = [job for job in found.values() if "train_segment" in job["Comment"]]
    states = [job["State"] for job in found.values()]
    assert states.count("CANCELLED") == 1
    assert states.count("COMPLETED") == len(states) - 1
    asked = sorted(tuple(job.values())[3:7] for job in training)
    usual = ("1", "1000M", "1:00:00", "gres:gpu:1")
    # the root's two segments, one of them twice, and two arms
    assert asked == [*[usual] * 4, ("1", "1250M", "1:00:00", "gres:gpu:1")]
    # it was told to stop, and the retry went on from there
    stopped = re.search(r"SIGTERM: stopped after iteration (\d+) of", text)
    went_on = (remote / "results/smoke/logs/train_segment/g02.root.seed0.segment1.log").read_text()
    assert f"continuing after iteration {stopped[1]}\n" in went_on

    ours, theirs = (read_json(folder / LADDER, "ladder") for folder in (remote, local))
    assert statistics(ours) == statistics(theirs)
    files = [
        path.relative_to(local)
        for pattern in ("train/*/*/*/*/*.safetensors", "ladder/*/champion.safetensors")
        for path in (local / "results/smoke").glob(pattern)
    ]
    assert len(files) == 6
    for file in files:
        assert sha256(remote / file) == sha256(local / file), file
    (LOGS / "comparison.txt").write_text(
        f"Slurm {slurm_seconds:.0f} s, local {local_seconds:.0f} s; {len(states)} Slurm jobs, "
        f"job {cancelled} cancelled and retried\n"
        f"{went_on.splitlines()[0]}\n"
        f"direct {ours['direct']}\n"
        f"the same as the local run's; equal sha256 of {len(files)} files:\n"
        + "".join(f"{sha256(remote / file)}  {file}\n" for file in files)
    )
