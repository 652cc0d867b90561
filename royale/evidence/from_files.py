"""From files to the records of the panel, the watch, the time to target and the bench of learning.

What is read is checked against what else is read before anything is concluded from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from royale.evidence import learning, panel, target, watch
from royale.evidence.gate import record_of, record_text
from royale.evidence.generation import check_modes
from royale.evidence.ladder_records import LadderFile
from royale.evidence.match import check_match
from royale.evidence.names import MatchName, PlayerName
from royale.evidence.records import LearningRecord, PanelFile, Policy, TargetFile, WatchFile
from royale.evidence.segments import steps_of_rows
from royale.evidence.wall_clock import segment_ends
from royale.evidence.watch import WatchRow
from royale.files import read_json, read_rows, sha256
from royale.games.protocol import Player


def rated(
    about: Mapping[str, Any],
    ladders: Sequence[str],
    matches: Sequence[str],
    round_robin: str,
    members: Mapping[str, str],
    anchor: str,
    bar: float,
) -> PanelFile:
    """The panel file of a lineage; RoyaleError names a match that is not of these players.

    about: generation, game, profile. ladders: the ladder files of the lineage, whose champions
    are rated. matches: match files. round_robin: that of the scripted players. members:
    sha256 of the configured networks by name.
    """
    read = [read_json(path, "ladder") for path in ladders]
    champions = {
        str(PlayerName.champion(one["generation"])): one["champion"]["sha256"] for one in read
    }
    weights = champions | members
    played = []
    for path in matches:
        played.append(read_json(path, "match"))
        check_match(path, played[-1], weights)
    # ratings need all games: those of a match that stopped early are too far apart
    check_modes(played, "fixed", None)
    played += read_json(round_robin, "round_robin")["pairs"]
    players, records = panel.merge(played, weights)
    names = [name for name in champions if name not in members]
    return {**about, "champions": names, **panel.rate(players, records, anchor, bar)}


def watched(
    name: PlayerName,
    agent_steps: int,
    player: Player,
    checkpoint: str,
    game: str,
    settings: Mapping[str, Any],
    policy: Policy,
    rivals: Sequence[str],
    games: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> WatchFile:
    """Play a segment's network against scripted players, `games` each: the watch file.

    name: with its segment; agent_steps: that it was trained for. player: the network in the
    file `checkpoint`, which chooses as policy says. report(rivals done, rivals) is called
    after each.
    """
    found = watch.play_all(game, settings, player, rivals, games, report)
    return {
        "generation": name.generation,
        "arm": name.arm,
        "seed": name.seed,
        "segment": name.segment,
        "agent_steps": agent_steps,
        "checkpoint_sha256": sha256(checkpoint),
        "game": game,
        "settings": dict(settings),
        "policy": policy,
        "rivals": found,
    }


def watched_ladder(ladder: LadderFile, segments: Sequence[str]) -> tuple[list[WatchRow], list[str]]:
    """The rows of the watch of a ladder's lineage, and a line for each alarm.

    segments: watch files, in the order of the ladder.
    """
    promoted = {entry["generation"]: entry["promotion"]["promoted"] for entry in ladder["lineage"]}
    rows = watch.rows([read_json(path, "watch") for path in segments], promoted)
    return rows, watch.draws_rising(rows, watch.margins_over_parent(ladder))


def reached(
    about: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
    matches: Sequence[str],
    checkpoints: Sequence[str],
    metrics: Sequence[str],
    reference: str,
    reference_file: str | None,
) -> TargetFile:
    """The target file of a generation; RoyaleError names a match of other weights.

    about: generation, profile, question, bar. points: arm, segment and match's name of each
    checkpoint, seed after seed; matches, checkpoints and metrics: its files, in that order.
    reference: the player to be beaten; reference_file: its weights, if it is a network.
    """
    known = {reference: sha256(reference_file)} if reference_file else {}
    segments: dict[str, dict[int, tuple[int, list]]] = {}
    iterations: dict[str, list[tuple[int, float]]] = {}
    for point, path, checkpoint, rows_file in zip(
        points, matches, checkpoints, metrics, strict=True
    ):
        arm, player = point["arm"], str(MatchName.parse(point["match"]).a)
        match = read_json(path, "match")
        check_match(path, match, {**known, player: sha256(checkpoint)})
        rows = read_rows(rows_file)
        each = steps_of_rows(rows)
        iterations.setdefault(arm, []).extend((each, row["seconds"]) for row in rows)
        end = rows[-1]["agent_steps"], []
        segments.setdefault(arm, {}).setdefault(point["segment"], end)[1].append(record_of(match))
    ends = {arm: list(own.values()) for arm, own in segments.items()}
    return {**about, **target.measure(reference, about["bar"], ends, iterations)}


def learned(
    generation: str, watches: Sequence[WatchFile], metrics: Mapping[str, Sequence[str]]
) -> LearningRecord:
    """How a ladder's root learned, as the bench of learning has it.

    watches: watch files, of others too. metrics: seed -> metrics files of its segments, in order.
    """
    ends = {int(seed): segment_ends(paths) for seed, paths in metrics.items()}
    seconds = {(seed, end["segment"]): end["seconds"] for seed, own in ends.items() for end in own}
    own = [watch for watch in watches if watch["generation"] == generation]
    points = learning.curve(own, seconds)
    bars = learning.verdict(points)
    return {"generation": generation, "seeds": sorted(ends), "curve": points, "bars": bars}


def learned_lines(found: LearningRecord) -> list[str]:
    """What `learned` found, a line a rival: counts after the last segment, and the bar."""
    last, said = found["curve"][-1]["rivals"], []
    for name, bar in found["bars"].items():
        counts = record_text(last[name])
        reached = "none" if bar["reached"] is None else f"{bar['reached']:.1%}"
        met = "met" if bar["met"] else "NOT met"
        said.append(
            f"against {name}: W-L-D {counts}, {reached} of decisive games, "
            f"bar {bar['bar']:.0%}: {met}"
        )
    return said
