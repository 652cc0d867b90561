"""Judging a generation: from its matches to the ladder file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from royale.evidence.gate import Record, summary
from royale.evidence.promotion import PARENT, Promotion, decide

LINEAGE_KEYS = ("generation", "question", "direct", "sanity", "promotion")
SPEED_KEYS = ("steps", "seconds", "steps_per_second")


def record_of(match: Mapping[str, Any]) -> Record:
    """The counts of a match file."""
    return Record(match["win"], match["loss"], match["draw"])


def pooled(matches: Iterable[Mapping[str, Any]]) -> Record:
    """The counts of several matches together."""
    return sum((record_of(match) for match in matches), Record(0, 0, 0))


def judge(
    about: Mapping[str, Any],
    arms: Mapping[str, Mapping[str, Any]],
    direct: Mapping[str, Mapping[str, Any]],
    sanity: Mapping[str, Mapping[str, list[Mapping[str, Any]]]],
    gate: Mapping[str, Any],
    parent: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The ladder file of a generation, all but its `champion`.

    about: generation, ladder, game, profile, note, scale, question, parent, seeds.
    arms: arm -> changes, recipe (whole, paper scale), steps, seconds, checkpoints.
    direct: seed -> match file of treatment against control; empty for the root.
    sanity: arm -> rival -> match files, one a seed.
    gate: bar, strong, tie_break. parent: the parent's ladder file.
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
        "direct": summary(pooled(direct.values()), bar, strong) if direct else None,
        "direct_by_seed": {
            seed: summary(record_of(match), bar, strong) for seed, match in direct.items()
        },
        "sanity": {
            arm: {rival: summary(record, bar, strong) for rival, record in rivals.items()}
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
    result["lineage"] = [*(parent["lineage"] if parent else []), own]
    return result
