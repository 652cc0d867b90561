"""Shared by the tests: a copy of the project's configuration to break."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def project_copy(tmp_path: Path) -> Path:
    """A folder with a copy of config/, and with workflow files and scripts linked in."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    for name in ("Snakefile", "workflow", "scripts", "royale"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path
