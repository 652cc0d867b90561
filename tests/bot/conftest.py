"""Fixtures of the bot's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import bot_helpers


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Path:
    """Path of a tiny champion's bundle; `champion.safetensors` lies next to it."""
    return bot_helpers.tiny_bundle(tmp_path_factory.mktemp("tiny"))
