"""The plot of the panel's ratings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

CHAMPION, OTHER = "#1f5fa8", "#8a8a8a"


def ratings(panel: Mapping[str, Any], path: str | Path) -> None:
    """Draw each player's rating with its interval, the strongest on top, champions in blue."""
    rows = panel["ratings"]
    figure, axes = pyplot.subplots(figsize=(8, 1.4 + 0.32 * len(rows)), layout="constrained")
    for k, row in enumerate(rows):
        colour = CHAMPION if row["name"].endswith(".champion") else OTHER
        axes.plot([row["elo_low"], row["elo_high"]], [k, k], color=colour, alpha=0.5, lw=2)
        axes.plot(row["elo"], k, "o", color=colour)
    axes.axvline(0, color="black", lw=0.5)
    axes.set_yticks(range(len(rows)), [" = ".join([row["name"], *row["also"]]) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(f"Elo over {panel['anchor']}, with 95% interval")
    flag = "" if panel["transitive"] else "; NOT TRANSITIVE"
    axes.set_title(f"Panel of {panel['generation']}, profile {panel['profile']}{flag}", loc="left")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
