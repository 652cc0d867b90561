"""Shared by the tests: a copy of the project's configuration to break, and a browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import browser as browser_module
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def project_copy(tmp_path: Path) -> Path:
    """A folder with a copy of config/, and with workflow files and scripts linked in."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    for name in ("Snakefile", "workflow", "scripts", "royale"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory):
    """A headless Chromium; skips where there is none."""
    program = browser_module.find()
    if program is None:
        pytest.skip("no Chromium is installed: pages are not tested here")
    found = browser_module.Browser(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture
def browser(chromium):
    """The browser for one test: nothing told yet, and no page that goes on afterwards."""
    chromium.forget()
    yield chromium
    chromium.go("about:blank")
