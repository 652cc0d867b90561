"""What a match of a size can show."""

from __future__ import annotations

from collections.abc import Mapping

from royale.evidence.exact import resolves
from royale.report.charts.axes import LINE, Key, legend, legend_rows, x_axis, y_axis
from royale.report.svg import Drawing, Scale

SIZES = (16, 64, 256, 1024, 4096, 16384)
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CHANCES = {"direct": 0.8, "control": 0.5}
LEFT, RIGHT, HEIGHT = 46, 26, 200


def resolving_power(bar: float, decisive: Mapping[str, int], width: int) -> Drawing:
    """What share of the decisive games a player must win for its match to clear the gate.

    decisive: generation -> decisive games of its direct match, marked on the curve.
    """
    keys = [Key("line", css, f"shown {chance:.0%} of the time") for css, chance in CHANCES.items()]
    rows = legend_rows(keys, width)
    top = 44 + LINE * len(rows)
    bottom = top + HEIGHT
    drawing = Drawing(
        width, bottom + 64, f"Share of decisive games that a match can show at the gate {bar:g}."
    )
    right = width - RIGHT
    x = Scale(SIZES[0], SIZES[-1], LEFT, right, log=True)
    y = Scale(0.5, 1.0, bottom, top)
    x_axis(drawing, x, SIZES, top, bottom, "decisive games (W + L) of a match", "{:,.0f}".format)
    y_axis(drawing, y, SHARES, LEFT, right, "share of decisive games won", "{:.0%}".format)
    legend(drawing, rows)
    grid = [round(SIZES[0] * 2 ** (k / 2)) for k in range(21)]
    for css, chance in CHANCES.items():
        drawing.polyline([(x(n), y(resolves(n, bar, chance) or 1.0)) for n in grid], css)
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
