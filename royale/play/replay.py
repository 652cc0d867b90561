"""A game of a match, played again from the match's record, as one page to watch."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from royale.errors import RoyaleError
from royale.evidence import match
from royale.files import write_text
from royale.games import load as load_game
from royale.games.generals.layout import ARMY, GENERAL, HEIGHT, LAND, MOUNTAIN, WIDTH
from royale.play import PAGE
from royale.play.site import settings_of

# Modules of the page in the order of their imports; a name is defined in one of them only.
SCRIPTS = ("svg", "rules", "observation", "policy", "view", "chart", "replay")
SAME = ("seed", "seats", "turns", "winner", "truncated")


def play_again(
    record: Mapping[str, Any],
    number: int,
    players: Sequence[Any],
    said_by: str | Path,
    say: Callable[[str], None] = lambda line: None,
) -> list[list[int]]:
    """The actions (turns, 2) of game `number` of a match record, flat indices, the seats' order.

    players: a and b. RoyaleError if there is no such game, or if it does not come out as
    the record says.
    """
    if record["game"] != "generals":
        raise RoyaleError(f"{said_by}: a match of {record['game']!r}; only generals has replays")
    if number >= len(record["games"]):
        raise RoyaleError(
            f"{said_by}: there is no game {number}; games are 0 to {len(record['games']) - 1}"
        )
    told = record["games"][number]
    # First with its pair alone: it is quick. A network's last bits depend on how many games it
    # plays at a time, though, so that a choice may differ; then as many as there were.
    together = (record.get("sequential") or {"batch": len(record["games"])})["batch"]
    for size in (2, together):
        first = number - number % size
        actions: list[list[int]] = []

        def see(numbers: np.ndarray, chosen: np.ndarray, to: list[list[int]] = actions) -> None:
            to += chosen[numbers == number].tolist()

        played = match.play(
            record["game"],
            record["settings"],
            players,
            min(size, len(record["games"]) - first),
            record["key"],
            first=first,
            witness=see,
        )
        found = played[number - first]
        if all(found[key] == told[key] for key in SAME):
            return actions[: told["turns"]]
        say(f"game {number} ends otherwise when {len(played)} games are played at a time")
    key = next(key for key in SAME if found[key] != told[key])
    raise RoyaleError(
        f"{said_by}: game {number} does not play again as it was recorded: {key} is {found[key]}, "
        f"recorded {told[key]}; weights, versions, device and threads must be those of the match"
    )


def watchable(
    settings: Mapping[str, Any], seed: int, actions: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """What the page needs to show a game: settings, board, actions, and the engine's totals.

    totals: land and army of both seats at each turn, (turns + 1, 4), for the page to check
    its own rules against. Also `winner` (seat or None) and `truncated`.
    """
    batch = load_game("generals").make(1, settings, "base")
    batch.reset(np.array([0]), np.array([seed], np.uint64))
    row, side = batch.table[0], batch.side
    height, width = int(row[HEIGHT]), int(row[WIDTH])
    kind = batch.kind[0].reshape(side, side)[:height, :width]
    cells = [divmod(int(cell), side) for cell in row[GENERAL : GENERAL + 2]]
    board = {
        "height": height,
        "width": width,
        "mountains": (kind & MOUNTAIN).ravel().tolist(),
        "generals": [r * width + c for r, c in cells],
    }
    columns = [LAND, LAND + 1, ARMY, ARMY + 1]
    totals = [row[columns].tolist()]
    # A player that gave up has no action; the page shows a pass.
    chosen = [[a if a >= 0 else batch.spec.n_actions - 1 for a in pair] for pair in actions]
    winner, truncated = -1, False
    for pair in chosen:
        result = batch.step(np.array([pair], np.int32))
        winner, truncated = int(result.winner[0]), bool(result.truncated[0])
        totals.append(row[columns].tolist())
    return {
        "settings": settings_of(dict(settings)),
        "seed": str(seed),
        "board": board,
        "actions": chosen,
        "totals": totals,
        "winner": None if winner < 0 else winner,
        "truncated": truncated,
    }


def of_match(
    record: Mapping[str, Any],
    number: int,
    players: Sequence[Any],
    said_by: str | Path,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """A game of a match as the page shows it, played again; see `play_again`."""
    actions = play_again(record, number, players, said_by, say)
    told = record["games"][number]
    shown = watchable(record["settings"], told["seed"], actions)
    names = [record["a"], record["b"]]
    # By the record: giving up ends a game that the rules would not.
    winner = None if told["winner"] is None else told["seats"].index(told["winner"])
    return shown | {
        "players": [names[player] for player in told["seats"]],
        "winner": winner,
        "truncated": told["truncated"],
    }


def bundle(names: Sequence[str] = SCRIPTS) -> str:
    """The page's modules as one script: their imports left out, nothing exported."""
    texts = [(PAGE / f"{name}.js").read_text(encoding="utf-8") for name in names]
    text = re.sub(r"^import [^;]*;\n", "", "".join(texts), flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)


def write(path: Path, shown: Mapping[str, Any], title: str, about: str) -> None:
    """Write one HTML file that needs no other."""
    parts = {
        "title": html.escape(title),
        "about": html.escape(about),
        "style": (PAGE / "style.css").read_text(encoding="utf-8"),
        "record": json.dumps(shown, separators=(",", ":")).replace("<", "\\u003c"),
        "script": bundle(),
    }
    page = (PAGE / "replay.html").read_text(encoding="utf-8")
    write_text(path, re.sub(r"@(\w+)@", lambda found: parts[found[1]], page))
