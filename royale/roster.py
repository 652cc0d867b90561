"""Who can play a match: the names of players and what stands behind them.

`g05.treatment.seed0` is an arm's network after its last segment, with `.segment1` after
that one, with `.wall_clock` what an arm had when the faster of the two finished,
`g04.champion` a generation's champion, `random` a scripted player, and any other name
an external player or a network of the panel in `config.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from royale import games
from royale.errors import ConfigError, RoyaleError
from royale.ladder import Project

if TYPE_CHECKING:
    from royale.evidence.match import StatefulPlayer
    from royale.games.protocol import Player


def match_pattern(project: Project) -> str:
    """A regular expression of every match there can be: at least one player is no scripted one."""
    first, second = _patterns(project)
    return f"(?:{first})-vs-(?:{first}|{second})|(?:{second})-vs-(?:{first})"


def _patterns(project: Project) -> tuple[str, str]:
    """Regular expressions of the networks and external players, and of the scripted players."""
    number = r"(?:0|[1-9]\d*)"
    after = rf"\.segment{number}"
    networks = [
        rf"{name}\.(?:champion|(?:{'|'.join(generation.arms)})\.seed{number}(?:{after}"
        + (r"|\.wall_clock)?)" if generation.parent else ")?)")
        for name, generation in project.generations.items()
    ]
    named = sorted([*project.external, *project.panel["members"]])
    first = "|".join([*networks, *map(re.escape, named)])
    scripted = {name for game in project.profile["per_game"] for name in games.load(game).scripted}
    return first, "|".join(map(re.escape, sorted(scripted)))


def segment_player(project: Project, generation: str, arm: str, seed: int, segment: int) -> str:
    """Name of an arm's network after a segment; after the last it is the arm's own name.

    Unless matches of that name may stop early, which others may not be compared with.
    """
    name = f"{generation}.{arm}.seed{seed}"
    last = segment == project.segments(generation) - 1 and project.match["mode"] == "fixed"
    return name if last else f"{name}.segment{segment}"


def target_reference(project: Project, generation: str) -> str:
    """Name of the player whose defeat is a generation's target; ConfigError if there is none."""
    name = project.target
    if name == "parent":
        return f"{project.generations[generation].parent}.champion"
    if not re.fullmatch("|".join(_patterns(project)), name):
        raise ConfigError(
            f"config/config.yaml: key 'target' = {name!r}; allowed: parent, a scripted or external "
            "player, or a network such as g02.champion"
        )
    return name


def kind(project: Project, name: str) -> str:
    """`network`, `external` or `scripted`."""
    if "." in name or name in project.panel["members"]:
        return "network"
    return "external" if name in project.external else "scripted"


def match_game(project: Project, names: tuple[str, str]) -> str:
    """The game that two players meet in; RoyaleError if there is not exactly one for both."""
    found = set()
    for name in names:
        if name in project.panel["members"]:
            found.add(project.panel["members"][name]["game"])
        elif kind(project, name) == "network":
            found.add(project.generations[name.split(".")[0]].game)
        elif kind(project, name) == "external":
            found.add(project.external[name]["game"])
    if len(found) == 1:
        game = found.pop()
        there = games.load(game).scripted
        for name in names:
            if kind(project, name) == "scripted" and name not in there:
                raise RoyaleError(f"{game} has no player {name!r}; it has {', '.join(there)}")
        return game
    raise RoyaleError(f"{names[0]} and {names[1]} play different games: {sorted(found)}")


def panel_networks(project: Project, generation: str) -> list[str]:
    """Names of the configured networks of the panel that play a generation's game."""
    game = project.generations[generation].game
    return [name for name, one in project.panel["members"].items() if one["game"] == game]


def panel_matches(project: Project, generation: str) -> list[str]:
    """Names of all matches between champions of a lineage and the rest of the panel.

    The scripted players' own are a round robin, and not among them.
    """
    champions = [f"{name}.champion" for name in project.lineage(generation)]
    networks = panel_networks(project, generation)
    scripted = games.load(project.generations[generation].game).scripted
    return [
        *(f"{c}-vs-{b}" for k, c in enumerate(champions) for b in champions[:k]),
        *(f"{c}-vs-{b}" for c in champions for b in (*networks, *scripted)),
        *(f"{a}-vs-{b}" for k, a in enumerate(networks) for b in networks[:k]),
        *(f"{a}-vs-{b}" for a in networks for b in scripted),
    ]


def sequential(project: Project, match: str) -> Mapping[str, Any] | None:
    """The sequential test of a match, or None for one of fixed size.

    Only matches that decide a generation are played sequentially; ratings need all games.
    """
    if project.match["mode"] == "fixed" or match not in project.ladder_matches(match.split(".")[0]):
        return None
    return {key: value for key, value in project.match.items() if key != "mode"}


def describe(project: Project, name: str) -> dict[str, Any]:
    """What a match rule depends on: kind and name, an external player's command, a panel's bytes."""
    entry = {"name": name, "kind": kind(project, name)}
    if entry["kind"] == "external":
        entry |= {key: project.external[name][key] for key in ("command", "limit_ms")}
    if name in project.panel["members"]:
        entry["sha256"] = project.panel["members"][name]["sha256"]
    return entry


def make_player(
    entry: Mapping[str, Any],
    weights: str | Path | None,
    game: str,
    settings: Mapping[str, Any],
    policy: str,
    device: str,
) -> Player | StatefulPlayer:
    """The player that `describe` tells of; weights: the file of a network, else None."""
    module = games.load(game)
    match entry["kind"]:
        case "network":
            from royale.learn.player import NetworkPlayer  # torch: not for every dry run

            return NetworkPlayer(Path(weights), policy == "greedy", device)
        case "external":
            return module.external_player(entry["command"], entry["limit_ms"])
        case _:
            return module.scripted_player(entry["name"], module.spec(settings, module.encoders[0]))
