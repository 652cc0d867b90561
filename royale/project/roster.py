"""Who can play a match: what stands behind the name of a player, and which matches there are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from royale import games
from royale.errors import ConfigError, RoyaleError
from royale.evidence.names import VERSUS, MatchName, PlayerName
from royale.files import expect_sha256
from royale.games.protocol import Player, StatefulPlayer
from royale.project.project import Project


def match_pattern(project: Project) -> str:
    """A regular expression of every match there can be: at least one player is no scripted one."""
    first, second = _patterns(project)
    return f"(?:{first}){VERSUS}(?:{first}|{second})|(?:{second}){VERSUS}(?:{first})"


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


def segment_player(
    project: Project, generation: str, arm: str, seed: int, segment: int
) -> PlayerName:
    """An arm's network after a segment; after the last it is the arm's own name.

    Unless matches of that name may stop early, which others may not be compared with.
    """
    last = segment == project.segments(generation) - 1 and project.match["mode"] == "fixed"
    return PlayerName.of_arm(generation, arm, seed, None if last else segment)


def target_reference(project: Project, generation: str) -> PlayerName:
    """The player whose defeat is a generation's target; ConfigError if there is none."""
    name = project.target
    if name == "parent":
        return PlayerName.champion(project.generations[generation].parent)
    if not re.fullmatch("|".join(_patterns(project)), name):
        raise ConfigError(
            f"config/config.yaml: key 'target' = {name!r}; allowed: parent, a scripted or external "
            "player, or a network such as g02.champion"
        )
    return PlayerName.parse(name)


def kind(project: Project, player: PlayerName) -> str:
    """`network`, `external` or `scripted`."""
    if player.generation is not None or player.other in project.panel["members"]:
        return "network"
    return "external" if player.other in project.external else "scripted"


def match_game(project: Project, match: MatchName) -> str:
    """The game that two players meet in; RoyaleError if there is not exactly one for both."""
    found = set()
    for player in match.players:
        if player.generation is not None:
            found.add(project.generations[player.generation].game)
        elif (named := kind(project, player)) != "scripted":
            known = project.external if named == "external" else project.panel["members"]
            found.add(known[player.other]["game"])
    if len(found) == 1:
        game = found.pop()
        there = games.load(game).scripted
        for player in match.players:
            if kind(project, player) == "scripted" and player.other not in there:
                raise RoyaleError(
                    f"{game} has no player {str(player)!r}; it has {', '.join(there)}"
                )
        return game
    raise RoyaleError(f"{match.a} and {match.b} play different games: {sorted(found)}")


def panel_networks(project: Project, generation: str) -> list[str]:
    """Names of the configured networks of the panel that play a generation's game."""
    game = project.generations[generation].game
    return [name for name, one in project.panel["members"].items() if one["game"] == game]


def panel_matches(project: Project, generation: str) -> list[MatchName]:
    """All matches between champions of a lineage and the rest of the panel.

    The scripted players' own are a round robin, and not among them.
    """
    champions = [PlayerName.champion(name) for name in project.lineage(generation)]
    networks = [PlayerName.named(name) for name in panel_networks(project, generation)]
    scripted = games.load(project.generations[generation].game).scripted
    fixed = [*networks, *map(PlayerName.named, scripted)]
    return [
        *(MatchName(a, b) for k, a in enumerate(champions) for b in champions[:k]),
        *(MatchName(a, b) for a in champions for b in fixed),
        *(MatchName(a, b) for k, a in enumerate(networks) for b in networks[:k]),
        *(MatchName(a, b) for a in networks for b in fixed[len(networks) :]),
    ]


def sequential(project: Project, match: MatchName) -> Mapping[str, Any] | None:
    """The sequential test of a match, or None for one of fixed size.

    Only matches that decide a generation are played sequentially; ratings need all games.
    """
    generation = match.a.generation
    if project.match["mode"] == "fixed" or generation not in project.generations:
        return None
    if match not in project.ladder_matches(generation):
        return None
    return {key: value for key, value in project.match.items() if key != "mode"}


def describe(project: Project, player: PlayerName) -> dict[str, Any]:
    """What a match rule depends on: kind, name, an external's command, a panel member's bytes."""
    entry = {"name": str(player), "kind": kind(project, player)}
    if entry["kind"] == "external":
        entry |= {key: project.external[player.other][key] for key in ("command", "limit_ms")}
    if player.other in project.panel["members"]:
        entry["sha256"] = project.panel["members"][player.other]["sha256"]
    return entry


def make_player(
    entry: Mapping[str, Any],
    weights: str | Path | None,
    game: str,
    settings: Mapping[str, Any],
    policy: str,
    device: str,
) -> Player | StatefulPlayer:
    """The player that `describe` tells of; weights: the file of a network, else None.

    RoyaleError if the file of the panel's network is not the one of the configuration.
    """
    module = games.load(game)
    if "sha256" in entry:
        said_by = f"config.yaml (panel.members.{entry['name']})"
        expect_sha256(weights, entry["sha256"], said_by)
    match entry["kind"]:
        case "network":
            from royale.learn.player import NetworkPlayer  # torch: not for every dry run

            return NetworkPlayer(Path(weights), policy == "greedy", device)
        case "external":
            return module.external_player(entry["command"], entry["limit_ms"])
        case _:
            return module.scripted_player(entry["name"], module.spec(settings, module.encoders[0]))
