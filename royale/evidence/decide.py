"""Deciding a generation from its files: read, checked against each other, judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from royale.evidence.generation import at_equal_time, inherited, judge
from royale.evidence.ladder_records import AboutGeneration, Gate, Judged, LadderFile, TrainedArm
from royale.evidence.match import check_match
from royale.evidence.names import PlayerName
from royale.evidence.promotion import PARENT
from royale.evidence.records import MatchFile, SegmentEnd
from royale.evidence.segments import by_arm, slow_rows, trained
from royale.files import expect_sha256, read_json, sha256


@dataclass(frozen=True)
class Files:
    """What a generation is decided from, by path."""

    direct: Sequence[str]  # matches of treatment against control, one a seed
    wall_clock: Sequence[str]  # the same at equal wall clock, if they are played
    compared: Sequence[str]  # which networks those were, one file a seed
    sanity: Sequence[str]  # matches against the parent; the root's, against scripted players
    checkpoints: Mapping[str, str]  # player's name -> its network after the last segment
    metrics: Sequence[str]  # of all segments of all arms
    parent: str | None = None  # the parent's ladder file and champion; None for the root
    parent_champion: str | None = None


@dataclass(frozen=True)
class Decision:
    """A generation's ladder file, all but its `champion`, and whose network becomes that."""

    record: Judged
    player: str  # the champion's name, as it was trained
    file: str  # its checkpoint, or the parent's champion
    carried: bool  # whether it is the parent's champion, which is copied as it is


def decide(
    about: AboutGeneration,
    changes: Mapping[str, Mapping[str, Any]],
    files: Files,
    gate: Gate,
    say: Callable[[str], None] = lambda line: None,
) -> Decision:
    """Decide a generation; RoyaleError names a file that does not belong with the others.

    about, gate: as for `judge`. changes: arm -> the recipe keys it sets; the root's, all.
    """
    parent = read_json(files.parent, "ladder") if files.parent else None
    players = {PlayerName.parse(name): sha256(file) for name, file in files.checkpoints.items()}
    arms = _arms(changes, parent, players, files, say)
    known = {str(player): digest for player, digest in players.items()}
    if parent:
        digest = parent["champion"]["sha256"]
        expect_sha256(files.parent_champion, digest, files.parent)
        known[str(PlayerName.champion(about["parent"]))] = digest
    compared, digests = _compared(about["generation"], files.compared)
    known |= digests

    def matches(paths: Sequence[str]) -> list[tuple[PlayerName, MatchFile]]:
        read = [(path, read_json(path, "match")) for path in paths]
        for path, match in read:
            check_match(path, match, known)
        return [(PlayerName.parse(match["a"]), match) for _, match in read]

    direct = {str(player.seed): match for player, match in matches(files.direct)}
    at_time = {str(player.seed): match for player, match in matches(files.wall_clock)}
    sanity: dict[str, dict[str, list[MatchFile]]] = {arm: {} for arm in arms}
    for player, match in matches(files.sanity):
        sanity[player.arm].setdefault(match["b"], []).append(match)
    equal_time = at_equal_time(at_time, compared, gate)
    record = judge(about, arms, direct, sanity, gate, parent, equal_time)
    promoted = record["promotion"]["promoted"]
    if promoted == PARENT:
        return Decision(record, parent["champion"]["player"], files.parent_champion, True)
    # the first seed, predeclared: picking the luckiest would flatter the champion
    player = str(PlayerName.of_arm(about["generation"], promoted, about["seeds"][0]))
    return Decision(record, player, files.checkpoints[player], False)


def _arms(
    changes: Mapping[str, Mapping[str, Any]],
    parent: LadderFile | None,
    players: Mapping[PlayerName, str],
    files: Files,
    say: Callable[[str], None],
) -> dict[str, TrainedArm]:
    """What each arm changed, trained and ended with; one whose iterations lagged is told of."""
    base = inherited(parent["recipe"]) if parent else {}
    metrics, arms = by_arm(files.metrics), {}
    for arm, changed in changes.items():
        steps, seconds = map(sum, zip(*map(trained, metrics[arm]), strict=True))
        slow, rows = slow_rows(metrics[arm])
        if slow:
            say(
                f"warning: {arm}: slower_than_bench in {slow} of {rows} iterations; its log has "
                "the likely cause, and its time says nothing of the change"
            )
        arms[arm] = {
            "changes": dict(changed) if parent else {},
            "recipe": {**base, **changed},
            "steps": steps,
            "seconds": round(seconds, 3),
            "checkpoints": {
                str(player.seed): digest for player, digest in players.items() if player.arm == arm
            },
        }
    return arms


def _compared(
    generation: str, paths: Sequence[str]
) -> tuple[dict[str, dict[str, SegmentEnd]], dict[str, str]]:
    """What played at equal wall clock: seed -> arm -> segment end, and sha256 by player."""
    compared, known = {}, {}
    for path in paths:
        found = read_json(path, "wall_clock")
        for arm, end in found["arms"].items():
            player = PlayerName.of_arm(generation, arm, found["seed"], wall_clock=True)
            known[str(player)] = end.pop("sha256")
        compared[str(found["seed"])] = found["arms"]
    return compared, known
