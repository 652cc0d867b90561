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

from royale.evidence.gate import record_text
from royale.evidence.ladder_records import GateRecord, MatchSummary, Promoted, Rule
from royale.evidence.names import ARMS

PARENT = "parent"
WON = ("strong", "moderate", "better")  # labels of a direct match that the treatment won


@dataclass(frozen=True)
class Promotion:
    """What was promoted, by which rule, and why in one sentence."""

    promoted: Promoted
    rule: Rule
    why: str


def decide(direct: MatchSummary, parents: Mapping[str, GateRecord], tie_break: str) -> Promotion:
    """Apply the rules to the direct match (treatment's view) and each arm's against the parent.

    parents: arm -> its matches against the parent. tie_break: `parent_margin`, or an arm.
    """
    cleared = [arm for arm in ARMS if parents[arm]["clears"]]
    verdict, record = direct["evidence"], record_text(direct)
    if verdict in WON or verdict == "rejected":
        better = "treatment" if verdict in WON else "control"
        if better in cleared:
            return Promotion(better, "direct", f"{better} won the direct match ({record})")
        return Promotion(
            PARENT,
            "carried_forward",
            f"{better} won the direct match ({record}) but does not clear the gate against the "
            f"parent ({record_text(parents[better])})",
        )
    tied = f"the direct match is a tie ({record})"
    if verdict != "tie":
        tied = f"the direct match does not show the treatment to be better ({record}, {verdict})"
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
        best = max(reversed(ARMS), key=lambda arm: parents[arm]["margin"])
        why = (
            f"{tied}; predeclared tie-break parent_margin: {best} has the larger margin over the "
            "parent"
        )
    else:
        best, why = tie_break, f"{tied}; predeclared tie-break: the {tie_break}"
    return Promotion(best, "tie_break", why)
