"""Training whole segments, and ending them on the way."""

from __future__ import annotations

import json

from royale.learn import checkpoint
from royale.learn.segment import run_segment


def train(plan, folder, report=None, say=lambda line: None):
    """Train a segment into a folder; its checkpoint's arrays and metadata."""
    run_segment(plan, folder, folder / "partial", report, say)
    return checkpoint.load(folder / "checkpoint.safetensors")


def rows(folder):
    """Its rows of metrics."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


class Killed(BaseException):
    """Raised from `report` to end a segment anywhere."""


def killer(after: int):
    """A `report` that ends the segment after that iteration."""

    def report(row, total):
        if row["iteration"] == after:
            raise Killed

    return report
