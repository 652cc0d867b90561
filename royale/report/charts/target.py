"""The break-even plane: what a change costs in speed against what it saves in steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from royale.report.charts.axes import x_axis, y_axis
from royale.report.svg import Drawing, Scale

TICKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)


def break_even(targets: Sequence[Mapping[str, Any]], width: int) -> Drawing:
    """The plane of b (speed ratio) and a (steps ratio) with its diagonal a = b, logarithmic.

    targets: target files. A pair that reached the target in both arms is a point with the
    bars of its intervals; a bar that has no end runs to the frame. Where a is not measured,
    what is known of it is a dotted bar.
    """
    known = [
        value
        for target in targets
        for ratio in (target["a"], target["b"])
        for value in (ratio["value"], ratio["low"], ratio["high"])
        if value
    ]
    reach = max([2.0, *(max(value, 1 / value) for value in known if 1 / 16 <= value <= 16)]) * 1.15
    left, top, side = 46, 40, width - 46 - 14
    height = min(side, 420)
    right, bottom = left + side, top + height
    drawing = Drawing(width, bottom + 64, _says(targets))
    x = Scale(1 / reach, reach, left, right, log=True)
    y = Scale(1 / reach, reach, bottom, top, log=True)
    drawing.add("polygon", points=f"{left},{bottom} {right},{bottom} {right},{top}", css="zone")
    ticks = [tick for tick in TICKS if 1 / reach <= tick <= reach]
    form = "{:.3g}".format
    x_axis(drawing, x, ticks, top, bottom, "b = R treatment / R control, ratio of speeds", form)
    y_axis(drawing, y, ticks, left, right, "a = N treatment / N control, ratio of steps", form)
    drawing.line(left, bottom, right, top, "gate")
    drawing.text(right - 8, bottom - 10, "treatment sooner (a < b)", "note", "end")
    drawing.text(left + 8, top + 18, "control sooner (a > b)", "note")
    drawing.text(x(1.0) + 8, y(1.0) + 18, "a = b", "gate")
    for k, target in enumerate(targets):
        _pair(drawing, target, x, y, k)
    return drawing


def _pair(drawing: Drawing, target: Mapping[str, Any], x: Scale, y: Scale, place: int) -> None:
    """A generation's pair of ratios with what is known of them."""
    a, b = target["a"], target["b"]
    at = x(b["value"])
    b_low, b_high = x(b["low"] or 0), x(b["high"] or math.inf)
    loose = "" if a["low"] and a["high"] else " open"
    drawing.line(at, y(a["low"] or 0), at, y(a["high"] or math.inf), f"direct{loose}")
    if a["value"] is not None:
        loose = "" if b["low"] and b["high"] else " open"
        drawing.line(b_low, y(a["value"]), b_high, y(a["value"]), f"direct{loose}")
        drawing.mark("circle", at, y(a["value"]), "direct")
        drawing.text(at + 8, y(a["value"]) - 8, target["generation"], "strong")
    else:
        # staggered, so that neighbours can be read; b's own interval beside the name
        lane = y(1.0) - 24 - 20 * place
        drawing.line(b_low, lane, b_high, lane, "control")
        drawing.text(at + 5, lane - 5, target["generation"], "note")


def _says(targets: Sequence[Mapping[str, Any]]) -> str:
    def number(value: float | None) -> str:
        return "not measured" if value is None else f"{value:.3g}"

    found = "; ".join(
        f"{t['generation']} b {number(t['b']['value'])}, a {number(t['a']['value'])}"
        for t in targets
    )
    return f"Break-even plane, treatment sooner below the diagonal a = b: {found or 'none yet'}."
