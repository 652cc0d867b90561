"""Which networks two arms had at the same wall-clock time.

At equal agent steps the slower arm has had more time. So a second match is played
between what each arm had when the first of them finished. Networks exist only at the
ends of segments: the time that is compared is each one's own, and is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from royale.evidence.records import SegmentEnd
from royale.files import read_rows


def segment_ends(metrics: Sequence[str | Path]) -> list[SegmentEnd]:
    """The end of each segment of an arm: its number, agent steps and training seconds so far.

    metrics: the arm's metrics files, in the order of the segments.
    """
    ends: list[SegmentEnd] = []
    seconds = 0.0
    for segment, path in enumerate(metrics):
        rows = read_rows(path)
        seconds += sum(row["seconds"] for row in rows)
        steps = rows[-1]["agent_steps"]
        ends.append({"segment": segment, "steps": steps, "seconds": round(seconds, 3)})
    return ends


def choose(ends: Mapping[str, Sequence[SegmentEnd]]) -> dict[str, SegmentEnd]:
    """Each arm's last segment end at the time when the first arm finished.

    An arm that had finished no segment by then is taken at the end of its first, which
    is in its favour.
    """
    finished = min(own[-1]["seconds"] for own in ends.values())
    return {
        arm: ([end for end in own if end["seconds"] <= finished] or [own[0]])[-1]
        for arm, own in ends.items()
    }
