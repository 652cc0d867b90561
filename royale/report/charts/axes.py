"""Axes and legends, as all charts have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from royale.report.svg import Drawing, Scale, wrap

LINE = 18  # height of a line of text


@dataclass(frozen=True)
class Key:
    """What a legend explains: a shape of `Drawing.mark`, `bar`, `line` or `interval`."""

    shape: str
    css: str
    words: str

    @property
    def width(self) -> float:
        """Pixels that it takes in a row."""
        return 42 + len(self.words) * 7.2


def legend_rows(keys: Sequence[Key], width: float) -> list[list[Key]]:
    """The keys in order, as many in a row as fit."""
    rows: list[list[Key]] = [[]]
    for key in keys:
        if rows[-1] and sum(k.width for k in rows[-1]) + key.width > width:
            rows.append([])
        rows[-1].append(key)
    return rows


def legend(drawing: Drawing, rows: Sequence[Sequence[Key]], top: float = 0) -> None:
    """Draw the rows of a legend below `top`, each `LINE` high."""
    for row, keys in enumerate(rows):
        x, y = 4.0, top + 12 + LINE * row
        for key in keys:
            if key.shape == "bar":
                drawing.add("rect", x=x, y=y - 8, width=22, height=8, css=key.css)
            elif key.shape in ("line", "interval"):
                drawing.line(x, y - 4, x + 22, y - 4, key.css)
            if key.shape not in ("bar", "line"):
                shape = "diamond" if key.shape == "interval" else key.shape
                drawing.mark(shape, x + 11, y - 4, key.css)
            drawing.text(x + 28, y, key.words, "note")
            x += key.width


def x_axis(
    drawing: Drawing,
    scale: Scale,
    ticks: Sequence[float],
    top: float,
    bottom: float,
    title: str,
    form: Callable[[float], str] = "{:g}".format,
) -> None:
    """Grid lines from top to bottom, tick labels, and the title on as many lines as it needs."""
    for tick in ticks:
        drawing.line(scale(tick), top, scale(tick), bottom, "grid")
        drawing.text(scale(tick), bottom + 16, form(tick), "tick", "middle")
    middle = (scale.start + scale.end) / 2
    for k, words in enumerate(wrap(title, drawing.width - 8, 12)):
        drawing.text(
            drawing.width / 2 if k else middle, bottom + 34 + 15 * k, words, "axis", "middle"
        )


def y_axis(
    drawing: Drawing,
    scale: Scale,
    ticks: Sequence[float],
    left: float,
    right: float,
    title: str,
    form: Callable[[float], str] = "{:g}".format,
) -> None:
    """Grid lines from left to right, tick labels, and the title above, where it can be read."""
    for tick in ticks:
        drawing.line(left, scale(tick), right, scale(tick), "grid")
        drawing.text(left - 6, scale(tick) + 4, form(tick), "tick", "end")
    drawing.text(4, min(scale.start, scale.end) - 14, title, "axis")


def steps() -> Iterator[float]:
    """Distances of ticks that are read easily: 1, 2, 5, 10, 20, 50, ... from small to great."""
    for power in range(-3, 9):
        yield from (mantissa * 10.0**power for mantissa in (1, 2, 5))
