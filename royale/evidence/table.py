"""The table of a ladder, as text for a terminal, Markdown and CSV."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from royale.errors import RoyaleError
from royale.files import read_json

COLUMNS = (
    "generation",
    "question",
    "direct W-L-D",
    "margin",
    "bar",
    "evidence",
    "parent sanity",
    "promoted",
    "rule",
    "steps/s",
)


def record_text(record: Mapping[str, Any] | None) -> str:
    """W-L-D of a record, or a dash."""
    return f"{record['win']}-{record['loss']}-{record['draw']}" if record else "-"


def rows(ladder: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The rows of the table, the root first, as texts in the order of `COLUMNS`."""
    return [_row(entry) for entry in ladder["lineage"]]


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    direct = entry["direct"]
    sanity = "\n".join(
        f"{arm[0].upper()} {record_text(record)} {'ok' if record['clears'] else 'no'}"
        if arm != "root"
        else f"{rival} {record_text(record)}"
        for arm, rivals in entry["sanity"].items()
        for rival, record in rivals.items()
    )
    speeds = "\n".join(f"{arm['steps_per_second']:,.0f}" for arm in entry["arms"].values())
    return (
        entry["generation"],
        entry["question"],
        record_text(direct),
        f"{direct['margin']:+.2f}" if direct else "-",
        f"{direct['bar']:.2f}" if direct else "-",
        (direct["evidence"] + (" (one seed)" if entry["seeds"] == 1 else "")) if direct else "-",
        sanity,
        entry["promotion"]["promoted"],
        entry["promotion"]["rule"],
        speeds,
    )


def legend(ladder: Mapping[str, Any]) -> str:
    """What the letters and numbers of the table mean, and what the profile is."""
    scale = ", ".join(f"{key} x {factor:g}" for key, factor in ladder["scale"].items())
    return (
        f"Profile {ladder['profile']}: {ladder['note']} Questions are at paper scale; here {scale}. "
        "Direct is treatment against control. T treatment, C control against the frozen parent: "
        "ok clears the gate, no does not."
    )


def render(ladder: Mapping[str, Any], width: int | None = None) -> str:
    """The table for a terminal of a width (columns; at least 140, the terminal's own by default)."""
    table = Table(
        title=f"Ladder {ladder['ladder']} up to {ladder['generation']}",
        caption=legend(ladder),
        show_lines=True,
    )
    for column in COLUMNS:
        right = column in ("margin", "bar", "steps/s")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in rows(ladder):
        table.add_row(*row)
    width = width or max(140, shutil.get_terminal_size((140, 40)).columns)
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(table)
    return console.file.getvalue()


def markdown(ladder: Mapping[str, Any]) -> str:
    """The table as Markdown."""
    lines = [
        "| " + " | ".join(COLUMNS) + " |",
        "|---" * len(COLUMNS) + "|",
    ]
    lines += [
        "| " + " | ".join(cell.replace("\n", "<br>") for cell in row) + " |" for row in rows(ladder)
    ]
    return "\n".join([*lines, "", legend(ladder), ""])


def to_csv(ladder: Mapping[str, Any]) -> str:
    """The table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([cell.replace("\n", "; ") for cell in row] for row in rows(ladder))
    return out.getvalue()


def print_ladder(results: str | Path, generations: Sequence[str], since: float) -> None:
    """Print the table of the furthest generation decided since a time (seconds of the epoch)."""
    for generation in reversed(generations):
        path = Path(results) / "ladder" / f"{generation}.json"
        if path.exists() and path.stat().st_mtime >= since:
            try:
                print(render(read_json(path, "ladder")))
            except RoyaleError as error:
                print(f"no table: {error}")
            return
