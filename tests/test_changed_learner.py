"""A changed learner is another run: `--force` trains anew, and says why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from royale.files import sha256

ROOT = Path(__file__).resolve().parents[1]
SEGMENT = "train/g02/root/seed0/segment0"
CHECKPOINT = f"results/smoke/{SEGMENT}/checkpoint.safetensors"
pytestmark = pytest.mark.pipeline


@pytest.fixture
def checkout(tmp_path):
    """A copy of what a run needs, whose code may be edited."""
    for name in ("config", "profiles", "royale", "scripts", "workflow"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", tmp_path)
    return tmp_path


def force(folder):
    """Ask for the segment again; its sha256, and what its log says."""
    words = [sys.executable, "-m", "snakemake", "--force", CHECKPOINT, "--cores", "2"]
    done = subprocess.run(
        [*words, "--config", "profile=smoke"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    log = folder / "results/smoke/logs/train_segment/g02.root.seed0.segment0.log"
    return sha256(folder / CHECKPOINT), log.read_text()


def edit(folder, old, new):
    path = folder / "royale/learn/losses.py"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_a_learner_line_retrains_a_forced_segment_and_a_comment_does_not(checkout):
    first, _ = force(checkout)
    edit(checkout, "import torch\n", "import torch  # a comment\n")
    again, log = force(checkout)
    assert again == first
    assert f"kept/{SEGMENT}: this very segment was trained before, and is used again" in log

    edit(checkout, "return -torch.minimum(", "return -2.0 * torch.minimum(")
    other, log = force(checkout)
    assert other != first
    line = f"kept/{SEGMENT}: not used again: it was trained by other code: royale/learn changed"
    assert line in log and "is used again" not in log
