"""The ratings of the permanent panel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from royale.report.charts.axes import LINE, Key, legend, legend_rows, steps, x_axis
from royale.report.svg import Drawing, Scale, wrap

LANE = 20
KEYS = (
    Key("interval", "direct", "champion of the lineage"),
    Key("square", "control", "player that never changes"),
)


def ratings(panel: Mapping[str, Any], width: int) -> Drawing:
    """Elo of every player of the panel with its interval, the strongest on top.

    panel: a panel file. Its `champions` tell who is one of the lineage, whatever a player is
    called: a network that the configuration added is none, though it has a champion's name.
    """
    players = panel["ratings"]
    rows = legend_rows(KEYS, width)
    names = [
        wrap(", ".join([row["name"], *row["also"]]), width - 8, 13, bold=True) for row in players
    ]
    top = 4 + LINE * len(rows)
    bottom = top + sum(LINE * len(lines) + LANE for lines in names)
    drawing = Drawing(width, bottom + 44, f"Elo of the panel, the strongest {players[0]['name']}.")
    scale = _x_axis(drawing, panel, top, bottom)
    legend(drawing, rows)
    y = top
    for row, lines in zip(players, names, strict=True):
        champion = not {row["name"], *row["also"]}.isdisjoint(panel["champions"])
        css, shape = ("direct", "diamond") if champion else ("control", "square")
        for line in lines:
            y += LINE
            drawing.text(4, y - 1, line, "strong" if champion else "")
        y += LANE
        drawing.line(scale(row["elo_low"]), y - 10, scale(row["elo_high"]), y - 10, css)
        drawing.mark(shape, scale(row["elo"]), y - 10, css, 4)
    return drawing


def _x_axis(drawing: Drawing, panel: Mapping[str, Any], top: float, bottom: float) -> Scale:
    width = drawing.width
    low = min(0.0, *(row["elo_low"] for row in panel["ratings"]))
    high = max(0.0, *(row["elo_high"] for row in panel["ratings"]))
    step = next(s for s in steps() if (high - low or 1.0) / s <= width / 80)
    scale = Scale(low - step / 4, high + step / 4, 16, width - 16)
    ticks = [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    title = f"Elo over {panel['anchor']}, with 95% interval"
    x_axis(drawing, scale, ticks, top, bottom, title, "{:+g}".format)
    drawing.line(scale(0), top, scale(0), bottom, "zero")
    return scale
