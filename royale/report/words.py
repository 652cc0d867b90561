"""What may be said of a ladder, in plain words. A tie is called a tie.

A verdict on a change comes from the direct match alone: that an arm beats its parent,
which anything that trains longer does, is never called a success of the change.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import norm

from royale.evidence.ladder_records import Label, LineageEntry
from royale.evidence.promotion import WON
from royale.evidence.records import Sooner

VERDICTS: dict[Label, str] = {
    "strong": "helped, strong evidence",
    "moderate": "helped, moderate evidence",
    "tie": "tie: not told apart",
    "rejected": "rejected: the control is stronger",
    # of matches that a sequential test stopped
    "better": "helped, by the sequential test",
    "not_better": "not better: a tie or worse",
    "undecided": "undecided: not told apart",
}
SOONER: dict[Sooner, str] = {
    "treatment": "treatment",
    "control": "control",
    "tie": "tie",
    "open": "cannot be told",
}
CSS = {label: "good" if label in WON else "tie" for label in VERDICTS} | {"rejected": "bad"}


def evidence(entry: LineageEntry) -> Label | None:
    """The label of a generation: the effect's, which weighs seeds as the gate does not."""
    return entry["effect"]["evidence"] if entry["effect"] else None


def verdict(entry: LineageEntry) -> str:
    """The label in words, and on what it rests, such as one seed."""
    if not entry["effect"]:
        return "the root: no change was tried"
    return f"{VERDICTS[evidence(entry)]} ({entry['effect']['note']})"


def headline(lineage: Sequence[LineageEntry]) -> str:
    """Which change helped, in one sentence."""
    tried = [entry for entry in lineage if entry["direct"]]
    if not tried:
        return "No change has been tried yet: this is the root."
    labels = [evidence(entry) for entry in tried]
    helped = [e for e, label in zip(tried, labels, strict=True) if label in WON]
    changes = "1 change" if len(tried) == 1 else f"{len(tried)} changes"
    if helped:
        named = ", ".join(f"{e['question']} ({e['generation']})" for e in helped)
        return f"{len(helped)} of {changes} helped: {named}."
    return f"None of {changes} was shown to help."


def balance(lineage: Sequence[LineageEntry]) -> str:
    """How many ties and rejections there are beside, and on how many seeds it rests."""
    tried = [entry for entry in lineage if entry["direct"]]
    if not tried:
        return ""
    labels = [evidence(entry) for entry in tried]
    parts = []
    for label, one, many in (
        ("tie", "is a tie, an open question", "are ties, open questions"),
        ("undecided", "is undecided", "are undecided"),
        ("not_better", "is not better, a tie or worse", "are not better, ties or worse"),
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


def tried(lineage: Sequence[LineageEntry], bar: float) -> str:
    """How many arms were tried, and what luck alone would do with as many."""
    changes = sum(bool(entry["direct"]) for entry in lineage)
    arms = sum(len(entry["arms"]) for entry in lineage)
    if not changes:
        return f"{arms} arm trained."
    questions = f"{changes} question{'s' if changes > 1 else ''}"
    luck = 1 - norm.cdf(bar) ** changes
    return (
        f"{arms} arms were trained along this lineage to ask {questions}. If no change mattered, "
        f"the chance that at least one direct match clears the gate by luck would be {luck:.0%}; "
        "Holm p is each p adjusted for all of them."
    )


def decided(entry: LineageEntry) -> str:
    """Which weights the generation handed on, and why."""
    promoted, why = entry["promotion"]["promoted"], entry["promotion"]["why"]
    what = {
        "parent": "The parent is carried forward",
        "root": "The root is the first champion",
    }.get(promoted, f"The {promoted} is promoted")
    return f"{what}: {why}."
