"""Compare the engine with what was recorded of the reference, turn by turn.

`python -m royale.games.generals.conformance FILE.npz ...` takes both kinds of
file: whole games, and single transitions. It prints one line a file,
`FILE turns N matched N`, and the first mismatch. Exit code 1 on a mismatch, 2
on a file that cannot be read.
"""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from royale.games.generals import GAME
from royale.games.generals.boards import load_boards
from royale.games.generals.game import Generals
from royale.games.generals.layout import (
    ARMY,
    ARMY_HIGH,
    ARMY_LOW,
    CASTLE,
    LAND,
    MOUNTAIN,
    SIGHT,
    SIGHT_BITS,
    UNIT_BITS,
    UNITS,
)
from royale.games.generals.settings import COMPETITION

GAME_KEYS = (
    "owner",
    "army",
    "castles",
    "mountains",
    "generals",
    "general_positions",
    "time",
    "winner",
    "actions",
    "is_done",
    "land",
    "army_total",
    "result",
    "obs_turns",
    "obs_armies",
    "obs_generals",
    "obs_castles",
    "obs_mountains",
    "obs_neutral_cells",
    "obs_owned_cells",
    "obs_opponent_cells",
    "obs_fog_cells",
    "obs_structures_in_fog",
    "obs_owned_land_count",
    "obs_owned_army_count",
    "obs_opponent_land_count",
    "obs_opponent_army_count",
    "obs_timestep",
)
TRANSITION_KEYS = (
    "mountains",
    "castles",
    "owner",
    "army",
    "general_positions",
    "time",
    "actions",
    "next_owner",
    "next_army",
    "next_castles",
    "next_time",
    "winner",
    "is_done",
    "land",
    "army_total",
    "build_cost",
    "fog",
    "structures_in_fog",
)

# Field of a recorded observation -> where the codes hold it.
MASKS = {
    "generals": (SIGHT, "general"),
    "castles": (SIGHT, "castle"),
    "mountains": (SIGHT, "mountain"),
    "neutral_cells": (UNITS, "neutral"),
    "owned_cells": (SIGHT, "own"),
    "opponent_cells": (SIGHT, "opponent"),
    "fog_cells": (UNITS, "fog"),
    "structures_in_fog": (SIGHT, "structure_in_fog"),
}
BITS = {
    name: 1 << (SIGHT_BITS if code == SIGHT else UNIT_BITS).index(bit)
    for name, (code, bit) in MASKS.items()
}


class Unreadable(Exception):
    """The file is not one that can be checked; the message says why."""


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file; Unreadable if it is not one of the two kinds."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error):
        raise Unreadable("is not an npz file of plain arrays") from None
    keys = TRANSITION_KEYS if "next_owner" in arrays else GAME_KEYS
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise Unreadable(f"key {missing[0]} is missing")
    return arrays


Mismatch = tuple[int, str, str, object, object]  # turn, cell, field, expected, got


def compare(
    turns: np.ndarray, field: str, expected: np.ndarray, got: np.ndarray
) -> Iterator[Mismatch]:
    """The first difference of each row, rows being turns; cells are row, column (seat first)."""
    if expected.shape != got.shape:
        raise Unreadable(f"{field} has shape {expected.shape}, not {got.shape}")
    differs = (expected != got).reshape(len(turns), -1)
    for row in np.flatnonzero(differs.any(axis=1)):
        at = np.unravel_index(int(differs[row].argmax()), expected.shape[1:])
        cell = ",".join(str(int(i)) for i in at) or "-"
        yield int(turns[row]), cell, field, expected[row][at].item(), got[row][at].item()


def state_of(game: Generals, height: int, width: int) -> dict[str, np.ndarray]:
    """What a file records of the state, cut to the board."""

    def cut(flat: np.ndarray) -> np.ndarray:
        return flat.reshape(*flat.shape[:-1], game.side, game.side)[..., :height, :width]

    return {
        "owner": cut(game.owner),
        "army": cut(game.army),
        "castles": cut(game.kind) & CASTLE != 0,
        "time": game.turns.copy(),
        "land": game.table[:, LAND : LAND + 2],
        "army_total": game.table[:, ARMY : ARMY + 2],
        "build_cost": cut(game.price),
    }


def sight_of(game: Generals, height: int, width: int) -> dict[str, np.ndarray]:
    """What a file records of the observations, (N, 2, height, width) or (N, 2)."""
    spec, n = game.spec, game.n_games
    codes = np.empty((n, 2, *spec.code_shape), np.uint8)
    scalars = np.empty((n, 2, len(spec.scalars)), np.float32)
    game.observe(codes, scalars, np.empty((n, 2, spec.n_actions), np.uint8))
    codes = codes[..., :height, :width]
    seen = {name: codes[:, :, MASKS[name][0]] & BITS[name] != 0 for name in MASKS}
    low, high = codes[:, :, ARMY_LOW].astype(np.int32), codes[:, :, ARMY_HIGH].astype(np.int32)
    seen["armies"] = low + 256 * high
    # The totals are scaled in the scalars; undone, they are exact to a millionth.
    names = list(spec.scalars)
    area = height * width
    for field, scalar in (("owned_land", "own_land"), ("opponent_land", "opponent_land")):
        value = scalars[:, :, names.index(scalar)] * area
        seen[f"{field}_count"] = np.rint(value).astype(np.int32)
    for field, scalar in (("owned_army", "own_army"), ("opponent_army", "opponent_army")):
        value = np.expm1(scalars[:, :, names.index(scalar)].astype(np.float64) * 8)
        seen[f"{field}_count"] = np.rint(value).astype(np.int32)
    value = scalars[:, :, names.index("time")].astype(np.float64) * spec.max_turns
    seen["timestep"] = np.rint(value).astype(np.int32)
    return seen


def _settings(height: int, width: int) -> dict:
    return {**COMPETITION, "height": [height, height], "width": [width, width]}


def _kind(mountains: np.ndarray, castles: np.ndarray) -> np.ndarray:
    return mountains * np.uint8(MOUNTAIN) | castles * np.uint8(CASTLE)


def check_game(file: dict[str, np.ndarray]) -> tuple[int, list[Mismatch]]:
    """Play a recorded game through the engine; the number of turns, and all mismatches in order."""
    n_turns, height, width = len(file["actions"]), *file["owner"].shape[1:]
    if not ((file["obs_turns"] >= 0) & (file["obs_turns"] <= n_turns)).all():
        raise Unreadable("obs_turns lie outside the game")
    game = Generals(1, *_made(height, width))
    kind = _kind(file["mountains"], file["castles"][0])[None]
    first = slice(0, 1)
    load_boards(
        game, file["owner"][first], file["army"][first], kind, file["general_positions"][None]
    )
    found: list[Mismatch] = []
    flags = np.zeros(file["owner"].shape[1:], bool)
    flags[tuple(file["general_positions"].T)] = True
    found += compare(np.zeros(1, int), "generals", file["generals"][None], flags[None])
    observed = {int(t): k for k, t in enumerate(file["obs_turns"])}
    orders = np.ascontiguousarray(file["actions"], np.int32)
    for t in range(n_turns + 1):
        turn = np.array([t])
        got = state_of(game, height, width)
        for field in ("owner", "army", "castles", "time", "land", "army_total"):
            found += compare(turn, field, file[field][t : t + 1], got[field])
        if t in observed:
            k = observed[t]
            for field, value in sight_of(game, height, width).items():
                found += compare(turn, f"obs_{field}", file[f"obs_{field}"][k : k + 1], value)
        if t == n_turns:
            break
        result = game.step_orders(orders[t : t + 1])
        after = np.array([t + 1])
        found += compare(after, "winner", file["winner"][t + 1 : t + 2], result.winner)
        ended = result.done & ~result.truncated
        found += compare(after, "is_done", file["is_done"][t : t + 1], ended)
    found += compare(np.array([n_turns]), "result", file["result"].reshape(1), result.winner)
    return n_turns, found


def check_transitions(file: dict[str, np.ndarray]) -> tuple[int, list[Mismatch]]:
    """Play all single steps as one batch; the number of steps, and all mismatches."""
    n, height, width = file["owner"].shape
    game = Generals(n, *_made(height, width))
    kind = _kind(file["mountains"], file["castles"])
    load_boards(game, file["owner"], file["army"], kind, file["general_positions"], file["time"])
    rows = np.arange(n)
    before = state_of(game, height, width)["build_cost"]
    found = list(compare(rows, "build_cost", file["build_cost"], before))
    result = game.step_orders(np.ascontiguousarray(file["actions"], np.int32))
    got = state_of(game, height, width)
    for field, key in (
        ("owner", "next_owner"),
        ("army", "next_army"),
        ("castles", "next_castles"),
        ("time", "next_time"),
        ("land", "land"),
        ("army_total", "army_total"),
    ):
        found += compare(rows, key, file[key], got[field])
    found += compare(rows, "winner", file["winner"], result.winner)
    found += compare(rows, "is_done", file["is_done"], result.done & ~result.truncated)
    sight = sight_of(game, height, width)
    found += compare(rows, "fog", file["fog"], sight["fog_cells"])
    found += compare(
        rows, "structures_in_fog", file["structures_in_fog"], sight["structures_in_fog"]
    )
    return n, found


def _made(height: int, width: int) -> tuple[dict, object]:
    settings = _settings(height, width)
    return settings, GAME.spec(settings, "base")


def check(path: Path) -> tuple[int, list[Mismatch]]:
    """Check a file of either kind: how many turns it holds, and all mismatches."""
    file = read(path)
    try:
        return check_transitions(file) if "next_owner" in file else check_game(file)
    except (IndexError, TypeError, ValueError) as error:
        raise Unreadable(f"arrays do not fit together: {error}") from None


def main(paths: list[str]) -> int:
    """Check the files named; returns the exit code."""
    if not paths:
        print("usage: python -m royale.games.generals.conformance FILE.npz ...", file=sys.stderr)
        return 2
    code = 0
    for path in paths:
        try:
            turns, found = check(Path(path))
        except Unreadable as error:
            print(f"{path}: {error}", file=sys.stderr)
            code = 2
            continue
        wrong = len({turn for turn, *_ in found})
        print(f"{path} turns {turns} matched {max(turns - wrong, 0)}")
        if found:
            turn, cell, field, expected, got = min(found, key=lambda m: m[0])
            print(f"  turn {turn} cell {cell} field {field}: expected {expected}, got {got}")
            code = max(code, 1)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
