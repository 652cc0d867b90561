"""The registry of games. Adding a game: its folder, and one line here."""

from __future__ import annotations

import importlib
from pathlib import Path

from royale.games.protocol import Game

HERE = Path(__file__).parent
REGISTRY = {
    "clash": "royale.games.clash",
    "generals": "royale.games.generals",
}


def load(name: str) -> Game:
    """The game registered under `name`; KeyError names those there are."""
    if name not in REGISTRY:
        raise KeyError(f"no game {name!r}; there are {sorted(REGISTRY)}")
    return importlib.import_module(REGISTRY[name]).GAME


def settings_schema(name: str) -> Path:
    """Path of the JSON schema (in YAML) of a game's settings in a machine profile."""
    if name not in REGISTRY:
        raise KeyError(f"no game {name!r}; there are {sorted(REGISTRY)}")
    return HERE / name / "settings.schema.yaml"


def replay_schema(name: str) -> Path:
    """Path of the JSON schema (in YAML) of the records that a game's `replays` makes."""
    return settings_schema(name).with_name("replay.schema.yaml")


def page_file(game: str, name: str) -> Path:
    """Path of a file of the pages that show a game; FileNotFoundError if there is none.

    It lies in the game's folder `page`, or in the one that all games share.
    """
    for path in (HERE / game / "page" / name, HERE / "page" / name):
        if path.exists():
            return path
    raise FileNotFoundError(f"no page of {game} has a file {name}")
