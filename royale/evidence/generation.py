"""Judging a generation: from its matches to the ladder file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from royale.evidence import seeds
from royale.evidence.gate import Record, label, summary
from royale.evidence.promotion import PARENT, Promotion, decide

LINEAGE_KEYS = ("generation", "question", "direct", "effect", "wall_clock", "sanity", "promotion")
SPEED_KEYS = ("steps", "seconds", "steps_per_second")


def record_of(match: Mapping[str, Any]) -> Record:
    """The counts of a match file."""
    return Record(match["win"], match["loss"], match["draw"])


def pooled(matches: Iterable[Mapping[str, Any]]) -> Record:
    """The counts of several matches together."""
    return sum((record_of(match) for match in matches), Record(0, 0, 0))


def direct_summary(matches: Iterable[Mapping[str, Any]], gate: Mapping[str, Any]) -> dict[str, Any]:
    """The pooled record of treatment-versus-control matches, with the gate's label."""
    record = pooled(matches)
    said = label(record, gate["bar"], gate["strong"])
    return {**summary(record, gate["bar"]), "evidence": said}


def effect_of(matches: Iterable[Mapping[str, Any]], gate: Mapping[str, Any]) -> dict[str, Any]:
    """The effect that treatment-versus-control matches show, one match a seed."""
    matches = list(matches)
    pairs = [match["pairs"] for match in matches]
    return seeds.summary(pooled(matches), pairs, gate["bar"], gate["strong"])


def at_equal_time(
    matches: Mapping[str, Mapping[str, Any]],
    compared: Mapping[str, Mapping[str, Any]],
    gate: Mapping[str, Any],
) -> dict[str, Any] | None:
    """The comparison at equal wall clock, by the same gate; None without matches.

    compared: seed -> arm -> the segment end whose network played.
    """
    if not matches:
        return None
    found = direct_summary(matches.values(), gate), effect_of(matches.values(), gate)
    return {"direct": found[0], "effect": found[1], "compared": dict(compared)}


def judge(
    about: Mapping[str, Any],
    arms: Mapping[str, Mapping[str, Any]],
    direct: Mapping[str, Mapping[str, Any]],
    sanity: Mapping[str, Mapping[str, list[Mapping[str, Any]]]],
    gate: Mapping[str, Any],
    parent: Mapping[str, Any] | None,
    wall_clock: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The ladder file of a generation, all but its `champion`.

    about: generation, ladder, game, profile, note, scale, question, parent, seeds.
    arms: arm -> changes, recipe (whole, paper scale), steps, seconds, checkpoints.
    direct: seed -> match file of treatment against control; empty for the root.
    sanity: arm -> rival -> match files, one a seed.
    gate: bar, strong, tie_break. parent: the parent's ladder file.
    wall_clock: as `at_equal_time` makes it; it decides nothing.
    """
    bar, strong = gate["bar"], gate["strong"]
    against = {
        arm: {rival: pooled(matches) for rival, matches in rivals.items()}
        for arm, rivals in sanity.items()
    }
    if parent is None:
        promotion = Promotion("root", "root", "the root is where the ladder starts")
        recipe = arms["root"]["recipe"]
    else:
        over_parent = {arm: next(iter(rivals.values())) for arm, rivals in against.items()}
        promotion = decide(pooled(direct.values()), over_parent, bar, strong, gate["tie_break"])
        carried = promotion.promoted == PARENT
        recipe = parent["recipe"] if carried else arms[promotion.promoted]["recipe"]
    result = {
        **about,
        "gate": dict(gate),
        "direct": direct_summary(direct.values(), gate) if direct else None,
        "direct_by_seed": {seed: direct_summary([match], gate) for seed, match in direct.items()},
        "effect": effect_of(direct.values(), gate) if direct else None,
        "wall_clock": wall_clock,
        "sanity": {
            arm: {rival: summary(record, bar) for rival, record in rivals.items()}
            for arm, rivals in against.items()
        },
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
