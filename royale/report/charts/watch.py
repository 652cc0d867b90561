"""The close-out watch along a ladder: stronger at home, worse at closing?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from royale.report.charts.axes import LINE, Key, legend, legend_rows, steps, y_axis
from royale.report.svg import Drawing, Scale, stack

LEFT, RIGHT, HEIGHT = 46, 10, 160


@dataclass(frozen=True)
class Panel:
    """A column of the watch as a chart of its own."""

    column: str
    title: str
    share: bool  # of games: the axis is 0 to 100 %
    reading: str  # what a narrowing network does here


def watch_panels(table: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """The charts that a watch table has: draws, wins, length, and what the player held at the end.

    table: the rows of results/watch/{generation}.csv.
    """
    panels = [
        Panel("draw_share", "draws, share of games", True, "Rising: it holds but does not close."),
        Panel(
            "win_share",
            "wins, share of games",
            True,
            "Falling: weaker against players that never change.",
        ),
        Panel("turns_mean", "game length, turns", False, "Rising: games take longer to finish."),
    ]
    own = next((column for column in table[0] if column.startswith("own_")), None)
    if own:
        name = own.removeprefix("own_")
        reading = f"Falling: it uses fewer {name}."
        panels.append(Panel(own, f"{name} held at the end, mean", False, reading))
    return panels


def watch_curves(table: Sequence[Mapping[str, Any]], width: int) -> Drawing:
    """All panels of a watch table below each other."""
    return stack([watch_curve(table, panel, width) for panel in watch_panels(table)])


def watch_curve(table: Sequence[Mapping[str, Any]], panel: Panel, width: int) -> Drawing:
    """A column of the watch along the ladder's segments: versus the first rival, and the mean
    over the others. The line is the promoted arms' first seed; a ring is every other network.
    """
    # The alarm looks at the first rival, so it has a curve of its own. A curve for each of the
    # others would be greys that cannot be told apart on a phone; the table has them all.
    rivals = list(dict.fromkeys(row["rival"] for row in table))
    series = {"direct": (rivals[:1], Key("circle", "direct", f"vs {rivals[0]}"))}
    if len(rivals) > 1:
        others = f"mean of the {len(rivals) - 1} other scripted players"
        series["treatment"] = (rivals[1:], Key("square", "treatment", others))
    first = min(row["seed"] for row in table)
    # (position, arm, seed, whether on the line) -> rival -> value
    networks: dict[tuple, dict[str, float]] = {}
    for row in table:
        who = row["position"], row["arm"], row["seed"], row["promoted"] and row["seed"] == first
        networks.setdefault(who, {})[row["rival"]] = row[panel.column]
    means = {
        css: [fmean(found[rival] for rival in own) for found in networks.values()]
        for css, (own, _) in series.items()
    }
    names = {row["position"]: f"{row['generation']}.{row['segment']}" for row in table}
    rows = legend_rows([key for _, key in series.values()], width)
    top = 44 + LINE * len(rows)
    bottom = top + HEIGHT
    drawing = Drawing(
        width, bottom + 44, f"{panel.title}, from {names[min(names)]} to {names[max(names)]}."
    )
    y = _y_axis(drawing, panel, max(map(max, means.values())), top, bottom)
    x = _x_axis(drawing, names, bottom)
    legend(drawing, rows)
    for k, (css, (_, key)) in enumerate(series.items()):
        line = []
        for (place, _, _, main), value in zip(networks, means[css], strict=True):
            if main:
                line.append((x(place), y(value)))
            else:
                drawing.mark("ring", x(place) + 3 * k, y(value), css, 4)
        drawing.polyline(line, css)
        for point in line:
            drawing.mark(key.shape, *point, css, 4)
    return drawing


def _y_axis(drawing: Drawing, panel: Panel, greatest: float, top: float, bottom: float) -> Scale:
    most = 1.0 if panel.share else greatest * 1.08 or 1.0
    scale = Scale(0, most, bottom, top)
    step = 0.25 if panel.share else next(s for s in steps() if most / s <= 5)
    ticks = [step * k for k in range(int(most / step + 1e-9) + 1)]
    form = ("{:.0%}" if panel.share else "{:g}").format
    y_axis(drawing, scale, ticks, LEFT, drawing.width - RIGHT, panel.title, form)
    return scale


def _x_axis(drawing: Drawing, names: Mapping[int, str], bottom: float) -> Scale:
    """The segments in their order, as many named as there is room for."""
    scale = Scale(-0.4, max(names) + 0.4, LEFT, drawing.width - RIGHT)
    every = max(1, math.ceil(len(names) * 44 / (drawing.width - 60)))
    for place, name in list(names.items())[::every]:
        drawing.text(scale(place), bottom + 16, name, "tick", "middle")
    middle = drawing.width / 2
    drawing.text(middle, bottom + 36, "generation.segment of the ladder", "axis", "middle")
    return scale
