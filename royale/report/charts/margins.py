"""The margins of a ladder: which change helped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from royale.evidence.names import ARMS
from royale.report import words
from royale.report.charts.axes import LINE, Key, legend, legend_rows, steps, x_axis
from royale.report.svg import Drawing, Scale, wrap

LANE = 17
NOTE = 15  # height of a line of small text
AXIS = "margin (W - L) / sqrt(W + L), in standard deviations"
KEYS = (
    Key("interval", "direct", "treatment vs control, 95% interval"),
    Key("bar", "treatment", "treatment vs parent (sanity)"),
    Key("bar", "control", "control vs parent (sanity)"),
)
SEQUENTIAL = "A sequential test stopped each match and decided it: there is no gate to clear."


def margins(ladder: Mapping[str, Any], width: int) -> Drawing:
    """The three margins of each generation: a diamond for the direct match, bars for the sanity.

    ladder: a ladder file, of which `lineage` and `gate` are read. The words below a question
    are its verdict and what was promoted. The gate is drawn where it decides: a match that a
    sequential test stopped was decided by that test, so there it would mislead.
    """
    entries = [entry for entry in ladder["lineage"] if entry["direct"]]
    gate = ladder["gate"]
    rows = legend_rows(KEYS, width)
    notes = wrap(SEQUENTIAL, width - 8, 12) if gate["mode"] == "sprt" else []
    top = 22 + LINE * len(rows) + NOTE * len(notes)
    heads = [_head(entry, width) for entry in entries]
    heights = [LINE * len(asked) + NOTE * len(found) + 3 * LANE + 22 for asked, found in heads]
    bottom = top + (sum(heights) or 2 * LINE)
    height = bottom + 42 + 15 * len(wrap(AXIS, width - 8, 12))
    drawing = Drawing(width, height, _says(entries, gate))
    scale = _scale(entries, width)
    x_axis(drawing, scale, _ticks(scale, width), top, bottom, AXIS)
    drawing.line(scale(0), top, scale(0), bottom, "zero")
    legend(drawing, rows)
    for k, line in enumerate(notes):
        drawing.text(4, LINE * len(rows) + 14 + NOTE * k, line, "gate")
    if gate["mode"] == "fixed":
        for value in (gate["bar"], -gate["bar"]):
            drawing.line(scale(value), top, scale(value), bottom, "gate")
        drawing.text(scale(gate["bar"]), top - 6, f"gate {gate['bar']:g}", "gate", "middle")
    if not entries:
        drawing.text(4, top + LINE, "No change has been tried yet.", "note")
    for entry, head, y in zip(entries, heads, _running(top, heights), strict=True):
        _row(drawing, entry, head, y, scale)
    return drawing


def _row(
    drawing: Drawing,
    entry: Mapping[str, Any],
    head: tuple[list[str], list[str]],
    y: float,
    scale: Scale,
) -> None:
    """A generation below y: its words, its diamond and its two bars."""
    asked, found = head
    for line in asked:
        y += LINE
        drawing.text(4, y, line, "strong")
    for line in found:
        y += NOTE
        drawing.text(4, y, line, "note")
    y += 16
    three = _three(entry)
    at = three["direct"]
    # the margin's own standard error is 1 when the players are equal
    drawing.line(scale(at - 1.96), y, scale(at + 1.96), y, "direct")
    drawing.mark("diamond", scale(at), y, "direct")
    for arm in ARMS:
        y += LANE
        left, right = sorted((scale(0), scale(three[arm])))
        drawing.add("rect", x=left, y=y - 4, width=max(right - left, 1.5), height=8, css=arm)


def _head(entry: Mapping[str, Any], width: int) -> tuple[list[str], list[str]]:
    """The question, and what was found and handed on, on lines that fit."""
    asked = f"{entry['generation']}  {entry['question']}"
    return wrap(asked, width - 8, 13, bold=True), wrap(_found(entry), width - 8, 12)


def _found(entry: Mapping[str, Any]) -> str:
    promoted = entry["promotion"]["promoted"]
    kept = "parent kept" if promoted == "parent" else f"{promoted} promoted"
    return f"{words.verdict(entry)}; {kept}"


def _three(entry: Mapping[str, Any]) -> dict[str, float]:
    """The margin of the direct match, and of each arm over its parent."""
    parents = {
        arm: next(iter(rivals.values()))["margin"] for arm, rivals in entry["sanity"].items()
    }
    return {"direct": entry["direct"]["margin"], **parents}


def _scale(entries: Sequence[Mapping[str, Any]], width: int) -> Scale:
    values = [value for entry in entries for value in _three(entry).values()] or [0.0]
    return Scale(min(-3.0, min(values) - 2.2), max(3.0, max(values) + 2.2), 12, width - 12)


def _ticks(scale: Scale, width: int) -> list[float]:
    low, high = scale.low, scale.high
    step = next(s for s in steps() if s >= 1 and (high - low) / s <= width / 55)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _running(start: float, heights: Sequence[float]) -> list[float]:
    return [start + sum(heights[:k]) for k in range(len(heights))]


def _says(entries: Sequence[Mapping[str, Any]], gate: Mapping[str, Any]) -> str:
    found = "; ".join(
        f"{entry['generation']} {entry['direct']['margin']:+.2f}, {_found(entry)}"
        for entry in entries
    )
    beside = f"beside the gate at {gate['bar']:g}"
    if gate["mode"] == "sprt":
        beside = "decided by a sequential test"
    return f"Margins of the direct matches {beside}: {found or 'none yet'}."
