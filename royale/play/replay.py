"""A game of a match, played again from the match's record, kept, and shown as one page.

`python -m royale.play.replay FILE.json ...` simulates kept games again, from their records alone,
to the recorded hash of every state. Exit code 1 if one does not come out as it is recorded, or
cannot be read.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import yaml

from royale import games
from royale.errors import RoyaleError
from royale.evidence import match
from royale.evidence.names import MatchName
from royale.files import expect_sha256, read_json, write_json, write_text
from royale.games.protocol import Replays
from royale.play import PAGE

SAME = ("seed", "seats", "turns", "winner", "truncated")
ENDED = ("turns", "winner", "truncated")


def replays_of(game: str, said_by: str | Path) -> Replays:
    """How games of this name are kept and shown; RoyaleError if they are not."""
    if game not in games.REGISTRY:
        raise RoyaleError(f"{said_by}: there is no game {game!r}; there are {list(games.REGISTRY)}")
    found = getattr(games.load(game), "replays", None)
    if found is None:
        raise RoyaleError(f"{said_by}: the game {game!r} has no replays")
    return found


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
    if number >= len(record["games"]):
        raise RoyaleError(
            f"{said_by}: there is no game {number}; games are 0 to {len(record['games']) - 1}"
        )
    told = record["games"][number]
    # In this process: one that dies would begin the game again, and show its first turns twice.
    fast = getattr(games.load(record["game"]), "speed_settings", ())
    settings = {key: value for key, value in record["settings"].items() if key not in fast}
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
            settings,
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


def of_match(
    record: Mapping[str, Any],
    number: int,
    players: Sequence[Any],
    said_by: str | Path,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """A game of a match as `replay.schema.yaml` keeps it, played again; see `play_again`."""
    replays = replays_of(record["game"], said_by)
    actions = play_again(record, number, players, said_by, say)
    told = record["games"][number]
    seats = ["ab"[player] for player in told["seats"]]
    return {
        "game": record["game"],
        "match": str(MatchName.of(record["a"], record["b"])),
        "number": number,
        "games": len(record["games"]),
        "players": [record[side] for side in seats],
        "sha256": [record["players"][side]["sha256"] for side in seats],
        "policy": record["policy"],
        "turns": told["turns"],
        "winner": None if told["winner"] is None else told["seats"].index(told["winner"]),
        "truncated": told["truncated"],
        "record": replays.record(record["settings"], told["seed"], actions),
    }


def from_match(
    path: str | Path,
    number: int,
    weights: Mapping[str, str | Path | None],
    make: Callable[[str, Mapping[str, Any]], Any],
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Game `number` of a match file as it is kept; RoyaleError where weights are not the match's.

    weights: of side a and b, the file of a network, else None. make(side, record) is the
    player of a side, who plays as the match record says.
    """
    record = read_json(path, "match")
    for side, file in weights.items():
        if file:
            expect_sha256(file, record["players"][side]["sha256"], path)
    players = [make(side, record) for side in "ab"]
    return of_match(record, number, players, path, say)


def simulate(kept: Mapping[str, Any], said_by: str | Path) -> dict[str, Any]:
    """A kept game as the page shows it, simulated from its record without its players.

    RoyaleError if it does not come out as it is recorded.
    """
    replays = replays_of(kept["game"], said_by)
    schema = yaml.safe_load(games.replay_schema(kept["game"]).read_text(encoding="utf-8"))
    try:
        jsonschema.validate(kept["record"], schema)
        shown = replays.shown(kept["record"])
    except jsonschema.ValidationError as error:
        raise RoyaleError(
            f"{said_by}: no record of {kept['game']}: record{error.json_path[1:]}: "
            f"{error.message[:200]}"
        ) from None
    except RoyaleError as error:
        raise RoyaleError(f"{said_by}: {error}") from None
    except (TypeError, ValueError) as error:  # values that the schema lets pass, but no game has
        raise RoyaleError(f"{said_by}: its record cannot be played: {error}") from error
    for key in ENDED:
        if shown[key] != kept[key]:
            raise RoyaleError(f"{said_by}: {key} is {shown[key]}, recorded {kept[key]}")
    return shown | {"players": list(kept["players"])}


def bundle(game: str, names: Sequence[str]) -> str:
    """The page's modules as one script: their imports left out, nothing exported."""
    paths = [games.page_file(game, f"{name}.js") for name in names]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    text = re.sub(r"^import [^;]*;\n", "", "".join(texts), flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)


def write_page(path: Path, kept: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    """Write a kept game as one HTML file that needs no other; shown: by `simulate`."""
    name = MatchName.parse(kept["match"])
    own = games.replay_schema(kept["game"]).parent / "page/replay.css"
    shared = games.page_file(kept["game"], "style.css")
    styles = [sheet for sheet in (shared, own) if sheet.exists()]
    parts = {
        "title": html.escape(f"{name.a} against {name.b}"),
        "about": html.escape(
            f"Game {kept['number']} of {kept['games']}, seed {shown['seed']}, {kept['policy']} play"
        ),
        "style": "".join(sheet.read_text(encoding="utf-8") for sheet in styles),
        "record": json.dumps(shown, separators=(",", ":")).replace("<", "\\u003c"),
        "script": bundle(kept["game"], replays_of(kept["game"], path).scripts),
    }
    page = (PAGE / "replay.html").read_text(encoding="utf-8")
    write_text(path, re.sub(r"@(\w+)@", lambda found: parts[found[1]], page))


def write(record: Path, page: Path, picture: Path, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Simulate a kept game from its record; write record, page and picture. What is shown."""
    shown = simulate(kept, record)
    write_json(record, kept, "replay")
    write_page(page, kept, shown)
    drawn = replays_of(kept["game"], record).picture(shown, kept["players"])
    write_text(picture, drawn)
    return shown


def main(paths: Sequence[str]) -> int:
    """Simulate the games kept in these files; one line a file, and the exit code."""
    if not paths:
        print("usage: python -m royale.play.replay FILE.json ...", file=sys.stderr)
        return 2
    code = 0
    for path in paths:
        try:
            shown = simulate(read_json(path, "replay"), path)
            print(f"{path}: {shown['turns']} turns, state hash {shown['state']}, as recorded")
        except RoyaleError as error:
            print(error, file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
