"""A position of a battle as a small SVG picture, which needs nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

SIDES = ("Blue", "Red")
COLOURS = ("#1a66a8", "#b8341f")
TILE = 12  # of the drawing
CAPTION = 30
RIVER = (15, 17)  # rows between the halves, and the columns of the bridges
BRIDGES = ((2.5, 4.5), (13.5, 15.5))


def initials(name: str) -> str:
    """Two letters for a name such as MegaMinion or Archer."""
    capitals = re.findall(r"[A-Z]", name)
    return "".join(capitals[:2]) if len(capitals) > 1 else name[:2]


def clock(tick: int, tick_ms: int) -> str:
    """Minutes and seconds of play."""
    seconds = tick * tick_ms // 1000
    return f"{seconds // 60}:{seconds % 60:02d}"


def draw(shown: Mapping[str, Any], names: Sequence[str], at: int = -1) -> str:
    """The position after decision `at` of what `ClashReplays.shown` tells, Blue below."""
    (columns, rows), frame = shown["size"], shown["frames"][at]
    width, height = columns * TILE, rows * TILE

    def place(x: float, y: float) -> tuple[float, float]:  # from tenths of a tile
        return round(x * TILE / 10, 1), round(height - y * TILE / 10, 1)

    top, bottom = (rows - row for row in reversed(RIVER))
    parts = [
        f'<rect width="{width}" height="{height}" fill="#dfe5d3"/>',
        f'<rect y="{top * TILE}" width="{width}" height="{(bottom - top) * TILE}" fill="#8fb8d0"/>',
        *(
            f'<rect x="{a * TILE}" y="{top * TILE}" width="{(b - a) * TILE}" '
            f'height="{(bottom - top) * TILE}" fill="#c9b58f"/>'
            for a, b in BRIDGES
        ),
    ]
    for side, card, moving, x, y, *aim in frame["spells"]:
        cx, cy = place(*(aim if moving else (x, y)))
        radius = shown["cards"].get(str(card), ("", 0, 10))[2] * TILE / 10
        parts.append(
            f'<circle cx="{cx}" cy="{cy}" r="{radius:g}" fill="{COLOURS[side]}33" '
            f'stroke="{COLOURS[side]}"/>'
        )
    flat = frame["units"]
    for thing, x, y, hp, _ in zip(*(flat[k::5] for k in range(5)), strict=True):
        side, kind, name, most, radius, _ = shown["things"][thing]
        cx, cy = place(x, y)
        r = max(radius, 5) * TILE / 10
        share = max(0.0, min(1.0, hp / most)) if most > 0 else 1.0
        parts.append(
            f'<rect x="{cx - r:.1f}" y="{cy - r:.1f}" width="{2 * r:g}" height="{2 * r:g}" rx="2" '
            f'fill="{COLOURS[side]}"/>'
            if kind
            else f'<circle cx="{cx}" cy="{cy}" r="{r:g}" fill="{COLOURS[side]}"/>'
        )
        parts.append(
            f'<rect x="{cx - r:.1f}" y="{cy - r - 3:.1f}" width="{2 * r * share:.1f}" height="2" '
            'fill="#222"/>'
        )
        label = str(hp) if kind > 1 else initials(name)
        parts.append(f'<text x="{cx}" y="{cy + 2.5:.1f}" fill="#fff">{html.escape(label)}</text>')
    for side, card, x, y in frame["pending"]:
        cx, cy = place(x, y)
        label = initials(shown["cards"].get(str(card), ("?",))[0])
        parts.append(
            f'<circle cx="{cx}" cy="{cy}" r="{TILE / 2:g}" fill="none" stroke="{COLOURS[side]}" '
            f'stroke-dasharray="3 2"/><text x="{cx}" y="{cy + 2.5:.1f}">{html.escape(label)}</text>'
        )
    crowns = [side[1] for side in frame["sides"]]
    lines = (
        f"{SIDES[1]}: {names[1]}",
        f"{SIDES[0]}: {names[0]}",
        f"crowns {crowns[0]}-{crowns[1]}, {clock(frame['tick'], shown['tick_ms'])}",
    )
    title = html.escape("; ".join(lines))
    texts = [
        f'<text class="side" x="2" y="-18" fill="{COLOURS[1]}">{html.escape(lines[0])}</text>',
        f'<text class="side" x="2" y="{height + 12}" fill="{COLOURS[0]}">'
        f"{html.escape(lines[1])}</text>",
        f'<text class="side" x="2" y="-5" fill="#222">{html.escape(lines[2])}</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-CAPTION} {width} '
        f'{height + CAPTION + 18}" width="{width}" height="{height + CAPTION + 18}" role="img">'
        f"<title>{title}</title><style>text{{font:7px sans-serif;text-anchor:middle}}"
        ".side{font-size:10px;text-anchor:start}</style>"
        f'<rect y="{-CAPTION}" width="{width}" height="{height + CAPTION + 18}" fill="#fff"/>'
        + "".join(parts + texts)
        + "</svg>\n"
    )
