"""Scripted players of a game against each other: who beats whom, and by how much."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from royale import games, rng
from royale.evidence import match
from royale.evidence.gate import Record, margin, record_of
from royale.evidence.records import PairRecord


def play_all(
    game: str,
    settings: Mapping[str, Any],
    n_games: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[PairRecord]:
    """Play every pair of scripted players, `n_games` (even) games each.

    Returns a record a pair, from a's view. All pairs play the same maps.
    `report(pairs done, pairs)` is called after each pair.
    """
    module = games.load(game)
    spec = module.spec(settings, module.encoders[0])
    pairs = list(itertools.combinations(module.scripted, 2))
    key = rng.key_of("round_robin", game)
    records = []
    for done, (a, b) in enumerate(pairs, 1):
        players = [module.scripted_player(name, spec) for name in (a, b)]
        record = Record(*match.count(match.play(game, settings, players, n_games, key)))
        records.append({"a": a, "b": b, **vars(record), "margin": round(margin(record), 4)})
        report(done, len(pairs))
    return records


def table(records: Sequence[PairRecord]) -> str:
    """A Markdown table: the row's W-L-D against each column, the strongest row first."""
    found: dict[str, dict[str, Record]] = {}
    for record in records:
        here = record_of(record)
        found.setdefault(record["a"], {})[record["b"]] = here
        found.setdefault(record["b"], {})[record["a"]] = here.reversed
    names = sorted(found, key=lambda name: -sum(map(margin, found[name].values())))
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for name in names:
        cells = [str(found[name].get(other, "-")) for other in names]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
