"""The permanent panel: every champion of a ladder against a set of players that never changes.

A champion that beats its parent may have learned to beat its parent. The panel is the
scripted players, the root and every other champion of the lineage, and networks that
the config names; each is rated by the matches among all of them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

from royale.evidence import bradley_terry, elo, nontransitive, round_robin
from royale.evidence.gate import Record, record_of, summary
from royale.evidence.records import MatchFile, PairRecord, PanelRatings, Rating


def merge(
    matches: Iterable[MatchFile | PairRecord], weights: Mapping[str, str]
) -> tuple[dict[str, list[str]], dict[tuple[str, str], Record]]:
    """The players and the record of each pair, players with the same weights taken as one.

    weights: name -> sha256 of networks. A champion that is its parent's, carried forward, is
    the same player under another name; a match of a player against itself is left out.
    Returns name -> all its names, and (a, b) -> record.
    """
    first: dict[str, str] = {}
    players: dict[str, list[str]] = {}
    records: dict[tuple[str, str], Record] = {}

    def known_as(name: str) -> str:
        one = first.setdefault(weights.get(name, name), name)
        names = players.setdefault(one, [])
        if name not in names:
            names.append(name)
        return one

    for name in weights:
        known_as(name)
    for match in matches:
        a, b = known_as(match["a"]), known_as(match["b"])
        record = record_of(match)
        if (b, a) in records:
            a, b, record = b, a, record.reversed
        if a != b:
            records[a, b] = records.get((a, b), Record(0, 0, 0)) + record
    return players, records


def rate(
    players: Mapping[str, list[str]],
    records: Mapping[tuple[str, str], Record],
    anchor: str,
    bar: float,
) -> PanelRatings:
    """Ratings, strongest first, and what they cannot tell."""
    names = list(players)
    number = {name: k for k, name in enumerate(names)}
    edges = [(number[a], number[b], record) for (a, b), record in records.items()]
    ratings = bradley_terry.fit(names, edges, number[anchor])
    rings = nontransitive.cycles(nontransitive.beaten(len(names), edges, bar))
    share = nontransitive.unexplained(edges, ratings)
    rows: list[Rating] = []
    for name, k in number.items():
        low, high = ratings.interval(k)
        rows.append(
            {
                "name": name,
                "also": players[name][1:],
                "elo": round(float(ratings.elo[k]), 2),
                "elo_low": round(low, 2),
                "elo_high": round(high, 2),
                "games": sum(record.games for pair, record in records.items() if name in pair),
            }
        )
    return {
        "anchor": anchor,
        "bar": bar,
        "ratings": sorted(rows, key=lambda row: -row["elo"]),
        "matches": [
            {"a": a, "b": b, **summary(record, bar), "score": round(elo.score(record), 6)}
            for (a, b), record in records.items()
        ],
        "transitive": not rings,
        "cycles": [[names[k] for k in ring] for ring in rings],
        "triples_by_chance": round(nontransitive.triples_by_chance(len(names), bar), 4),
        "unexplained_share": None if share is None else round(share, 4),
    }


def reading(panel: PanelRatings) -> str:
    """What the ratings cannot tell, in a sentence or two."""
    share = panel["unexplained_share"]
    told = "The matches differ from even by no more than noise."
    if share is not None:
        told = f"{share:.0%} of the variance of match scores is not explained by the ratings."
    if panel["transitive"]:
        return f"Nobody beats in a circle. {told}"
    rings = "; ".join(" > ".join([*ring, ring[0]]) for ring in panel["cycles"])
    return (
        f"NOT TRANSITIVE: circles in which each clears the bar against the next: {rings}. By "
        f"chance {panel['triples_by_chance']:.2g} circles of three among players that are all "
        f"equal. {told}"
    )


def markdown(panel: PanelRatings) -> str:
    """The ratings, what they cannot tell, and the match table."""
    lines = [f"| player | Elo over {panel['anchor']} | 95% | games |", "|---|---|---|---|"]
    for row in panel["ratings"]:
        name = " = ".join([row["name"], *row["also"]])
        interval = f"{row['elo_low']:+.0f} to {row['elo_high']:+.0f}"
        if row["name"] == panel["anchor"]:
            interval = "-"
        lines.append(f"| {name} | {row['elo']:+.0f} | {interval} | {row['games']:,} |")
    table = round_robin.table(panel["matches"])
    return "\n".join([*lines, "", reading(panel), "", table])


def to_csv(panel: PanelRatings) -> str:
    """The ratings as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = ("name", "also", "elo", "elo_low", "elo_high", "games")
    writer.writerow(keys)
    for row in panel["ratings"]:
        writer.writerow([" ".join(row[key]) if key == "also" else row[key] for key in keys])
    return out.getvalue()
