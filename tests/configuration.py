"""A whole configuration for tests to change, and how its files are edited."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
LADDER = "config/ladders/generals.yaml"
CONFIG = {
    "profile": "laptop",
    "ladders": ["generals"],
    "seeds": None,
    "games": None,
    "wall_clock": None,
    "match": {"mode": "fixed", "elo0": 0, "elo1": 30, "alpha": 0.05, "beta": 0.05, "batch": 64},
    "players": {},
    "panel": {"anchor": {"generals": "expander"}, "members": {}},
    "evidence": {"bar": 1.65, "strong": 2.58, "tie_break": "parent_margin"},
    "target": "parent",
    "report": ["target", "watch", "bench"],
}
MEMBER = {"game": "generals", "file": "old.safetensors", "sha256": "0" * 64}


def edit(file: Path, change) -> None:
    value = yaml.safe_load(file.read_text())
    change(value)
    file.write_text(yaml.safe_dump(value))


def generation(name, **changes):
    return lambda ladder: ladder["generations"][name].update(changes)


def remove(name, key):
    return lambda ladder: ladder["generations"][name].pop(key)
