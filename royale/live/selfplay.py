"""A game of a run's latest saved weights against themselves, as the page of replays shows it."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

from royale.errors import RoyaleError

GAME = "generals"  # whose replays the page can show
_turn = threading.Lock()  # one game at a time, on one thread
_number = itertools.count()


def play(path: Path, name: str) -> dict[str, Any]:
    """Play a game of a checkpoint's averaged weights against themselves; what the page shows of it.

    RoyaleError if nothing is saved yet, or the game cannot be shown. Torch is imported on the
    first call and not when the server starts.
    """
    with _turn:
        import torch

        from royale import rng
        from royale.evidence import match
        from royale.games import load as load_game
        from royale.learn.player import NetworkPlayer

        torch.set_num_threads(1)
        try:
            player = NetworkPlayer(path)
        except FileNotFoundError:
            raise RoyaleError(f"{name}: nothing is saved yet; a later try will find it") from None
        meta = player.meta
        if meta["game"] != GAME:
            raise RoyaleError(f"{name}: plays {meta['game']!r}; only {GAME} can be shown")
        key = rng.key_of("live", name, meta["iteration"], next(_number))
        actions: list[list[int]] = []
        played = match.play(
            meta["game"],
            meta["settings"],
            [player, player],
            2,
            key,
            witness=lambda numbers, chosen: actions.append(chosen[0].tolist()),
        )
        actions = actions[: played[0]["turns"]]
        replays = load_game(meta["game"]).replays
        shown = replays.shown(replays.record(meta["settings"], played[0]["seed"], actions))
        return shown | {"players": ["Orange", "Blue"], "iteration": meta["iteration"]}
