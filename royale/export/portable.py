"""A champion's network of any game as an ONNX file, and proof that it decides as before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from royale import rng
from royale.export import onnx_graph
from royale.files import sha256
from royale.games import load as load_game
from royale.games.protocol import GameSpec
from royale.learn import checkpoint, untrusted
from royale.learn.player import NetworkPlayer
from royale.learn.recipe import Recipe
from royale.learn.sampling import pack_legal, sample, single_action

GAMES = 2  # played at once
KEY = rng.key_of("onnx", "parity")
# Two logits this near may change places when sums are taken in another order.
NEAR = 1e-4
TOLERANCE = 1e-3  # of a legal logit or a value, divided by its size where that is over 1


def described(
    champion: Path, recipe: Recipe, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> tuple[GameSpec, dict[str, np.ndarray], dict[str, Any]]:
    """The game's spec, the weights that play, and the metadata of a file made of them.

    champion: the weights file; arrays and meta: what it holds, recipe: its `network_recipe`.
    """
    spec = load_game(meta["game"]).spec(meta["settings"], recipe.encoder)
    weights = {n.removeprefix("ema/"): a for n, a in checkpoint.part(arrays, "ema/").items()}
    told = {
        "game": spec.name,
        "encoder": spec.encoder,
        "planes": list(spec.planes),
        "action_planes": len(spec.action_planes),
        "global_actions": len(spec.global_actions),
        "channels": recipe.channels,
        "blocks": recipe.blocks,
        "layout_fingerprint": meta["layout_fingerprint"],
        "champion_sha256": sha256(champion),
    }
    return spec, weights, told


def write(champion: Path, path: Path) -> dict[str, Any]:
    """Write the ONNX file of a champion's weights file; returns its part of the parity file."""
    arrays, meta = checkpoint.load(champion)
    recipe = untrusted.network_recipe(arrays, meta, champion)
    spec, weights, told = described(champion, recipe, arrays, meta)
    told["board"] = [spec.height, spec.width]
    onnx_graph.write(path, weights, told)
    kept = ("game", "board", "encoder", "channels", "blocks", "champion_sha256")
    return {key: told[key] for key in kept} | {
        "parameters": sum(weight.size for weight in weights.values()),
        "bytes": path.stat().st_size,
    }


@torch.inference_mode()
def compare(
    champion: Path, path: Path, moves: int, report: Callable[[int], None] = lambda moves: None
) -> dict[str, Any]:
    """Compare champion and ONNX file in at least `moves` decisions of games with itself.

    Only rows with a choice are decisions. `action_mismatches` counts those where the two have
    their greatest legal logit at different actions, and by more than `NEAR`. The differences
    are the greatest of legal logits and of value outputs, divided by their size where that is
    over 1. report(decisions so far) is called each turn.
    """
    player, other = NetworkPlayer(champion), onnx_graph.session(path)
    game = load_game(player.meta["game"])
    batch = game.make(GAMES, player.meta["settings"], player.spec.encoder)
    spec, rows = batch.spec, 2 * GAMES
    codes = np.zeros((rows, *spec.code_shape), np.uint8)
    scalars = np.zeros((rows, len(spec.scalars)), np.float32)
    legal = np.zeros((GAMES, 2, spec.n_actions), np.uint8)
    over, games, turns, seen = np.ones(GAMES, bool), 0, 0, 0
    mismatches, furthest, value_furthest = 0, 0.0, 0.0
    while seen < moves:
        new = np.flatnonzero(over)
        if new.size:
            batch.reset(new, rng.fold(KEY, games + np.arange(new.size)))
            games += new.size
        batch.observe(
            codes.reshape(GAMES, 2, *spec.code_shape), scalars.reshape(GAMES, 2, -1), legal
        )
        allowed = legal.reshape(rows, -1)
        packed = pack_legal(allowed)
        actions, choice = single_action(packed, spec.n_actions)
        asked = np.flatnonzero(choice)
        if asked.size:
            planes = player.expand(
                torch.from_numpy(codes[asked]), torch.from_numpy(scalars[asked]), spec.encoder
            )
            logits, value = player.network(planes)
            shown = [planes] if isinstance(planes, torch.Tensor) else planes
            named = dict(zip(("planes", "vector"), (x.numpy() for x in shown), strict=False))
            theirs, their_value = other.run(None, named)
            may = allowed[asked].astype(bool)
            mine = np.where(may, logits.numpy(), -np.inf)
            its = np.where(may, theirs, -np.inf)
            best = mine.argmax(1), its.argmax(1)
            lead = np.take_along_axis(mine, best[0][:, None], 1)
            lead = (lead - np.take_along_axis(mine, best[1][:, None], 1))[:, 0]
            mismatches += int((lead > NEAR).sum())
            furthest = max(furthest, _apart(mine[may], its[may]))
            value_furthest = max(value_furthest, _apart(value.numpy(), their_value))
            keys = rng.uniform(rng.fold(KEY, turns, asked))
            actions[asked] = sample(logits, packed[asked], keys).action
            seen += asked.size
        over = batch.step(actions.reshape(GAMES, 2)).done
        turns += GAMES
        report(seen)
    return {
        "games": games,
        "turns": turns,
        "moves": seen,
        "action_mismatches": mismatches,
        "logit_difference": furthest,
        "value_difference": value_furthest,
        "passed": mismatches == 0 and max(furthest, value_furthest) <= TOLERANCE,
    }


def _apart(mine: np.ndarray, its: np.ndarray) -> float:
    return float((np.abs(mine - its) / np.maximum(np.abs(mine), 1)).max())
