"""Judging a generation: from its matches to the ladder file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from royale.errors import RoyaleError
from royale.evidence import seeds
from royale.evidence.gate import Record, label, record_of, summary
from royale.evidence.ladder_records import (
    AboutGeneration,
    EffectRecord,
    EqualTime,
    Gate,
    Judged,
    Label,
    LadderFile,
    MatchSummary,
    TrainedArm,
)
from royale.evidence.names import ROOT_ARM, MatchName
from royale.evidence.promotion import PARENT, Promotion, decide
from royale.evidence.records import Counts, MatchFile, Mode, SegmentEnd
from royale.evidence.sequential import BETTER

LINEAGE_KEYS = ("generation", "question", "direct", "effect", "wall_clock", "sanity", "promotion")
SPEED_KEYS = ("steps", "seconds", "steps_per_second")


def pooled(matches: Iterable[Counts]) -> Record:
    """The counts of several matches together."""
    return sum(map(record_of, matches), Record(0, 0, 0))


def inherited(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """What arms take over of their parent's recipe: all of it but its schedule.

    A schedule leads a training from its beginning to its end. What starts from a champion is
    behind that end; small boards, say, would make it forget.
    """
    return {**recipe, "schedule": []}


def check_modes(matches: Iterable[MatchFile], mode: Mode, parent: LadderFile | None) -> None:
    """Refuse to judge matches of fixed size together with sequential ones (RoyaleError)."""
    found = {
        f"matches/{MatchName.of(match['a'], match['b'])}.json": match["mode"] for match in matches
    }
    if parent:
        found[f"ladder/{parent['generation']}.json"] = parent["gate"]["mode"]
    for file, other in found.items():
        if other != mode:
            raise RoyaleError(
                f"{file} is of mode {other}, and this ladder of mode {mode}: the two never mix in "
                f"one table; set match.mode to {other}, or delete it and run again"
            )


def match_summary(matches: Sequence[MatchFile], gate: Gate, direct: bool = False) -> MatchSummary:
    """The record of some matches by the gate; with its label if they are direct ones.

    A sequential match (one seed) clears if its test accepted that the first player is better.
    """
    record = pooled(matches)
    found: MatchSummary = {**summary(record, gate["bar"])}
    said: Label = label(record, gate["bar"], gate["strong"])
    if gate["mode"] == "sprt":
        (match,) = matches
        test = match["sequential"]
        said = test["verdict"]
        found |= {"clears": said == BETTER}
        found |= {key: test[key] for key in ("llr", "games_saved")}
    return {**found, "evidence": said} if direct else found


def effect_of(matches: Sequence[MatchFile], gate: Gate) -> EffectRecord:
    """The effect that treatment-versus-control matches show, one match a seed.

    A sequential match's p is exp(-LLR): under elo0 a likelihood ratio ever reaches x with
    a chance of 1 / x at most (Ville), so it holds whenever the match was stopped.
    """
    found = seeds.summary(
        pooled(matches), [match["pairs"] for match in matches], gate["bar"], gate["strong"]
    )
    if gate["mode"] == "sprt":
        test = matches[0]["sequential"]
        found |= {"p": min(1.0, math.exp(-test["llr"])), "evidence": test["verdict"]}
        found["note"] += ", stopped early: Elo overstates" if test["games_saved"] else ""
    return found


def at_equal_time(
    matches: Mapping[str, MatchFile],
    compared: Mapping[str, dict[str, SegmentEnd]],
    gate: Gate,
) -> EqualTime | None:
    """The comparison at equal wall clock, by the same gate; None without matches.

    compared: seed -> arm -> the segment end whose network played.
    """
    if not matches:
        return None
    found = list(matches.values())
    check_modes(found, gate["mode"], None)
    return {
        "direct": match_summary(found, gate, direct=True),
        "effect": effect_of(found, gate),
        "compared": dict(compared),
    }


def judge(
    about: AboutGeneration,
    arms: Mapping[str, TrainedArm],
    direct: Mapping[str, MatchFile],
    sanity: Mapping[str, Mapping[str, Sequence[MatchFile]]],
    gate: Gate,
    parent: LadderFile | None,
    wall_clock: EqualTime | None = None,
) -> Judged:
    """The ladder file of a generation, all but its `champion`.

    direct: seed -> match of treatment against control; empty for the root. sanity: arm ->
    rival -> matches, one a seed. parent: None for the root. wall_clock: as `at_equal_time`
    makes it; it decides nothing.
    """
    met = list(direct.values())
    parents = [match for rivals in sanity.values() for found in rivals.values() for match in found]
    check_modes([*met, *parents], gate["mode"], parent)
    against = {
        arm: {rival: match_summary(matches, gate) for rival, matches in rivals.items()}
        for arm, rivals in sanity.items()
    }
    judged = match_summary(met, gate, direct=True) if met else None
    if parent is None:
        promotion = Promotion("root", "root", "the root is where the ladder starts")
        recipe = arms[ROOT_ARM]["recipe"]
    else:
        over_parent = {arm: next(iter(rivals.values())) for arm, rivals in against.items()}
        promotion = decide(judged, over_parent, gate["tie_break"])
        carried = promotion.promoted == PARENT
        recipe = parent["recipe"] if carried else arms[promotion.promoted]["recipe"]
    result = {
        **about,
        "gate": dict(gate),
        "direct": judged,
        "direct_by_seed": {
            seed: match_summary([match], gate, direct=True) for seed, match in direct.items()
        },
        "effect": effect_of(met, gate) if met else None,
        "wall_clock": wall_clock,
        "sanity": against,
        "arms": {
            arm: {**entry, "steps_per_second": round(entry["steps"] / entry["seconds"], 1)}
            for arm, entry in arms.items()
        },
        "promotion": vars(promotion),
        "recipe": dict(recipe),
    }
    own = {key: result[key] for key in LINEAGE_KEYS}
    own["seeds"] = len(about["seeds"])
    own["arms"] = {
        arm: {key: entry[key] for key in SPEED_KEYS} for arm, entry in result["arms"].items()
    }
    result["lineage"] = seeds.adjust([*(parent["lineage"] if parent else []), own])
    result["effect"] = result["lineage"][-1]["effect"]
    return result
