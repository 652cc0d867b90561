"""The four charts of the report. Each is drawn for a width, so that a phone gets legible text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from royale.evidence.exact import resolves
from royale.report.svg import Drawing, Scale, wrap, x_axis, y_axis

LANE, LINE = 17, 18


def margins(lineage: Sequence[Mapping[str, Any]], bar: float, width: int) -> Drawing:
    """The three margins of each generation: a diamond for the direct match, bars for the sanity."""
    entries = [entry for entry in lineage if entry["direct"]]
    titles = [
        wrap(f"{entry['generation']}  {entry['question']}", width - 16, 13.5) for entry in entries
    ]
    legend = _legend_rows(width)
    top = 22 + LINE * len(legend)
    heights = [LINE * len(lines) + 3 * LANE + 22 for lines in titles]
    bottom = top + sum(heights)
    axis = "margin (W - L) / sqrt(W + L), in standard deviations"
    drawing = Drawing(
        width, bottom + 42 + 15 * len(wrap(axis, width - 8, 12)), _margins_text(entries, bar)
    )
    values = [value for entry in entries for value in _three(entry).values()] or [0.0]
    low, high = min(-3.0, min(values) - 2.2), max(3.0, max(values) + 2.2)
    scale = Scale(low, high, 12, width - 12)
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100) if (high - low) / s <= width / 55)
    ticks = [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    x_axis(drawing, scale, ticks, top, bottom, axis)
    drawing.line(scale(0), top, scale(0), bottom, "zero")
    for value in (bar, -bar):
        drawing.line(scale(value), top, scale(value), bottom, "gate")
    drawing.text(scale(bar), top - 6, f"gate {bar:g}", "gate", "middle")
    _legend(drawing, legend)
    y = top
    for entry, lines, height in zip(entries, titles, heights, strict=True):
        for k, words in enumerate(lines):
            drawing.text(4, y + LINE * (k + 1), words, "strong")
        y0 = y + LINE * len(lines) + 16
        three = _three(entry)
        at = three["direct"]
        drawing.line(scale(at - 1.96), y0, scale(at + 1.96), y0, "direct")
        drawing.mark("diamond", scale(at), y0, "direct")
        for k, arm in enumerate(("treatment", "control"), 1):
            left, right = sorted((scale(0), scale(three[arm])))
            lane = y0 + LANE * k
            drawing.add("rect", x=left, y=lane - 4, width=max(right - left, 1.5), height=8, css=arm)
        y += height
    return drawing


def _three(entry: Mapping[str, Any]) -> dict[str, float]:
    parents = {
        arm: next(iter(rivals.values()))["margin"] for arm, rivals in entry["sanity"].items()
    }
    return {"direct": entry["direct"]["margin"], **parents}


def _margins_text(entries: Sequence[Mapping[str, Any]], bar: float) -> str:
    found = "; ".join(
        f"{entry['generation']} {entry['direct']['margin']:+.2f}, {entry['effect']['evidence']}"
        for entry in entries
    )
    return f"Margins of the direct matches beside the gate at {bar:g}: {found or 'none yet'}."


LEGEND = (
    ("diamond", "direct", "treatment vs control, 95% interval"),
    ("bar", "treatment", "treatment vs parent (sanity)"),
    ("bar", "control", "control vs parent (sanity)"),
)


def _legend_rows(width: int) -> list[list[tuple[str, str, str]]]:
    rows: list[list] = [[]]
    used = 0.0
    for item in LEGEND:
        wide = 34 + len(item[2]) * 7.2
        if rows[-1] and used + wide > width:
            rows.append([])
            used = 0.0
        rows[-1].append(item)
        used += wide
    return rows


def _legend(drawing: Drawing, rows: Sequence[Sequence[tuple[str, str, str]]]) -> None:
    for row, items in enumerate(rows):
        x, y = 4.0, 12 + LINE * row
        for shape, css, words in items:
            if shape == "diamond":
                drawing.line(x, y - 4, x + 22, y - 4, css)
                drawing.mark(shape, x + 11, y - 4, css)
            else:
                drawing.add("rect", x=x, y=y - 8, width=22, height=8, css=css)
            drawing.text(x + 28, y, words, "note")
            x += 34 + len(words) * 7.2


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
    drawing = Drawing(width, top + height + 64, _plane_text(targets))
    x = Scale(1 / reach, reach, left, left + side, log=True)
    y = Scale(1 / reach, reach, top + height, top, log=True)
    corners = f"{left},{top + height} {left + side},{top + height} {left + side},{top}"
    drawing.add("polygon", points=corners, css="zone")
    ticks = [t for t in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16) if 1 / reach <= t <= reach]
    form = "{:.3g}".format
    x_axis(
        drawing,
        x,
        ticks,
        top,
        top + height,
        "b = R treatment / R control, ratio of speeds",
        form,
    )
    y_axis(
        drawing,
        y,
        ticks,
        left,
        left + side,
        "a = N treatment / N control, ratio of steps",
        form,
    )
    drawing.line(left, top + height, left + side, top, "gate")
    drawing.text(left + side - 8, top + height - 10, "treatment sooner (a < b)", "note", "end")
    drawing.text(left + 8, top + 18, "control sooner (a > b)", "note")
    drawing.text(x(1.0) + 8, y(1.0) + 18, "a = b", "gate")
    for k, target in enumerate(targets):
        a, b = target["a"], target["b"]
        at = x(b["value"])
        measured = a["value"] is not None
        a_low, a_high = y(a["low"] or 0), y(a["high"] or math.inf)
        loose = "" if a["low"] and a["high"] else " open"
        drawing.line(at, a_low, at, a_high, f"direct{loose}")
        if measured:
            b_open = "" if b["low"] and b["high"] else " open"
            b_ends = x(b["low"] or 0), x(b["high"] or math.inf)
            drawing.line(b_ends[0], y(a["value"]), b_ends[1], y(a["value"]), f"direct{b_open}")
            drawing.mark("circle", at, y(a["value"]), "direct")
            drawing.text(at + 8, y(a["value"]) - 8, target["generation"], "strong")
        else:
            # staggered, so that neighbours can be read; b's own interval beside the name
            lane = y(1.0) - 24 - 20 * k
            drawing.line(x(b["low"] or 0), lane, x(b["high"] or math.inf), lane, "control")
            drawing.text(at + 5, lane - 5, target["generation"], "note")
    return drawing


def _plane_text(targets: Sequence[Mapping[str, Any]]) -> str:
    def number(value: float | None) -> str:
        return "not measured" if value is None else f"{value:.3g}"

    found = "; ".join(
        f"{t['generation']} b {number(t['b']['value'])}, a {number(t['a']['value'])}"
        for t in targets
    )
    return f"Break-even plane, treatment sooner below the diagonal a = b: {found or 'none yet'}."


def watch_curve(
    table: Sequence[Mapping[str, Any]], key: str, title: str, share: bool, width: int
) -> Drawing:
    """A column of the watch along the ladder's segments: versus the first rival, and the mean
    over the others. The line is the promoted arms' first seed; a ring is every other network.
    """
    rivals = list(dict.fromkeys(row["rival"] for row in table))
    names = {row["position"]: f"{row['generation']}.{row['segment']}" for row in table}
    first = min(row["seed"] for row in table)
    series = {"direct": (rivals[:1], f"vs {rivals[0]}")}
    if len(rivals) > 1:
        series["treatment"] = (rivals[1:], f"mean of the {len(rivals) - 1} other scripted players")
    networks: dict[tuple, dict[str, float]] = {}
    for row in table:
        who = row["position"], row["arm"], row["seed"], row["promoted"] and row["seed"] == first
        networks.setdefault(who, {})[row["rival"]] = row[key]
    left, top, bottom = 46, 62, 222
    drawing = Drawing(
        width, bottom + 44, f"{title}, from {names[min(names)]} to {names[max(names)]}."
    )
    means = {
        css: [sum(v[rival] for rival in who) / len(who) for v in networks.values()]
        for css, (who, _) in series.items()
    }
    most = 1.0 if share else max(map(max, means.values())) * 1.08 or 1.0
    y = Scale(0, most, bottom, top)
    x = Scale(-0.4, max(names) + 0.4, left, width - 10)
    step = 0.25 if share else next(s for s in _steps() if most / s <= 5)
    ticks = [step * k for k in range(int(most / step + 1e-9) + 1)]
    y_axis(drawing, y, ticks, left, width - 10, title, "{:.0%}".format if share else "{:g}".format)
    every = max(1, math.ceil(len(names) * 44 / (width - 60)))
    for place, name in list(names.items())[::every]:
        drawing.text(x(place), bottom + 16, name, "tick", "middle")
    drawing.text(width / 2, bottom + 36, "generation.segment of the ladder", "axis", "middle")
    legend = 4.0
    for k, (css, (_, words)) in enumerate(series.items()):
        shape = "circle" if css == "direct" else "square"
        drawing.mark(shape, legend + 6, 16 - 4, css, 4)
        drawing.text(legend + 16, 16, words, "note")
        legend += 30 + 7 * len(words)
        line = []
        for (place, _, _, main), value in zip(networks, means[css], strict=True):
            if main:
                line.append((x(place), y(value)))
            else:
                drawing.mark("ring", x(place) + 3 * k, y(value), css, 4)
        drawing.add(
            "polyline", points=" ".join(f"{a:.2f},{b:.2f}" for a, b in line), css=f"ring {css}"
        )
        for a, b in line:
            drawing.mark(shape, a, b, css, 4)
    return drawing


def _steps():
    """1, 2, 5, 10, 20, 50, ... from small to great."""
    for power in range(-3, 9):
        yield from (mantissa * 10.0**power for mantissa in (1, 2, 5))


def ratings(panel: Mapping[str, Any], width: int) -> Drawing:
    """Elo of every player of the panel with its interval; champions are the blue diamonds."""
    rows = panel["ratings"]
    top, bottom = 8, 8 + 38 * len(rows)
    drawing = Drawing(width, bottom + 44, f"Elo of the panel, the strongest {rows[0]['name']}.")
    low = min(0.0, *(row["elo_low"] for row in rows))
    high = max(0.0, *(row["elo_high"] for row in rows))
    step = next(s for s in _steps() if (high - low or 1.0) / s <= width / 80)
    scale = Scale(low - step / 4, high + step / 4, 16, width - 16)
    ticks = [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    axis = f"Elo over {panel['anchor']}, with 95% interval"
    x_axis(drawing, scale, ticks, top, bottom, axis, "{:+g}".format)
    for k, row in enumerate(rows):
        y = top + 38 * k + 28
        champion = row["name"] in panel["champions"]
        css, shape = ("direct", "diamond") if champion else ("control", "square")
        drawing.text(
            4, y - 11, ", ".join([row["name"], *row["also"]]), "strong" if champion else ""
        )
        drawing.line(scale(row["elo_low"]), y, scale(row["elo_high"]), y, css)
        drawing.mark(shape, scale(row["elo"]), y, css, 4)
    return drawing


def power(bar: float, decisive: Mapping[str, int], width: int) -> Drawing:
    """What share of the decisive games a player must win for its match to clear the gate.

    decisive: generation -> decisive games of its direct match, marked on the curve.
    """
    left, top, bottom = 46, 62, 262
    drawing = Drawing(
        width, bottom + 64, f"Share of decisive games that a match can show at the gate {bar:g}."
    )
    sizes = [16, 64, 256, 1024, 4096, 16384]
    x = Scale(16, 16384, left, width - 26, log=True)
    y = Scale(0.5, 1.0, bottom, top)
    x_axis(drawing, x, sizes, top, bottom, "decisive games (W + L) of a match", "{:,.0f}".format)
    y_axis(
        drawing,
        y,
        [0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        left,
        width - 26,
        "share of decisive games won",
        "{:.0%}".format,
    )
    grid = [round(16 * 2 ** (k / 2)) for k in range(21)]
    legend = 4.0
    for css, chance in (("direct", 0.8), ("control", 0.5)):
        points = [(x(n), y(resolves(n, bar, chance) or 1.0)) for n in grid]
        drawing.add(
            "polyline", points=" ".join(f"{a:.2f},{b:.2f}" for a, b in points), css=f"ring {css}"
        )
        words = f"shown {chance:.0%} of the time"
        drawing.line(legend, 12, legend + 18, 12, css)
        drawing.text(legend + 24, 16, words, "note")
        legend += 36 + 7 * len(words)
    groups: list[list[tuple[str, int]]] = []
    for name, n in sorted(decisive.items(), key=lambda item: item[1]):
        drawing.mark("diamond", x(n), y(resolves(n, bar) or 1.0), "direct", 3.5)
        if groups and x(n) - x(groups[-1][-1][1]) < 90:
            groups[-1].append((name, n))
        else:
            groups.append([(name, n)])
    for group in groups:
        names = sorted(name for name, _ in group)
        words = ", ".join(names) if len(names) < 5 else f"{names[0]} to {names[-1]}"
        n = group[-1][1]
        drawing.text(x(n) + 7, y(resolves(n, bar) or 1.0) - 8, words, "note")
    return drawing
