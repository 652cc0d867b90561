"""The table of a ladder, as text for a terminal, Markdown and CSV."""

from __future__ import annotations

import csv
import io
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
    "steps/s T | C",
)


def record_text(record: Mapping[str, Any] | None) -> str:
    """W-L-D of a record, or a dash."""
    return f"{record['win']}-{record['loss']}-{record['draw']}" if record else "-"


def rows(ladder: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The rows of the table, the root first, as texts in the order of `COLUMNS`."""
    return [_row(entry) for entry in ladder["lineage"]]


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    direct = entry["direct"]
    sanity = "  ".join(
        f"{arm[0].upper()} {record_text(record)} {'ok' if record['clears'] else 'no'}"
        if arm != "root"
        else f"{rival} {record_text(record)}"
        for arm, rivals in entry["sanity"].items()
        for rival, record in rivals.items()
    )
    speeds = " | ".join(f"{arm['steps_per_second']:,.0f}" for arm in entry["arms"].values())
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


def render(ladder: Mapping[str, Any], width: int | None = None) -> str:
    """The table for a terminal."""
    table = Table(
        title=f"Ladder {ladder['ladder']} up to {ladder['generation']} (profile {ladder['profile']})"
    )
    for column in COLUMNS:
        table.add_column(column, justify="right" if column in ("margin", "bar") else "left")
    for row in rows(ladder):
        table.add_row(*row)
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(table)
    return console.file.getvalue()


def markdown(ladder: Mapping[str, Any]) -> str:
    """The table as Markdown."""
    lines = [
        "| " + " | ".join(c.replace("|", "/") for c in COLUMNS) + " |",
        "|---" * len(COLUMNS) + "|",
    ]
    lines += [
        "| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows(ladder)
    ]
    return "\n".join(lines) + "\n"


def to_csv(ladder: Mapping[str, Any]) -> str:
    """The table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(ladder))
    return out.getvalue()


def print_ladder(results: str | Path, generations: Sequence[str]) -> None:
    """Print the table of the furthest finished generation of a results folder, if there is one."""
    for generation in reversed(generations):
        path = Path(results) / "ladder" / f"{generation}.json"
        if path.exists():
            try:
                print(render(read_json(path, "ladder"), width=160))
            except RoyaleError as error:
                print(f"no table: {error}")
            return
