"""A game's record, played again from it alone, and what the page shows of it."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import yaml

from royale.errors import RoyaleError
from royale.games.generals.game import Generals
from royale.games.generals.layout import ARMY, GENERAL, HEIGHT, LAND, MOUNTAIN, WIDTH
from royale.games.generals.settings import settings_of
from royale.games.protocol import Game

SETTINGS = Path(__file__).with_name("settings.schema.yaml")
COLUMNS = [LAND, LAND + 1, ARMY, ARMY + 1]
CELL, COLOURS = 12, ("#c04f08", "#1a66a8")  # of the picture


class GeneralsReplays:
    """See `royale.games.protocol.Replays`."""

    scripts = ("svg", "rules", "observation", "policy", "view", "chart", "playback", "replay")

    def __init__(self, game: Game) -> None:
        self._game = game

    def record(
        self, settings: Mapping[str, Any], seed: int, actions: Sequence[Sequence[int]]
    ) -> dict[str, Any]:
        """Play the actions (turns, 2); see `replay.schema.yaml`."""
        batch = self._begin(settings, seed)
        states = [_digest(batch)]
        for pair in actions:
            batch.step(np.array([_playable(batch, pair)], np.int32))
            states.append(_digest(batch))
        return {
            "settings": dict(settings),
            "seed": seed,
            "actions": [list(map(int, pair)) for pair in actions],
            "states": states,
        }

    def shown(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """What the page needs: settings, board, actions, and the engine's totals; see the protocol.

        totals: land and army of both seats at each turn, (turns + 1, 4), for the page to check
        its own rules against. `end` is the last position, for the picture.
        """
        try:  # of any record: a board of unbounded size would not fit in memory
            jsonschema.validate(record["settings"], yaml.safe_load(SETTINGS.read_text()))
        except jsonschema.ValidationError as error:
            raise RoyaleError(f"settings that no game has: {error.message[:200]}") from None
        batch = self._begin(record["settings"], record["seed"])
        actions, states = record["actions"], record["states"]
        if len(states) != len(actions) + 1:
            raise RoyaleError(f"{len(states)} states of {len(actions)} turns")
        row, side = batch.table[0], batch.side
        height, width = int(row[HEIGHT]), int(row[WIDTH])

        def cut(flat: np.ndarray) -> np.ndarray:
            return flat[0].reshape(side, side)[:height, :width].ravel()

        cells = [divmod(int(cell), side) for cell in row[GENERAL : GENERAL + 2]]
        board = {
            "height": height,
            "width": width,
            "mountains": (cut(batch.kind) & MOUNTAIN).tolist(),
            "generals": [r * width + c for r, c in cells],
        }
        totals, chosen = [row[COLUMNS].tolist()], []
        winner, truncated = -1, False
        _expect(batch, states, 0)
        for turn, pair in enumerate(actions):
            chosen.append(_playable(batch, pair))
            result = batch.step(np.array([chosen[-1]], np.int32))
            _expect(batch, states, turn + 1)
            winner, truncated = int(result.winner[0]), bool(result.truncated[0])
            totals.append(row[COLUMNS].tolist())
        gave_up = [action < 0 for action in actions[-1]] if actions else [False, False]
        if any(gave_up):  # loses, whatever the turn brought; both: nobody wins
            winner, truncated = -1 if all(gave_up) else gave_up.index(False), False
        return {
            "settings": settings_of(record["settings"]),
            "seed": str(record["seed"]),
            "board": board,
            "actions": chosen,
            "totals": totals,
            "turns": len(actions),
            "winner": None if winner < 0 else winner,
            "truncated": truncated,
            "state": states[-1],
            "end": {"owner": cut(batch.owner).tolist(), "army": cut(batch.army).tolist()},
        }

    def picture(self, shown: Mapping[str, Any], names: Sequence[str]) -> str:
        """The last position as SVG, a square a cell with its army; generals have a ring."""
        board, end = shown["board"], shown["end"]
        width, height = board["width"] * CELL, board["height"] * CELL
        parts = []
        for cell, (owner, army) in enumerate(zip(end["owner"], end["army"], strict=True)):
            row, column = divmod(cell, board["width"])
            free = "#8b867c" if board["mountains"][cell] else "#eeece6"
            ring = ' stroke="#111" stroke-width="2"' if cell in board["generals"] else ""
            inner = CELL - 1 - bool(ring)
            parts.append(
                f'<rect x="{column * CELL}" y="{row * CELL}" width="{inner}" height="{inner}" '
                f'fill="{COLOURS[owner] if owner >= 0 else free}"{ring}/>'
            )
            if army:
                fill = "#fff" if owner >= 0 else "#222"
                parts.append(
                    f'<text x="{column * CELL + CELL / 2:g}" y="{row * CELL + 8}" fill="{fill}">'
                    f"{army}</text>"
                )
        for seat, (name, colour) in enumerate(zip(names, COLOURS, strict=True)):
            parts.append(
                f'<text class="name" x="0" y="{height + 12 + 12 * seat}" fill="{colour}">'
                f"{html.escape(name)}</text>"
            )
        box = f'width="{width}" height="{height + 30}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 30}" {box} '
            f'role="img"><title>{html.escape(" and ".join(names))}, turn {shown["turns"]}</title>'
            "<style>text{font:6px sans-serif;text-anchor:middle}"
            ".name{font-size:10px;text-anchor:start}</style>"
            f'<rect {box} fill="#fff"/>' + "".join(parts) + "</svg>\n"
        )

    def _begin(self, settings: Mapping[str, Any], seed: int) -> Generals:
        batch = self._game.make(1, settings, self._game.encoders[0])
        batch.reset(np.array([0]), np.array([seed], np.uint64))
        return batch


def _playable(batch: Generals, pair: Sequence[int]) -> list[int]:
    """The actions of a turn; who gives up has none, and the page shows a pass."""
    return [int(action) if action >= 0 else batch.spec.n_actions - 1 for action in pair]


def _digest(batch: Generals) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for array in (batch.owner, batch.army, batch.kind):
        digest.update(np.ascontiguousarray(array[0]).tobytes())
    return digest.hexdigest()


def _expect(batch: Generals, states: Sequence[str], turn: int) -> None:
    found = _digest(batch)
    if found != states[turn]:
        raise RoyaleError(
            f"does not play again as recorded: after turn {turn} the state hash is {found}, "
            f"recorded {states[turn]}; something in the record was altered"
        )
