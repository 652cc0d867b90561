"""Plots of a ladder, as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

MARKS = {
    "direct": ("D", "#1f5fa8", "treatment vs control (the statistic)"),
    "treatment": ("o", "#c8553d", "treatment vs parent (sanity)"),
    "control": ("s", "#8a8a8a", "control vs parent (sanity)"),
}
OFFSETS = {"direct": -0.22, "treatment": 0.0, "control": 0.22}


def margins(ladder: Mapping[str, Any], path: str | Path) -> None:
    """Draw each generation's three margins, in standard deviations, beside the gate's bar."""
    entries = [entry for entry in ladder["lineage"] if entry["direct"]]
    figure, axes = pyplot.subplots(
        figsize=(8, 1.2 + 0.75 * max(len(entries), 1)), layout="constrained"
    )
    for row, entry in enumerate(entries):
        points = {"direct": entry["direct"]["margin"]}
        points |= {
            arm: next(iter(rivals.values()))["margin"] for arm, rivals in entry["sanity"].items()
        }
        for name, value in points.items():
            mark, colour, text = MARKS[name]
            at = row + OFFSETS[name]
            # the margin's own standard error is 1 when the players are equal
            axes.plot([value - 1.96, value + 1.96], [at, at], color=colour, alpha=0.45, lw=2)
            axes.plot(value, at, mark, color=colour, label=text if row == 0 else None)
        promoted = entry["promotion"]["promoted"]
        kept = "parent kept" if promoted == "parent" else f"{promoted} promoted"
        told = f"{entry['effect']['evidence']}, {kept}"
        axes.annotate(
            told, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=8
        )
    if ladder["gate"]["mode"] == "fixed":
        axes.axvline(ladder["gate"]["bar"], color="black", lw=1, ls="--", label="gate")
    axes.axvline(0, color="black", lw=0.5)
    axes.set_yticks(
        range(len(entries)),
        [f"{entry['generation']}  {entry['question']}" for entry in entries],
        parse_math=False,  # a dollar in a question is a dollar
    )
    axes.set_ylim(len(entries) - 0.5, -0.5)
    axes.set_xlabel(
        "margin (W - L) / sqrt(W + L), standard deviations, with 95% interval of the games"
    )
    axes.set_title(
        f"Which change helped: {ladder['ladder']}, profile {ladder['profile']}", loc="left"
    )
    if entries:
        axes.legend(
            fontsize=8,
            frameon=False,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.18 - 0.12 / len(entries)),
            ncols=2,
        )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
