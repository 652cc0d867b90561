"""The statistic of a match and what may be said of it. Counts in, numbers out.

Under the hypothesis that two players are equal, each decisive game is a fair
coin, so W - L has standard deviation sqrt(W + L) and

    margin = (W - L) / sqrt(W + L)

is close to a standard normal for more than a few dozen decisive games. Draws
carry no sign and are left out. The gate `margin >= 1.65` is thus a one-sided
test at about 5 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from royale.evidence.ladder_records import GateLabel, GateRecord
from royale.evidence.records import Counts

LABELS: tuple[GateLabel, ...] = get_args(GateLabel)


@dataclass(frozen=True)
class Record:
    """Games won, lost and drawn, from the first player's view."""

    win: int
    loss: int
    draw: int

    @property
    def decisive(self) -> int:
        """Games with a winner."""
        return self.win + self.loss

    @property
    def games(self) -> int:
        """All games."""
        return self.win + self.loss + self.draw

    @property
    def reversed(self) -> Record:
        """The same games from the second player's view."""
        return Record(self.loss, self.win, self.draw)

    def __add__(self, other: Record) -> Record:
        return Record(self.win + other.win, self.loss + other.loss, self.draw + other.draw)

    def __str__(self) -> str:
        return f"{self.win}-{self.loss}-{self.draw}"


def record_of(counts: Counts) -> Record:
    """The counts of a match file, or of anything else that has them."""
    return Record(counts["win"], counts["loss"], counts["draw"])


def record_text(counts: Counts) -> str:
    """The counts as W-L-D."""
    return str(record_of(counts))


def margin(record: Record) -> float:
    """(W - L) / sqrt(W + L) in standard deviations; 0 without a decisive game."""
    if not record.decisive:
        return 0.0
    return (record.win - record.loss) / math.sqrt(record.decisive)


def clears(record: Record, bar: float) -> bool:
    """The gate, W - L >= bar * sqrt(W + L); False without a decisive game."""
    return bool(record.decisive) and record.win - record.loss >= bar * math.sqrt(record.decisive)


def label(record: Record, bar: float, strong: float) -> GateLabel:
    """How strong the evidence is that the first player is the stronger one.

    strong: margin >= strong; moderate: bar <= margin < strong; tie: |margin| < bar;
    rejected: margin <= -bar.
    """
    if clears(record, bar):
        return "strong" if margin(record) >= strong else "moderate"
    return "rejected" if clears(record.reversed, bar) else "tie"


def summary(record: Record, bar: float) -> GateRecord:
    """The record with its margin and whether it clears the bar, as it is written to files."""
    return {
        "win": record.win,
        "loss": record.loss,
        "draw": record.draw,
        "margin": round(margin(record), 4),
        "bar": bar,
        "clears": clears(record, bar),
    }
