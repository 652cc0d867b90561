"""The table of a ladder, as text for a terminal, Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from royale.errors import RoyaleError
from royale.evidence.gate import record_text
from royale.evidence.ladder_records import EffectRecord, LadderFile, LineageEntry, MatchSummary
from royale.evidence.names import ARMS, ROOT_ARM
from royale.files import read_json

COLUMNS = (
    "generation",
    "question",
    "direct W-L-D",
    "margin",
    "bar",
    "Elo",
    "p, Holm",
    "evidence",
    "parent sanity",
    "promoted",
    "rule",
    "steps/s",
)


def rows(ladder: LadderFile) -> list[tuple[str, ...]]:
    """The rows of the table, the root first, as texts in the order of `COLUMNS`."""
    return [_row(entry) for entry in ladder["lineage"]]


def bar_text(direct: MatchSummary) -> str:
    """What decided the match: the bar, or a sequential test's log likelihood ratio."""
    if "llr" not in direct:
        return f"{direct['bar']:.2f}"
    return f"LLR {direct['llr']:+.2f}, {direct['games_saved']} games saved"


def said(effect: EffectRecord) -> str:
    """What may be said of an effect, and on what it rests."""
    return f"{effect['evidence']} ({effect['note']})"


def elo_text(effect: EffectRecord) -> str:
    """Elo with its 95% interval."""
    return f"{effect['elo']:+.0f} ({effect['elo_low']:+.0f} to {effect['elo_high']:+.0f})"


def _row(entry: LineageEntry) -> tuple[str, ...]:
    direct, effect = entry["direct"], entry["effect"]
    sanity = "\n".join(
        f"{arm[0].upper()} {record_text(record)} {'ok' if record['clears'] else 'no'}"
        if arm != ROOT_ARM
        else f"{rival} {record_text(record)}"
        for arm, rivals in entry["sanity"].items()
        for rival, record in rivals.items()
    )
    speeds = "\n".join(f"{arm['steps_per_second']:,.0f}" for arm in entry["arms"].values())
    return (
        entry["generation"],
        entry["question"],
        record_text(direct) if direct else "-",
        f"{direct['margin']:+.2f}" if direct else "-",
        bar_text(direct) if direct else "-",
        elo_text(effect).replace(" (", "\n(", 1) if effect else "-",
        f"{effect['p']:.3f}\n{effect['p_holm']:.3f}" if effect else "-",
        said(effect) if effect else "-",
        sanity,
        entry["promotion"]["promoted"],
        entry["promotion"]["rule"].replace("_", " "),
        speeds,
    )


def legend(ladder: LadderFile) -> str:
    """What the letters and numbers of the table mean, and what the profile is."""
    scale = ", ".join(f"{key} x {factor:g}" for key, factor in ladder["scale"].items())
    return (
        f"Profile {ladder['profile']}: {ladder['note']} Questions are at paper scale; here "
        f"{scale}. Direct is treatment against control; margin and bar in standard deviations; "
        f"Elo with 95% interval. {tried_text(ladder)}T treatment, C control against the frozen "
        "parent, a sanity check: ok clears the gate, no does not."
    )


def tried_text(ladder: LadderFile) -> str:
    """How many changes the lineage tried, which is what Holm's p accounts for."""
    asked = [entry["effect"] for entry in ladder["lineage"] if entry["effect"]]
    if not asked:
        return ""
    return f"{len(asked)} tried: p is one-sided, Holm's beside it adjusted for {len(asked)}. "


def wall_clock_lines(ladder: LadderFile) -> list[str]:
    """A line a generation that was also compared at equal wall clock, with the times."""
    lines = []
    for entry in ladder["lineage"]:
        if not entry["wall_clock"]:
            continue
        found = entry["wall_clock"]
        times = "; ".join(
            f"seed {seed}: "
            + ", ".join(
                f"{arm} {end['seconds']:,.0f} s, {end['steps']:,} steps"
                for arm, end in ends.items()
            )
            for seed, ends in found["compared"].items()
        )
        lines.append(
            f"{entry['generation']} at equal wall clock: {record_text(found['direct'])}, Elo "
            f"{elo_text(found['effect'])}, {said(found['effect'])} [{times}]"
        )
    return lines


def render(ladder: LadderFile, width: int | None = None) -> str:
    """The table for a terminal.

    width: columns; by default the terminal's own, at least 150.
    """
    table = Table(
        title=f"Ladder {ladder['ladder']} up to {ladder['generation']}",
        caption=Text(legend(ladder)),
        show_lines=True,
    )
    for column in COLUMNS:
        right = column in ("margin", "bar", "p, Holm", "steps/s")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in rows(ladder):
        table.add_row(*map(Text, row))  # brackets in a question are no markup
    width = width or max(150, shutil.get_terminal_size((150, 40)).columns)
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(table)
    for line in wall_clock_lines(ladder):
        console.print(line, highlight=False, markup=False)
    return console.file.getvalue()


def _cell(text: str) -> str:
    """A text as a cell of a Markdown table: nothing in it is markup, nor ends the cell."""
    return re.sub(r"([\\`|\[\]*<>&#])", r"\\\1", text).replace("\n", "<br>")


def markdown(ladder: LadderFile) -> str:
    """The table as Markdown."""
    lines = [
        "| " + " | ".join(COLUMNS) + " |",
        "|---" * len(COLUMNS) + "|",
    ]
    lines += ["| " + " | ".join(_cell(text) for text in row) + " |" for row in rows(ladder)]
    lines += ["", legend(ladder), *(f"\n{line}" for line in wall_clock_lines(ladder)), ""]
    return "\n".join(lines)


EFFECT_KEYS = (
    "unit",
    "score",
    "score_low",
    "score_high",
    "elo",
    "elo_low",
    "elo_high",
    "p",
    "p_holm",
    "tried",
    "evidence",
    "note",
)
RECORD_KEYS = ("win", "loss", "draw", "clears")


def csv_row(entry: LineageEntry) -> dict[str, Any]:
    """A flat row of numbers of a generation; empty where there is no such match.

    `wall_clock_` is the comparison at equal wall clock, `<arm>_parent_` an arm's sanity match.
    """
    direct, effect, clock = entry["direct"] or {}, entry["effect"] or {}, entry["wall_clock"] or {}
    row = {key: entry[key] for key in ("generation", "question", "seeds")}
    row |= {key: direct.get(key) for key in ("win", "loss", "draw")}
    row["w_minus_l"] = direct["win"] - direct["loss"] if direct else None
    row |= {"margin_sd": direct.get("margin"), "bar_sd": direct.get("bar")}
    row |= {key: direct.get(key) for key in ("llr", "games_saved")}
    row |= {key: effect.get(key) for key in EFFECT_KEYS}
    row |= {key: entry["promotion"][key] for key in ("promoted", "rule")}
    clocked = clock.get("direct", {}) | clock.get("effect", {})
    for key in ("win", "loss", "draw", "elo", "elo_low", "elo_high", "p", "evidence", "note"):
        row[f"wall_clock_{key}"] = clocked.get(key)
    for arm in ARMS:
        record = next(iter(entry["sanity"].get(arm, {}).values()), {})
        row |= {f"{arm}_parent_{key}": record.get(key) for key in RECORD_KEYS}
        row[f"{arm}_steps_per_second"] = entry["arms"].get(arm, {}).get("steps_per_second")
    return row


def to_csv(ladder: LadderFile) -> str:
    """The numbers of the table as CSV, a row a generation."""
    table = [csv_row(entry) for entry in ladder["lineage"]]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
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
