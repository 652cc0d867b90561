"""The registry of games. Adding a game: its folder, and one line here."""

from __future__ import annotations

import importlib
from pathlib import Path

from royale.games.protocol import Game

PAGE = Path(__file__).parent / "page"  # modules that pages of several games share
REGISTRY = {
    "clash": "royale.games.clash",
    "generals": "royale.games.generals",
}


def load(name: str) -> Game:
    """The game registered under `name`; KeyError names those there are."""
    if name not in REGISTRY:
        raise KeyError(f"no game {name!r}; there are {sorted(REGISTRY)}")
    return importlib.import_module(REGISTRY[name]).GAME


def replay_schema(name: str) -> Path:
    """Path of the JSON schema (in YAML) of the records that a game's `replays` makes."""
    return settings_schema(name).with_name("replay.schema.yaml")


def settings_schema(name: str) -> Path:
    """Path of the JSON schema (in YAML) of a game's settings in a machine profile."""
    if name not in REGISTRY:
        raise KeyError(f"no game {name!r}; there are {sorted(REGISTRY)}")
    return Path(__file__).parent / name / "settings.schema.yaml"
