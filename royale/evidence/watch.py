"""Close-out watch: how each segment's network does against opponents that do not learn.

A network that loses less and also wins less may beat its parent all the same. Against a player
that never changes it draws more and wins less, which is what is watched.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from royale import games, rng
from royale.evidence import match
from royale.evidence.ladder_records import LadderFile, Promoted
from royale.evidence.records import WatchFile, WatchRecord
from royale.games.protocol import Player

COUNTS = (
    "games",
    "win",
    "loss",
    "draw",
    "win_share",
    "draw_share",
    "truncated_share",
    "turns_mean",
)
# A row of results/watch/{generation}.csv, flat; the game's statistics are columns of it, too.
WatchRow = dict[str, Any]
RISE = 0.1  # the smallest rise of the share of draws that is told


def play_all(
    game: str,
    settings: Mapping[str, Any],
    player: Player,
    rivals: Sequence[str],
    n_games: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, WatchRecord]:
    """Play `n_games` (even) games against each scripted player; rival -> record.

    A record has the mean statistics of behaviour at the end of games, of the player itself
    (`own`) and of the rival. The maps depend on game and rival alone, so every segment plays
    the same ones. `report(rivals done, rivals)` is called after each.
    """
    module = games.load(game)
    spec = module.spec(settings, module.encoders[0])
    records: dict[str, WatchRecord] = {}
    for done, name in enumerate(rivals, 1):
        players = [player, module.scripted_player(name, spec)]
        key = rng.key_of("watch", game, name)
        played = match.play(game, settings, players, n_games, key, statistics=True)
        win, loss, draw = match.count(played)
        records[name] = {
            "games": n_games,
            "win": win,
            "loss": loss,
            "draw": draw,
            "win_share": win / n_games,
            "draw_share": draw / n_games,
            "truncated_share": sum(record["truncated"] for record in played) / n_games,
            "turns_mean": fmean(record["turns"] for record in played),
            **{
                side: {
                    statistic: fmean(record["statistics"][k][i] for record in played)
                    for i, statistic in enumerate(spec.statistics)
                }
                for k, side in enumerate(("own", "rival"))
            },
        }
        report(done, len(rivals))
    return records


def rows(segments: Sequence[WatchFile], promoted: Mapping[str, Promoted]) -> list[WatchRow]:
    """One flat row a segment and rival, in the order of `segments`.

    promoted: generation -> what it promoted. `position` counts the segments along the ladder:
    those of two arms that train beside each other share it.
    """
    positions: dict[tuple[str, int], int] = {}
    out = []
    for watch in segments:
        at = positions.setdefault((watch["generation"], watch["segment"]), len(positions))
        for rival, record in watch["rivals"].items():
            out.append(
                {
                    "position": at,
                    "generation": watch["generation"],
                    "arm": watch["arm"],
                    "seed": watch["seed"],
                    "segment": watch["segment"],
                    "agent_steps": watch["agent_steps"],
                    "promoted": promoted.get(watch["generation"]) == watch["arm"],
                    "rival": rival,
                    **{key: record[key] for key in COUNTS},
                    **{
                        f"{side}_{name}": value
                        for side in ("own", "rival")
                        for name, value in record[side].items()
                    },
                }
            )
    return out


def draws_rising(
    table: Sequence[WatchRow], stronger: Mapping[tuple[str, str], float | None]
) -> list[str]:
    """A line for each network that draws more against the first rival than those before it did.

    table: as `rows` makes it. stronger: (generation, arm) -> margin over its parent, None
    for a root. The alarm is on where the share of draws is at least `RISE`, and three
    standard errors, above the lowest of the promoted networks before it (same seed). A network
    that does not beat its parent (a margin of 0 or below) is left out: it is only weaker, which
    the gate sees by itself.
    """
    first = table[0]["rival"] if table else None
    alarms: list[str] = []
    promoted: list[WatchRow] = []
    for row in (row for row in table if row["rival"] == first):
        earlier = [
            r for r in promoted if r["seed"] == row["seed"] and r["position"] < row["position"]
        ]
        lowest = min(earlier, key=lambda r: r["draw_share"], default=None)
        if row["promoted"]:
            promoted.append(row)
        margin = stronger.get((row["generation"], row["arm"]))
        if lowest is None or (margin is not None and margin <= 0):
            continue
        spread = sum(r["draw_share"] * (1 - r["draw_share"]) / r["games"] for r in (row, lowest))
        if row["draw_share"] - lowest["draw_share"] >= max(RISE, 3 * spread**0.5):
            meanwhile = "trains on" if margin is None else f"beats its parent by {margin:+.2f}"
            alarms.append(
                f"alarm draws_rising: {row['generation']} {row['arm']} seed {row['seed']} segment "
                f"{row['segment']} draws {row['draw_share']:.0%} of its games against {first}, "
                f"after {lowest['draw_share']:.0%} in {lowest['generation']} segment "
                f"{lowest['segment']}, while it {meanwhile}: better at not losing, worse at winning"
            )
    return alarms


def margins_over_parent(ladder: LadderFile) -> dict[tuple[str, str], float | None]:
    """(generation, arm) -> its margin over its parent, from a ladder file; None for a root."""
    return {
        (entry["generation"], arm): fmean(rival["margin"] for rival in rivals.values())
        if entry["direct"]
        else None
        for entry in ladder["lineage"]
        for arm, rivals in entry["sanity"].items()
    }


def to_csv(table: Sequence[WatchRow]) -> str:
    """The rows as CSV, shares and means with four decimals."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()
