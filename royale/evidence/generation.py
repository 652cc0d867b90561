"""Judging a generation: from its matches to the ladder file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from royale.errors import RoyaleError
from royale.evidence import seeds
from royale.evidence.gate import Record, label, summary
from royale.evidence.promotion import PARENT, Promotion, decide
from royale.evidence.sequential import BETTER

LINEAGE_KEYS = ("generation", "question", "direct", "effect", "wall_clock", "sanity", "promotion")
SPEED_KEYS = ("steps", "seconds", "steps_per_second")


def record_of(match: Mapping[str, Any]) -> Record:
    """The counts of a match file."""
    return Record(match["win"], match["loss"], match["draw"])


def pooled(matches: Iterable[Mapping[str, Any]]) -> Record:
    """The counts of several matches together."""
    return sum((record_of(match) for match in matches), Record(0, 0, 0))


def check_modes(
    matches: Iterable[Mapping[str, Any]], mode: str, parent: Mapping[str, Any] | None
) -> None:
    """Refuse to judge matches of fixed size together with sequential ones (RoyaleError)."""
    found = {f"matches/{match['a']}-vs-{match['b']}.json": match["mode"] for match in matches}
    if parent:
        found[f"ladder/{parent['generation']}.json"] = parent["gate"]["mode"]
    for file, other in found.items():
        if other != mode:
            raise RoyaleError(
                f"{file} is of mode {other}, and this ladder of mode {mode}: the two never mix in one "
                f"table; set match.mode to {other}, or delete it and run again"
            )


def match_summary(
    matches: Sequence[Mapping[str, Any]], gate: Mapping[str, Any], direct: bool = False
) -> dict[str, Any]:
    """The record of some matches by the gate; with its label if they are direct ones.

    A sequential match (one seed) clears if its test accepted that the first player is better.
    """
    record = pooled(matches)
    found = summary(record, gate["bar"])
    said = label(record, gate["bar"], gate["strong"])
    if gate["mode"] == "sprt":
        (match,) = matches
        test = match["sequential"]
        said = test["verdict"]
        found |= {"clears": said == BETTER}
        found |= {key: test[key] for key in ("llr", "games_saved")}
    return {**found, "evidence": said} if direct else found


def effect_of(matches: Sequence[Mapping[str, Any]], gate: Mapping[str, Any]) -> dict[str, Any]:
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
    matches: Mapping[str, Mapping[str, Any]],
    compared: Mapping[str, Mapping[str, Any]],
    gate: Mapping[str, Any],
) -> dict[str, Any] | None:
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
    about: Mapping[str, Any],
    arms: Mapping[str, Mapping[str, Any]],
    direct: Mapping[str, Mapping[str, Any]],
    sanity: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]],
    gate: Mapping[str, Any],
    parent: Mapping[str, Any] | None,
    wall_clock: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The ladder file of a generation, all but its `champion`.

    about: generation, ladder, game, profile, note, scale, question, parent, seeds.
    arms: arm -> changes, recipe (whole, paper scale), steps, seconds, checkpoints.
    direct: seed -> match file of treatment against control; empty for the root.
    sanity: arm -> rival -> match files, one a seed.
    gate: bar, strong, tie_break, mode. parent: the parent's ladder file.
    wall_clock: as `at_equal_time` makes it; it decides nothing.
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
        recipe = arms["root"]["recipe"]
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
