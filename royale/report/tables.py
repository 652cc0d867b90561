"""The tables of the report. A table keeps raw values; how a cell looks is its column's business."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from royale.evidence.elo import elo_of_score
from royale.evidence.exact import resolves
from royale.evidence.gate import record_text
from royale.evidence.ladder_records import LadderFile, LineageEntry
from royale.evidence.names import ARMS
from royale.evidence.records import PanelFile, TargetFile
from royale.evidence.watch import WatchRow
from royale.report.records import ArmsBenchFile, CostsFile, IdentityFile
from royale.report.words import SOONER, verdict

DASH = "–"


@dataclass(frozen=True)
class Column:
    """A heading and how its values are written: a format of `str.format`, or plain text.

    Text that is a sentence or a list wraps.
    """

    title: str
    form: str = ""
    wraps: bool = False

    @property
    def css(self) -> str:
        """Numbers are aligned on the right."""
        return "number" if self.form else "wraps" if self.wraps else ""

    def cell(self, value: Any) -> str:
        """The text of a cell; a dash where there is no value."""
        if value is None:
            return DASH
        return self.form.format(value) if self.form else str(value)


@dataclass(frozen=True)
class Table:
    """Columns and rows of raw values; `name` is that of its CSV file.

    `whole` has the numbers that were put together into one cell, for the CSV.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]] = field(default_factory=list)
    whole: Table | None = None

    def csv(self) -> str:
        """The raw values as CSV, empty where there is none."""
        if self.whole:
            return self.whole.csv()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.title for column in self.columns])
        writer.writerows(self.rows)
        return text.getvalue()

    def href(self) -> str:
        """The CSV inside a link, so that it can be saved without a network."""
        return "data:text/csv;charset=utf-8," + quote(self.csv())


def interval(value: float | None, low: float, high: float | None, form: str) -> str:
    """A value with its interval in one cell; high None: without limit."""
    if value is None:
        above = high is None and low
        return f"not reached, above {form.format(low)}" if above else "not measured"
    limit = "no limit" if high is None else form.format(high)
    return f"{form.format(value)} ({form.format(low)} to {limit})"


ELO = ("elo", "elo_low", "elo_high")


def ladder(file: LadderFile) -> Table:
    """A row a generation."""
    first = [
        Column("generation"),
        Column("question", wraps=True),
        Column("verdict", wraps=True),
        Column("W-L-D"),
        Column("margin", "{:+.2f}"),
        Column("bar", "{:.2f}"),
    ]
    last = [
        Column("p", "{:.3g}"),
        Column("Holm p", "{:.3g}"),
        Column("seeds", "{:d}"),
        Column("treatment vs parent", wraps=True),
        Column("control vs parent", wraps=True),
        Column("promoted"),
        Column("rule"),
        Column("treatment steps/s", "{:,.0f}"),
        Column("control steps/s", "{:,.0f}"),
    ]
    rows, whole = [], []
    for entry in file["lineage"]:
        direct, effect = entry["direct"], entry["effect"] or {}
        head = [
            entry["generation"],
            entry["question"],
            verdict(entry),
            record_text(direct) if direct else None,
            direct["margin"] if direct else None,
            direct["bar"] if direct else None,
        ]
        tail = [
            effect.get("p"),
            effect.get("p_holm"),
            entry["seeds"],
            *(_parent(entry, arm) for arm in ARMS),
            entry["promotion"]["promoted"],
            entry["promotion"]["rule"],
            *(entry["arms"].get(arm, {}).get("steps_per_second") for arm in ARMS),
        ]
        strength = [effect.get(key) for key in ELO]
        rows.append([*head, interval(*strength, "{:+.0f}") if effect else None, *tail])
        whole.append([*head, *strength, *tail])
    elos = [Column(f"Elo{part}") for part in ("", " low", " high")]
    full = Table("ladder", [*first, *elos, *last], whole)
    return Table("ladder", [*first, Column("Elo (95%)"), *last], rows, full)


def _parent(entry: LineageEntry, arm: str) -> str | None:
    records = entry["sanity"].get(arm, {}).values()
    return (
        "; ".join(
            f"{record_text(record)} {'clears' if record['clears'] else 'does not clear'}"
            for record in records
        )
        or None
    )


TARGET_PARTS = (
    ("N treatment, agent steps", ("arms", "treatment", "steps"), "{:,.0f}"),
    ("N control, agent steps", ("arms", "control", "steps"), "{:,.0f}"),
    ("R treatment, steps/s", ("arms", "treatment", "steps_per_second"), "{:,.0f}"),
    ("R control, steps/s", ("arms", "control", "steps_per_second"), "{:,.0f}"),
    ("T treatment, s", ("arms", "treatment", "seconds"), "{:,.0f}"),
    ("T control, s", ("arms", "control", "seconds"), "{:,.0f}"),
    ("a", ("a",), "{:.3f}"),
    ("b", ("b",), "{:.3f}"),
    ("a / b", ("time_ratio",), "{:.3f}"),
)


def target(files: Sequence[TargetFile]) -> Table:
    """Time to target: a row a generation, each number with its interval."""
    rows, whole = [], []
    for file in files:
        head = [file["generation"], SOONER[file["sooner"]], file["reference"]]
        shown, raw = list(head), list(head)
        for _, path, form in TARGET_PARTS:
            found: Any = file
            for key in path:
                found = found[key]
            numbers = [found[key] for key in ("value", "low", "high")]
            shown.append(interval(*numbers, form))
            raw += numbers
        rows.append(shown)
        whole.append(raw)
    first = [Column("generation"), Column("sooner"), Column("reference")]
    titles = [title for title, _, _ in TARGET_PARTS]
    parts = [Column(f"{title}{part}") for title in titles for part in ("", " low", " high")]
    full = Table("time_to_target", [*first, *parts], whole)
    return Table("time_to_target", [*first, *map(Column, titles)], rows, full)


def predicted(ladder_file: LadderFile, benches: Mapping[str, ArmsBenchFile]) -> Table:
    """Speeds of the microbenchmark beside those of the run: a row an arm, then the ratio b."""
    columns = [
        Column("generation"),
        Column("arm"),
        Column("predicted, steps/s", "{:,.0f}"),
        Column("delivered, steps/s", "{:,.0f}"),
        Column("delivered / predicted", "{:.3f}"),
        Column("b predicted", "{:.3f}"),
        Column("b delivered", "{:.3f}"),
    ]
    rows = []
    for entry in ladder_file["lineage"]:
        bench = benches.get(entry["generation"])
        if not bench:
            continue
        speeds = {
            arm: (bench["arms"][arm]["steps_per_second"], entry["arms"][arm]["steps_per_second"])
            for arm in ARMS
        }
        ratios = [round(t / c, 4) for t, c in zip(*speeds.values(), strict=True)]
        for arm, (said, did) in speeds.items():
            both = ratios if arm == "treatment" else [None, None]
            rows.append([entry["generation"], arm, said, did, round(did / said, 4), *both])
    return Table("predicted_and_delivered", columns, rows)


def watch(rows: Sequence[WatchRow]) -> Table:
    """The rows of the watch file, all its columns."""
    shown = {
        "win_share": "{:.1%}",
        "draw_share": "{:.1%}",
        "truncated_share": "{:.1%}",
        "turns_mean": "{:.1f}",
    }
    names = list(rows[0]) if rows else []
    columns = [
        Column(
            name,
            shown.get(name, "{:.2f}" if name.startswith(("own_", "rival_")) else ""),
        )
        for name in names
    ]
    return Table("narrowing", columns, [[row[name] for name in names] for row in rows])


def wall_clock(file: LadderFile) -> Table:
    """The direct matches at equal wall clock, of the generations that played them."""
    columns = [
        Column("generation"),
        Column("verdict"),
        Column("W-L-D"),
        Column("margin", "{:+.2f}"),
        Column("Elo", "{:+.0f}"),
        Column("Elo low", "{:+.0f}"),
        Column("Elo high", "{:+.0f}"),
        Column("treatment trained, s", "{:,.0f}"),
        Column("control trained, s", "{:,.0f}"),
    ]
    rows = []
    for entry in file["lineage"]:
        found = entry["wall_clock"]
        if found:
            direct, effect = found["direct"], found["effect"]
            ends = found["compared"].values()
            rows.append(
                [
                    entry["generation"],
                    verdict({**entry, "effect": effect}),
                    record_text(direct),
                    direct["margin"],
                    *(effect[key] for key in ELO),
                    *(sum(end[arm]["seconds"] for end in ends) for arm in ARMS),
                ]
            )
    return Table("equal_wall_clock", columns, rows)


def panel(file: PanelFile) -> Table:
    """The ratings of the panel, the strongest first."""
    columns = [
        Column("player"),
        Column("also", wraps=True),
        Column("Elo", "{:+.0f}"),
        Column("Elo low", "{:+.0f}"),
        Column("Elo high", "{:+.0f}"),
        Column("games", "{:,d}"),
    ]
    rows = [
        [row["name"], ", ".join(row["also"]) or None] + [row[key] for key in (*ELO, "games")]
        for row in file["ratings"]
    ]
    return Table("panel", columns, rows)


def power(games: int, draw_share: float, bar: float) -> Table:
    """The smallest effect that matches of several sizes show; games is this ladder's size."""
    columns = [
        Column("games", "{:,d}"),
        Column("of them decisive", "{:,d}"),
        Column("share won, half the time", "{:.1%}"),
        Column("share won, 80% of the time", "{:.1%}"),
        Column("as Elo, 80% of the time", "{:+.0f}"),
    ]
    rows = []
    for size in sorted({32, 128, 512, 2048, 8192, games}):
        decisive = round(size * (1 - draw_share))
        half, most = (resolves(decisive, bar, chance) for chance in (0.5, 0.8))
        score = None if most is None else draw_share / 2 + (1 - draw_share) * most
        strength = round(elo_of_score(score), 1) if score and score < 1 else None
        shares = [share and round(share, 4) for share in (half, most)]
        rows.append([size, decisive, *shares, strength])
    return Table("resolving_power", columns, rows)


def cost_rules(costs: CostsFile) -> Table:
    """A row a rule."""
    columns = [
        Column("rule"),
        Column("jobs", "{:d}"),
        Column("hours", "{:.3f}"),
        Column("CPU hours", "{:.3f}"),
        Column("greatest memory, MB", "{:,.0f}"),
        Column(f"money, {costs['currency']}", "{:.2f}"),
    ]
    return Table("costs_by_rule", columns, [list(row.values()) for row in costs["rules"]])


def cost_arms(costs: CostsFile) -> Table:
    """A row an arm."""
    columns = [
        Column("generation"),
        Column("arm"),
        Column("jobs", "{:d}"),
        Column("hours", "{:.3f}"),
        Column("CPU hours", "{:.3f}"),
        Column("greatest memory, MB", "{:,.0f}"),
        Column(f"money, {costs['currency']}", "{:.2f}"),
        Column("agent steps", "{:,d}"),
        Column(f"steps per {costs['currency']}", "{:,.0f}"),
    ]
    return Table("costs_by_arm", columns, [list(row.values()) for row in costs["arms"]])


def rentals(costs: CostsFile) -> Table:
    """What the rented machines of this profile cost, in one row."""
    money = costs["currency"]
    columns = [
        Column("rentals", "{:d}"),
        Column("hours", "{:.2f}"),
        Column(f"asked, {money}", "{:.2f}"),
        Column(f"billed, {money}", "{:.2f}"),
        Column("failed", "{:d}"),
        Column(f"billed for failures, {money}", "{:.2f}"),
        Column("mean minutes to first step", "{:.1f}"),
    ]
    return Table("rentals", columns, [list(costs["rentals"].values())])


def identity(segments: Mapping[str, IdentityFile]) -> Table:
    """What really trained: a row for each different identity, with the segments that share it."""
    columns = [
        Column("trained", wraps=True),
        Column("network", wraps=True),
        Column("encoder"),
        Column("planes", "{:d}"),
        Column("parameters", "{:,d}"),
        Column("board"),
        Column("device"),
        Column("dtype"),
        Column("threads", "{:d}"),
        Column("versions", wraps=True),
        Column("CPU"),
        Column("commit"),
        Column("code"),
    ]
    same: dict[tuple, list[str]] = {}
    for name, found in segments.items():
        git = found["git"]
        commit = f"{git['commit'][:12]}{' with edits' if git['dirty'] else ''}" if git else None
        same.setdefault(
            (
                f"{found['network']} {found['channels']}x{found['blocks']}, {found['value_head']}",
                found["encoder"],
                found["planes"],
                found["parameters"],
                "x".join(map(str, found["board"])),
                found["device"],
                found["dtype"],
                found["threads"],
                ", ".join(f"{what} {version}" for what, version in found["versions"].items()),
                found["code"]["cpu_capability"] if "code" in found else None,
                commit,
                found["code"]["digest"][:12] if "code" in found else None,
            ),
            [],
        ).append(name)
    return Table("identity", columns, [[", ".join(names), *row] for row, names in same.items()])
