"""What may be said of a ladder, in plain words. A tie is called a tie.

A verdict on a change comes from the direct match alone: that an arm beats its parent,
which anything that trains longer does, is never called a success of the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from royale.evidence.power import chance_by_luck

VERDICTS = {
    "strong": "helped, strong evidence",
    "moderate": "helped, moderate evidence",
    "tie": "tie: not told apart",
    "rejected": "rejected: the control is stronger",
}
SOONER = {
    "treatment": "treatment",
    "control": "control",
    "tie": "tie",
    "open": "cannot be told",
}
CSS = {"strong": "good", "moderate": "good", "tie": "tie", "rejected": "bad"}


def evidence(entry: Mapping[str, Any]) -> str | None:
    """The label of a generation: the effect's where seeds were weighed, else the gate's."""
    if not entry["direct"]:
        return None
    return (entry.get("effect") or entry["direct"])["evidence"]


def verdict(entry: Mapping[str, Any]) -> str:
    """The label in words, with a mark if it rests on one seed."""
    label = evidence(entry)
    if label is None:
        return "the root: no change was tried"
    return VERDICTS[label] + (" (one seed)" if entry["seeds"] == 1 else "")


def headline(lineage: Sequence[Mapping[str, Any]]) -> str:
    """Which change helped, in one sentence."""
    tried = [entry for entry in lineage if entry["direct"]]
    if not tried:
        return "No change has been tried yet: this is the root."
    labels = [evidence(entry) for entry in tried]
    helped = [e for e, label in zip(tried, labels, strict=True) if label in ("strong", "moderate")]
    changes = "1 change" if len(tried) == 1 else f"{len(tried)} changes"
    if helped:
        named = ", ".join(f"{e['question']} ({e['generation']})" for e in helped)
        return f"{len(helped)} of {changes} helped: {named}."
    return f"None of {changes} was shown to help."


def balance(lineage: Sequence[Mapping[str, Any]]) -> str:
    """How many ties and rejections there are beside, and on how many seeds it rests."""
    tried = [entry for entry in lineage if entry["direct"]]
    if not tried:
        return ""
    labels = [evidence(entry) for entry in tried]
    parts = []
    for label, one, many in (
        ("tie", "is a tie, an open question", "are ties, open questions"),
        (
            "rejected",
            "was rejected: there the control is stronger",
            "were rejected: there the control is stronger",
        ),
    ):
        number = labels.count(label)
        if number:
            parts.append(f"{number} {one if number == 1 else many}.")
    seeds = {entry["seeds"] for entry in tried}
    if seeds == {1}:
        parts.append("One seed an arm: another seed could say otherwise.")
    elif 1 in seeds:
        parts.append("Where it says one seed, another seed could say otherwise.")
    return " ".join(parts)


def tried(lineage: Sequence[Mapping[str, Any]], bar: float) -> str:
    """How many arms were tried, and what luck alone would do with as many."""
    changes = sum(bool(entry["direct"]) for entry in lineage)
    arms = sum(len(entry["arms"]) for entry in lineage)
    if not changes:
        return f"{arms} arm trained."
    luck = chance_by_luck(bar, changes)
    holm = any("p_holm" in (entry.get("effect") or {}) for entry in lineage)
    return (
        f"{arms} arms were trained along this lineage to ask {changes} "
        f"question{'s' if changes > 1 else ''}. If no change mattered, the chance that at least one "
        f"direct match clears the gate by luck would be {luck:.0%}."
        + (" Holm p is each p adjusted for all of them." if holm else "")
    )


def decided(entry: Mapping[str, Any]) -> str:
    """Which weights the generation handed on, and why."""
    promoted, why = entry["promotion"]["promoted"], entry["promotion"]["why"]
    what = {
        "parent": "The parent is carried forward",
        "root": "The root is the first champion",
    }.get(promoted, f"The {promoted} is promoted")
    return f"{what}: {why}."
