"""Workflow profiles: Snakemake takes every key; jobs ask their queue for what they need."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROFILES = ROOT / "workflow" / "profiles"
NAMES = sorted(path.name for path in PROFILES.iterdir())


def executor(name):
    return yaml.safe_load((PROFILES / name / "config.yaml").read_text()).get("executor", "local")


def need(plugin):
    if find_spec("snakemake_executor_plugin_" + plugin.replace("-", "_")) is None:
        pytest.skip(f"snakemake-executor-plugin-{plugin} is not installed")


def test_there_is_a_profile_for_each_kind_of_machine():
    assert NAMES == ["default", "generic", "kubernetes", "slurm", "vastai"]


@pytest.mark.parametrize("name", NAMES)
def test_snakemake_takes_every_key_of_a_profile(name):
    if executor(name) != "local":
        need(executor(name))
    if name == "kubernetes" and find_spec("snakemake_storage_plugin_s3") is None:
        pytest.skip("snakemake-storage-plugin-s3 is not installed")
    from snakemake.cli import get_argument_parser

    file = PROFILES / name / "config.yaml"
    parser = get_argument_parser([str(file)])
    args, unknown = parser.parse_known_args([])
    assert unknown == []
    assert args.executor == (None if name == "default" else executor(name))
    for key, value in yaml.safe_load(file.read_text()).items():
        if isinstance(value, bool | int | float | str):
            assert str(getattr(args, key.replace("-", "_"))) == str(value).strip()


def test_rules_leave_retries_to_the_profiles():
    """A rule's own are retried again by every Snakemake inside a job."""
    for path in [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]:
        assert not re.search(r"^\s*retries:", path.read_text(), re.MULTILINE), path


def test_credentials_stay_at_home():
    profile = yaml.safe_load((PROFILES / "vastai" / "config.yaml").read_text())
    assert profile["vastai-no-forward-credentials"] is True
    assert profile["vastai-max-price"] > 0 and profile["vastai-max-runtime"] > 0


SUBMIT = """#!/bin/sh
id=$(ls | grep -c asked)
echo "$1" > $id.asked
setsid sh -c "sh '$2'; echo \\$? > $id.exit" > $id.log 2>&1 &
echo $! > $id.pid
echo $id
"""
STATUS = """#!/bin/sh
if [ -e $1.exit ]; then grep -q '^0' $1.exit && echo success || echo failed
elif kill -0 $(cat $1.pid); then echo running
else echo failed
fi
"""
CANCEL = """#!/bin/sh
for id; do echo $id >> cancelled; kill -TERM -$(cat $id.pid); done
"""
# The first attempt ends as a segment does that was asked to stop; the second goes on.
WORKFLOW = """
rule segment:
    output: "{name}.done"
    threads: 2
    resources: mem_mb=lambda wildcards, attempt: 1000 * (3 + attempt) // 4, runtime=7, gpu=1
    shell: "if [ -e {wildcards.name}.partial ]; then touch {output}; "
           "else touch {wildcards.name}.partial; exit 75; fi"

rule long:
    output: "slept"
    resources: mem_mb=100, runtime=1, gpu=0
    shell: "touch started; sleep 60; touch {output}"
"""


def test_a_queue_of_three_commands_submits_asks_retries_and_cancels(tmp_path):
    need("cluster-generic")
    for name, text in (("submit", SUBMIT), ("status", STATUS), ("cancel", CANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    asks = "{rule} {threads} {resources.mem_mb} {resources.runtime} {resources.gpu}"
    command = [
        *(sys.executable, "-m", "snakemake", "--profile", str(PROFILES / "generic")),
        *("--cluster-generic-submit-cmd", f"./submit '{asks}'"),
        *("--cluster-generic-status-cmd", "./status"),
        *("--cluster-generic-cancel-cmd", "./cancel"),
        *("--seconds-between-status-checks", "1", "--latency-wait", "1"),
    ]
    done = subprocess.run(
        [*command, "g.done"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [(tmp_path / f"{i}.asked").read_text().split() for i in range(2)]
    assert asked == [["segment", "2", "1000", "7", "1"], ["segment", "2", "1250", "7", "1"]]
    assert not (tmp_path / "2.asked").exists()

    # Python takes a Ctrl-C only where it was not ignored from the start, as it is in the
    # background of a shell.
    heeds = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
    program = [sys.executable, "-c", f"{heeds} os.execv(sys.argv[1], sys.argv[1:])"]
    running = subprocess.Popen(
        [*program, *command, "slept"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "started").exists():
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(120) != 0
    assert (tmp_path / "cancelled").read_text().split() == ["2"]
    job = int((tmp_path / "2.pid").read_text())
    while True:  # until the queue's process group is gone
        try:
            os.killpg(job, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not (tmp_path / "slept").exists()
