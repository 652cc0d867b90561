"""Small pieces of an SVG drawing. Text stays text; colours are classes of chart.css."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

CSS = Path(__file__).with_name("chart.css")
# mean width of a character as a share of the font's size: enough to wrap a line
CHARACTER, BOLD = 0.56, 0.66
TITLE = 15  # size of a file's title


class Drawing:
    """An SVG of a width and height in CSS pixels, with a text for those who cannot see it."""

    def __init__(self, width: float, height: float, says: str) -> None:
        self.width, self.height, self.says = width, height, says
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
        element = _element(tag, text, **attributes)
        self.root.append(element)
        return element

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """A straight line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, css=css)

    def polyline(self, points: Iterable[tuple[float, float]], css: str) -> None:
        """A line through points (x, y); none, none."""
        if text := _points(points):
            self.add("polyline", points=text, css=f"ring {css}")

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
            corners = _points([(x, y - s), (x + s, y), (x, y + s), (x - s, y)])
            self.add("polygon", points=corners, css=css)

    def inline(self) -> str:
        """For a page that has chart.css."""
        return ElementTree.tostring(self.root, "unicode")

    def standalone(self, title: str) -> str:
        """As a file of its own: the same drawing under a title, on a ground that hides no ink."""
        root = ElementTree.fromstring(self.inline())
        lines = wrap(title, self.width - 8, TITLE, bold=True)
        # the title stands above the drawing, whose own places do not change
        head = 20 * len(lines) + 8
        height = self.height + head
        root.set("xmlns", "http://www.w3.org/2000/svg")
        root.set("viewBox", f"0 {-head} {self.width:g} {height:g}")
        root.set("height", f"{height:g}")
        root.set("aria-label", f"{title}. {self.says}")
        back = {"x": 0, "y": -head, "width": self.width, "height": height, "css": "back"}
        parts = [_element("style", _file_style()), _element("rect", None, **back)]
        for k, words in enumerate(lines):
            parts.append(_element("text", words, x=4, y=20 * (k + 1) - head, css="title"))
        root[:0] = parts
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


def stack(drawings: Sequence[Drawing], gap: float = 14) -> Drawing:
    """Drawings below each other as one, `gap` pixels apart, each as it is."""
    height = sum(one.height for one in drawings) + gap * (len(drawings) - 1)
    says = " ".join(one.says for one in drawings)
    whole, y = Drawing(max(one.width for one in drawings), height, says), 0.0
    for one in drawings:
        whole.add("g", transform=f"translate(0 {y:g})").extend(one.root)
        y += one.height + gap
    return whole


def wrap(text: str, width: float, size: float, bold: bool = False) -> list[str]:
    """The text on lines that fit a width in pixels at a font size."""
    most, lines = max(int(width / (size * (BOLD if bold else CHARACTER))), 1), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= most or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _element(tag: str, text: str | None = None, /, **attributes: object) -> ElementTree.Element:
    named = {
        "class" if key == "css" else key.replace("_", "-"): f"{round(value, 2):g}"
        if isinstance(value, int | float)
        else str(value)
        for key, value in attributes.items()
    }
    element = ElementTree.Element(tag, named)
    element.text = text
    return element


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _file_style() -> str:
    """chart.css with its colours written out: many viewers of SVG files know no variables."""
    css = CSS.read_text(encoding="utf-8")
    colours = re.findall(r"--(\w+): (#\w+);", css)
    light, dark = dict(colours[: len(colours) // 2]), dict(colours[len(colours) // 2 :])

    def painted(lines: Iterable[str], palette: dict[str, str]) -> str:
        return re.sub(r"var\(--(\w+)\)", lambda found: palette[found[1]], "\n".join(lines))

    rules = [line for line in css.splitlines() if line.startswith("svg.chart") and "}" in line]
    # all rules again, not those with a colour alone, so that the order still decides
    night = f"@media (prefers-color-scheme: dark) {{\n{painted(rules, dark)}\n}}"
    return f"{painted(rules, light)}\n{night}\n"
