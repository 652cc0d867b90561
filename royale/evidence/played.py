"""Playing one match and recording it: the match file, and what is said of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from royale import rng
from royale.evidence import match
from royale.evidence.elo import pair_counts
from royale.evidence.gate import record_text
from royale.evidence.records import MatchFile, PlayerRecord, Policy
from royale.evidence.sequential import Sprt
from royale.evidence.sequential import play as play_sequentially
from royale.files import sha256
from royale.games.protocol import Player, StatefulPlayer


@dataclass(frozen=True)
class Side:
    """A player of a match, and what it was made from."""

    name: str
    kind: str  # network, external or scripted
    player: Player | StatefulPlayer
    weights: str | Path | None = None  # the file of a network
    command: str | None = None  # of an external player

    def record(self) -> PlayerRecord:
        """What the match file says of it once it has played."""
        external = self.kind == "external"
        return {
            "kind": self.kind,
            "sha256": sha256(self.weights) if self.weights else None,
            "command": self.command,
            "faults": dict(sum(self.player.faults.values(), Counter())) if external else None,
        }


def record(
    name: str,
    game: str,
    settings: Mapping[str, Any],
    policy: Policy,
    sides: Mapping[str, Side],
    games: int,
    sequential: Mapping[str, Any] | None = None,
    report: Callable[[int, str], None] = lambda done, extra: None,
) -> MatchFile:
    """Play a match, at most `games` (even) games, and return its file.

    name: the match's, from which its random keys follow. sides: `a` and `b`. policy: how
    networks choose, as they were made. sequential: the numbers of a test that may stop it
    early (`Sprt`). report(games done, what else there is to say) is called as it goes.
    """
    key = rng.key_of("match", name)
    began = time.monotonic()
    what = game, settings, [sides[side].player for side in "ab"], games, key
    test = None
    if sequential:
        played, test = play_sequentially(
            *what, Sprt(**sequential), lambda done, llr: report(done, f"LLR {llr:+.2f}")
        )
    else:
        played = match.play(*what, lambda turn, running: report(games - running, f"turn {turn}"))
    win, loss, draw = match.count(played)
    return {
        **{side: sides[side].name for side in "ab"},
        "game": game,
        "settings": dict(settings),
        "policy": policy,
        "mode": "sprt" if test else "fixed",
        "sequential": test,
        "key": key,
        "players": {side: sides[side].record() for side in "ab"},
        "win": win,
        "loss": loss,
        "draw": draw,
        "pairs": pair_counts(played),
        "by_seat": {
            str(seat): list(match.count([one for one in played if one["seats"][seat] == 0]))
            for seat in (0, 1)
        },
        "turns_mean": sum(one["turns"] for one in played) / len(played),
        "seconds": round(time.monotonic() - began, 3),
        "games": played,
    }


def lines(found: MatchFile) -> list[str]:
    """A match file in a few lines: the result, what a sequential test says, programs' faults."""
    said = [f"W-L-D {record_text(found)}"]
    if found["sequential"]:
        test = "{verdict}, LLR {llr:.2f}, {games_saved} games saved"
        said.append(test.format(**found["sequential"]))
    for side, about in found["players"].items():
        if about["faults"]:
            said.append(f"faults of {found[side]}: {about['faults']}")
    return said
