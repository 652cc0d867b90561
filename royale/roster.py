"""Who can play a match: the names of players and what stands behind them.

`g05.treatment.seed0` is an arm's network after its last segment, `g04.champion` a
generation's champion, `g05.control.seed0.wall_clock` what an arm had when the faster of
the two finished, `random` a scripted player, and any other name an external
player of `config.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from royale import games
from royale.errors import RoyaleError
from royale.ladder import Project


def match_pattern(project: Project) -> str:
    """A regular expression of every match there can be: at least one player is no scripted one."""
    networks = [
        rf"{name}\.(?:champion|(?:{'|'.join(generation.arms)})\.seed(?:0|[1-9]\d*)"
        + (r"(?:\.wall_clock)?)" if generation.parent else ")")
        for name, generation in project.generations.items()
    ]
    first = "|".join([*networks, *map(re.escape, sorted(project.external))])
    scripted = {name for game in project.profile["per_game"] for name in games.load(game).scripted}
    second = "|".join(map(re.escape, sorted(scripted)))
    return f"(?:{first})-vs-(?:{first}|{second})|(?:{second})-vs-(?:{first})"


def kind(project: Project, name: str) -> str:
    """`network`, `external` or `scripted`."""
    if "." in name:
        return "network"
    return "external" if name in project.external else "scripted"


def match_game(project: Project, names: tuple[str, str]) -> str:
    """The game that two players meet in; RoyaleError if there is not exactly one."""
    found = set()
    for name in names:
        if kind(project, name) == "network":
            found.add(project.generations[name.split(".")[0]].game)
        elif kind(project, name) == "external":
            found.add(project.external[name]["game"])
    if len(found) == 1:
        return found.pop()
    raise RoyaleError(f"{names[0]} and {names[1]} play different games: {sorted(found)}")


def sequential(project: Project, match: str) -> Mapping[str, Any] | None:
    """The sequential test of a match, or None for one of fixed size.

    Only matches that decide a generation are played sequentially; ratings need all games.
    """
    if project.match["mode"] == "fixed" or match not in project.ladder_matches(match.split(".")[0]):
        return None
    return {key: value for key, value in project.match.items() if key != "mode"}


def describe(project: Project, name: str) -> dict[str, Any]:
    """What a match rule depends on: kind and name, and an external player's command."""
    entry = {"name": name, "kind": kind(project, name)}
    if entry["kind"] == "external":
        entry |= {key: project.external[name][key] for key in ("command", "limit_ms")}
    return entry
