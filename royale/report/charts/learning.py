"""Does the learner learn: a root against players that do not, as it trains."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from royale.report.charts.axes import LINE, Key, legend, legend_rows, y_axis
from royale.report.svg import Drawing, Scale, stack, wrap

LEFT, RIGHT, HEIGHT = 46, 24, 160
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# a rival each, in the order of the file
STYLES = (("circle", "direct"), ("square", "treatment"), ("diamond", "control"))


def learning_curves(record: Mapping[str, Any], width: int) -> Drawing:
    """Each root's decisive games won, with the bars, and what share of its games were decided.

    record: a learning bench file. Below each point stand agent steps and training seconds.
    """
    charts = []
    for ladder, found in record["ladders"].items():
        charts += [_won(ladder, found, width), _shares(ladder, found, width)]
    return stack(charts)


def _won(ladder: str, found: Mapping[str, Any], width: int) -> Drawing:
    """Of the decisive games; a rival's bar is the dotted line of its colour."""
    points, bars = found["curve"], found["bars"]
    styles, keys = _styles(points)
    told = "; ".join(
        f"{name} {'none' if bar['reached'] is None else format(bar['reached'], '.0%')}, "
        f"bar {bar['bar']:.0%}"
        for name, bar in bars.items()
    )
    says = f"Root of {ladder}, share of decisive games won at the end: {told}."
    title = "share of decisive games won"
    drawing, x, y = _frame(f"Root of {ladder}", title, keys, points, width, says)
    for name, (shape, css) in styles.items():
        bar = bars[name]["bar"]
        drawing.line(LEFT, y(bar), width - RIGHT, y(bar), f"{css} open")
        drawing.text(LEFT + 4, y(bar) + 14, f"bar {bar:.0%}", "note")
        # no share where no game was decided: the line has a gap
        for known, run in groupby(points, lambda p, n=name: _decisive(p, n) is not None):
            if known:
                line = [(x(p["agent_steps"]), y(_decisive(p, name))) for p in run]
                _draw(drawing, line, shape, css)
    return drawing


def _styles(points: Sequence[Mapping[str, Any]]) -> tuple[dict[str, tuple[str, str]], list[Key]]:
    """rival -> its mark and colour, and the legend of them."""
    styles = dict(zip(points[0]["rivals"], STYLES, strict=False))
    return styles, [Key(shape, css, f"against {name}") for name, (shape, css) in styles.items()]


def _decisive(point: Mapping[str, Any], rival: str) -> float | None:
    return point["rivals"][rival]["won_of_decisive"]


def _shares(ladder: str, found: Mapping[str, Any], width: int) -> Drawing:
    """Of all games: those that were decided, and those won."""
    points = found["curve"]
    styles, keys = _styles(points)
    keys += [Key("line", "zero", "won"), Key("line", "zero open", "decided")]
    says = f"Root of {ladder}, shares of all games that were won and that were decided."
    drawing, x, y = _frame("", "share of all games", keys, points, width, says)
    for name, (shape, css) in styles.items():
        own = [(x(p["agent_steps"]), p["rivals"][name]) for p in points]
        _draw(drawing, [(at, y(rival["win_share"])) for at, rival in own], shape, css)
        decided = [(at, y(rival["decided_share"])) for at, rival in own]
        drawing.polyline(decided, f"{css} open")
        for point in decided:
            drawing.mark("ring", *point, css, 4)
    return drawing


def _draw(drawing: Drawing, line: list[tuple[float, float]], shape: str, css: str) -> None:
    drawing.polyline(line, css)
    for point in line:
        drawing.mark(shape, *point, css, 4)


def _frame(
    heading: str,
    title: str,
    keys: Sequence[Key],
    points: Sequence[Mapping[str, Any]],
    width: int,
    says: str,
) -> tuple[Drawing, Scale, Scale]:
    """Heading, legend and both axes; with the scales of agent steps and of shares."""
    headings = wrap(heading, width - 8, 13, bold=True) if heading else []
    rows = legend_rows(keys, width)
    head = LINE * len(headings)
    top = head + 44 + LINE * len(rows)
    bottom = top + HEIGHT
    drawing = Drawing(width, bottom + 58, says)
    for k, line in enumerate(headings):
        drawing.text(4, 14 + LINE * k, line, "strong")
    legend(drawing, rows, head + 4)
    last = points[-1]["agent_steps"]
    x = Scale(0, last * 1.05, LEFT, width - RIGHT)
    y = Scale(0, 1, bottom, top)
    y_axis(drawing, y, SHARES, LEFT, width - RIGHT, title, "{:.0%}".format)
    every = math.ceil(len(points) * 64 / (width - LEFT - RIGHT))
    # counted from the end, whose share is the one that is judged
    for point in points[::-1][::every]:
        at = x(point["agent_steps"])
        drawing.line(at, top, at, bottom, "grid")
        drawing.text(at, bottom + 16, f"{point['agent_steps'] / 1e6:.3g}", "tick", "middle")
        drawing.text(at, bottom + 31, _seconds(point["seconds"]), "tick", "middle")
    axis = "agent steps, million, and training time"
    drawing.text((LEFT + width - RIGHT) / 2, bottom + 50, axis, "axis", "middle")
    return drawing, x, y


def _seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 10 else f"{value:.2g} s"
