"""Small pieces of an SVG drawing. Text stays text; colours are classes of chart.css."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

CSS = Path(__file__).with_name("chart.css")
# mean width of a character as a share of the font's size: enough to wrap a line
CHARACTER = 0.56


class Drawing:
    """An SVG of a width and height in CSS pixels, with a text for those who cannot see it."""

    def __init__(self, width: float, height: float, says: str) -> None:
        self.width, self.height = width, height
        self.root = ElementTree.Element(
            "svg",
            {
                "viewBox": f"0 0 {width:g} {height:g}",
                "width": f"{width:g}",
                "height": f"{height:g}",
                "role": "img",
                "aria-label": says,
                "class": "chart",
            },
        )

    def add(
        self, tag: str, text: str | None = None, /, **attributes: object
    ) -> ElementTree.Element:
        """Add an element; `css` is its class, `_` in names is `-`, numbers keep two decimals."""
        named = {
            "class" if key == "css" else key.replace("_", "-"): f"{round(value, 2):g}"
            if isinstance(value, int | float)
            else str(value)
            for key, value in attributes.items()
        }
        element = ElementTree.SubElement(self.root, tag, named)
        element.text = text
        return element

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """A straight line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, css=css)

    def text(self, x: float, y: float, text: str, css: str = "", anchor: str = "start") -> None:
        """A line of text with its baseline at y; `anchor` is start, middle or end."""
        self.add("text", text, x=x, y=y, css=css, text_anchor=anchor)

    def mark(self, shape: str, x: float, y: float, css: str, size: float = 5) -> None:
        """A point: `diamond`, `circle`, `square` or `ring` (a hollow circle)."""
        if shape in ("circle", "ring"):
            self.add("circle", cx=x, cy=y, r=size * 0.8, css=f"{shape} {css}")
        elif shape == "square":
            half = size * 0.75
            self.add("rect", x=x - half, y=y - half, width=2 * half, height=2 * half, css=css)
        else:
            s = size * 1.25
            points = (
                f"{x:.2f},{y - s:.2f} {x + s:.2f},{y:.2f} {x:.2f},{y + s:.2f} {x - s:.2f},{y:.2f}"
            )
            self.add("polygon", points=points, css=css)

    def inline(self) -> str:
        """For a page that has chart.css."""
        return ElementTree.tostring(self.root, "unicode")

    def standalone(self) -> str:
        """As a file of its own."""
        root = ElementTree.fromstring(self.inline())
        root.set("xmlns", "http://www.w3.org/2000/svg")
        style = ElementTree.Element("style")
        style.text = CSS.read_text(encoding="utf-8")
        root.insert(0, style)
        return ElementTree.tostring(root, "unicode") + "\n"


@dataclass(frozen=True)
class Scale:
    """From values low..high to pixels start..end, linear or logarithmic; clipped to the ends."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (
            (math.log(self.low), math.log(self.high), math.log(value) if value > 0 else -math.inf)
            if self.log
            else (self.low, self.high, value)
        )
        share = (min(max(value, low), high) - low) / (high - low)
        return self.start + share * (self.end - self.start)


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


def wrap(text: str, width: float, size: float) -> list[str]:
    """The text on lines that fit a width in pixels at a font size."""
    most, lines = max(int(width / (size * CHARACTER)), 1), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= most or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
