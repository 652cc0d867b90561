"""What a record says, at the shell: `python -m royale.evidence 1102-930-13 1083-949-7`."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from rich import box
from rich.console import Console
from rich.table import Table

from royale.errors import RoyaleError
from royale.evidence import elo, exact
from royale.evidence.gate import Record, label, margin
from royale.schemas import check, schema

MOST_GAMES = 10**9


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise RoyaleError(message)


def parse_record(text: str) -> Record:
    """The record W-L-D of a text; RoyaleError tells what is wrong in one line."""
    if not re.fullmatch(r"[0-9]+-[0-9]+-[0-9]+", text):
        raise RoyaleError(
            f"record {text[:40]!r}: allowed: W-L-D, three whole numbers such as 1102-930-13"
        )
    if max(map(len, text.split("-"))) > 10 or sum(map(int, text.split("-"))) > MOST_GAMES:
        raise RoyaleError(f"record {text[:40]!r}: allowed: at most {MOST_GAMES:,} games")
    record = Record(*map(int, text.split("-")))
    if not record.games:
        raise RoyaleError(f"record {text!r}: it has no games; at least one is needed")
    return record


def describe(records: Sequence[Record], bar: float, strong: float) -> list[dict[str, Any]]:
    """What is known of each record: see the table's legend for the names."""
    p = [exact.p_better(record) for record in records]
    rows = []
    for record, raw, adjusted in zip(records, p, exact.holm(p), strict=True):
        found = elo.of_record(record)
        low, high = found.interval()
        limit = bar * record.decisive**0.5
        share = exact.resolves(record.decisive, bar)
        rows.append(
            {
                "record": str(record),
                "games": record.games,
                "w_minus_l": record.win - record.loss,
                "bar_games": round(limit, 2),
                "ratio_to_bar": round((record.win - record.loss) / limit, 4) if limit else 0.0,
                "standard_deviations": round(margin(record), 4),
                "p_one_sided": raw,
                "p_two_sided": exact.p_different(record),
                "p_holm": adjusted,
                "tried": len(records),
                "score": round(elo.score(record), 6),
                "elo": round(found.elo, 1),
                "elo_low": round(low, 1),
                "elo_high": round(high, 1),
                "resolves_share": None if share is None else round(share, 4),
                "label": label(record, bar, strong),
            }
        )
    return rows


def table(rows: Sequence[dict[str, Any]], bar: float) -> str:
    """The rows for people, with a legend."""
    tried = len(rows)
    cells = {
        "record": lambda row: row["record"],
        "games": lambda row: f"{row['games']:,}",
        "W-L": lambda row: f"{row['w_minus_l']:+d}",
        "bar": lambda row: f"{row['bar_games']:.1f}",
        "ratio": lambda row: f"{row['ratio_to_bar']:+.2f}",
        "sd": lambda row: f"{row['standard_deviations']:+.2f}",
        "p 1-sided": lambda row: f"{row['p_one_sided']:.3g}",
        "p 2-sided": lambda row: f"{row['p_two_sided']:.3g}",
        "p Holm": lambda row: f"{row['p_holm']:.3g}",
        "Elo": lambda row: f"{row['elo']:+.0f}",
        "95%": lambda row: f"{row['elo_low']:+.0f} to {row['elo_high']:+.0f}",
        "resolves": lambda row: f"{row['resolves_share']:.1%}" if row["resolves_share"] else "-",
        "label": lambda row: row["label"],
    }
    if tried == 1:
        del cells["p Holm"]
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in cells:
        shown.add_column(
            name, justify="left" if name in ("record", "label") else "right", no_wrap=True
        )
    for row in rows:
        shown.add_row(*(cell(row) for cell in cells.values()))
    console = Console(width=250, highlight=False, force_terminal=False)
    with console.capture() as captured:
        console.print(shown)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    holm = f" p Holm is p 1-sided adjusted for {tried} tried." if tried > 1 else ""
    lines += [
        "",
        f"bar = {bar:g} * sqrt(W + L) games, ratio = (W - L) / bar, sd = (W - L) / sqrt(W + L).",
        f"p: exact binomial, draws left out.{holm}",
        "Elo: draws are half wins; games only, another training seed could say otherwise.",
        "resolves: the share of that many decisive games that clears the bar with 80% chance.",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the records say; 2 and one line on stderr if something is malformed."""
    rules = schema("config")["properties"]["evidence"]["properties"]
    parser = Parser(prog="python -m royale.evidence", description=__doc__)
    parser.add_argument("records", nargs="*", metavar="W-L-D", help="games won, lost and drawn")
    for name in ("bar", "strong"):
        rule = rules[name]
        text = f"{rule['description']} Default: {rule['default']}"
        parser.add_argument(f"--{name}", type=float, default=rule["default"], help=text)
    parser.add_argument("--json", action="store_true", help="a list of objects instead of a table")
    try:
        options, more = parser.parse_known_args(arguments)
        unknown = [word for word in more if not re.match(r"-[0-9]", word)]
        if unknown:
            parser.error(f"unknown option {unknown[0]}; allowed: --bar, --strong, --json")
        values = {"bar": options.bar, "strong": options.strong}
        check(values, {"properties": rules}, "options")
        texts = [*options.records, *more]
        if not texts:
            parser.error("no record given; at least one is needed, such as 1102-930-13")
        rows = describe([parse_record(text) for text in texts], options.bar, options.strong)
    except RoyaleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(rows, indent=1) if options.json else table(rows, options.bar))
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main())
