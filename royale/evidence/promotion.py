"""Which arm becomes the champion, by rules declared before the games are played.

1. The treatment-versus-control match decides which arm is the better one.
2. An arm is promoted only if it also clears the gate against the frozen parent;
   that is a sanity check, and never shows that the change helped.
3. If the direct match is a tie, the predeclared tie-break picks among the arms
   that clear the parent gate.
4. If no arm is left, the parent is carried forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from royale.evidence.gate import Record, clears, label, margin

PARENT = "parent"


@dataclass(frozen=True)
class Promotion:
    """What was promoted, by which rule, and why in one sentence."""

    promoted: str  # "treatment", "control" or "parent"
    rule: str  # "direct", "only_arm_over_parent", "tie_break", "carried_forward"
    why: str


def decide(
    direct: Record, parents: Mapping[str, Record], bar: float, strong: float, tie_break: str
) -> Promotion:
    """Apply the rules to the direct record (treatment's view) and each arm's against the parent."""
    cleared = [arm for arm in ("treatment", "control") if clears(parents[arm], bar)]
    verdict = label(direct, bar, strong)
    if verdict != "tie":
        better = "control" if verdict == "rejected" else "treatment"
        if better in cleared:
            return Promotion(better, "direct", f"{better} won the direct match ({direct})")
        return Promotion(
            PARENT,
            "carried_forward",
            f"{better} won the direct match ({direct}) but does not clear the gate against the "
            f"parent ({parents[better]})",
        )
    tied = f"the direct match is a tie ({direct})"
    if not cleared:
        return Promotion(
            PARENT, "carried_forward", f"{tied} and neither arm clears the gate against the parent"
        )
    if len(cleared) == 1:
        return Promotion(
            cleared[0],
            "only_arm_over_parent",
            f"{tied}; only {cleared[0]} clears the gate against the parent",
        )
    if tie_break == "parent_margin":
        # equal margins: the control, since it changes nothing
        best = max(("control", "treatment"), key=lambda arm: margin(parents[arm]))
        why = f"{tied}; predeclared tie-break parent_margin: {best} has the larger margin over the parent"
    else:
        best, why = tie_break, f"{tied}; predeclared tie-break: the {tie_break}"
    return Promotion(best, "tie_break", why)
