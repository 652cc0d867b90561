"""The plot of a close-out watch: stronger at home, worse at closing?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

PANELS = {"win_share": "wins", "draw_share": "draws"}
LINE = "#1f5fa8"


def curves(table: Sequence[Mapping[str, Any]], path: str | Path, title: str) -> None:
    """Draw wins and draws, as shares, against each rival along the ladder's segments.

    table: as `watch.rows` makes it. The line is the first seed of the promoted arms; a
    hollow point is every other network. The first rival is blue, the others grey.
    """
    names = {row["position"]: f"{row['generation']}.{row['segment']}" for row in table}
    rivals = list(dict.fromkeys(row["rival"] for row in table))
    greys = [str(0.35 + 0.4 * k / max(len(rivals) - 1, 1)) for k in range(len(rivals))]
    colours = dict(zip(rivals, [LINE, *greys], strict=False))
    figure, panels = pyplot.subplots(
        2,
        1,
        sharex=True,
        figsize=(max(6.0, 2.5 + 0.6 * len(names)), 6),
        layout="constrained",
    )
    first = min(row["seed"] for row in table)
    for axes, (key, text) in zip(panels, PANELS.items(), strict=True):
        for rival in reversed(rivals):
            own = [row for row in table if row["rival"] == rival]
            line = [row for row in own if row["promoted"] and row["seed"] == first]
            rest = [row for row in own if row not in line]
            colour, width = colours[rival], 2.5 if rival == rivals[0] else 1.0
            axes.plot(
                [row["position"] for row in line],
                [row[key] for row in line],
                color=colour,
                lw=width,
                marker="o",
                ms=3 + width / 2,
                label=rival,
            )
            axes.plot(
                [row["position"] for row in rest],
                [row[key] for row in rest],
                "o",
                mfc="none",
                mec=colour,
                ms=3 + width,
            )
        axes.set_ylim(-0.03, 1.03)
        axes.set_ylabel(f"{text}, share of games")
        axes.grid(axis="y", lw=0.3)
    panels[0].set_title(title, loc="left")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[0].legend(
        handles[::-1],
        labels[::-1],
        fontsize=8,
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1, 0.5),
        title="against",
    )
    panels[1].set_xticks(list(names), list(names.values()), rotation=45, ha="right")
    panels[1].set_xlabel("generation.segment; the line is the promoted arm, hollow the other")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
