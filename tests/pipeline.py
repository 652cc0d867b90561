"""Runs of the workflow by the commands that a user gives, for tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LADDER = "config/ladders/generals.yaml"


def command(*words):
    return [sys.executable, "-m", "snakemake", *words, "--cores", "2", "--config", "profile=smoke"]


def snakemake(folder, *words, **config):
    settings = [f"{key}={value}" for key, value in config.items()]
    return subprocess.run(
        [*command(*words), *settings], cwd=folder, capture_output=True, text=True, check=False
    )


def planned(folder, *words):
    """Names of the jobs of a dry run: rule and what it is about, as its message tells."""
    done = snakemake(folder, *words, "-n")
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE)


def make_project(folder):
    (folder / "config").mkdir(parents=True)
    subprocess.run(["cp", "-r", f"{ROOT}/config", str(folder)], check=True)
    for name in ("Snakefile", "workflow", "scripts", "royale", "profiles"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def processor():
    """Which processor this is, as far as Linux tells; other ones round otherwise."""
    told = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    found = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", told, re.MULTILINE))
    keys = ("cpu family", "model", "stepping")
    return found.get("model name", "") + "".join(
        f" {k.removeprefix('cpu ')} {found.get(k)}" for k in keys
    )
