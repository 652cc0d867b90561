"""A learner that changed trains anew what Snakemake is told to make again, and says why."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from pipeline import ROOT, command, make_project

SEGMENT = "results/smoke/train/g02/root/seed0/segment0"


@pytest.mark.pipeline
def test_force_uses_a_segment_again_only_with_the_same_learner(tmp_path):
    folder = make_project(tmp_path / "project")
    (folder / "royale").unlink()
    shutil.copytree(ROOT / "royale", folder / "royale")  # with its times: numba keeps its kernels
    learner = folder / "royale/learn/value.py"
    checkpoint = folder / SEGMENT / "checkpoint.safetensors"

    def forced(*words):
        environment = os.environ | {"PYTHONPATH": str(folder)}
        done = subprocess.run(
            command(f"{SEGMENT}/checkpoint.safetensors", *words),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr, checkpoint.read_bytes()

    _, first = forced()
    # a comment is no change of the learner
    learner.write_text(learner.read_text().replace("# the paper's ratio", "# a ratio"))
    said, again = forced("--force")
    assert "is used again" in said and again == first
    text = learner.read_text()
    changed = text.replace("return 0.5 * F.mse_loss(", "return 0.4 * F.mse_loss(")
    assert changed != text
    learner.write_text(changed)
    said, other = forced("--force")
    assert "not used again: royale/learn changed since; it is trained anew" in said
    assert other != first
