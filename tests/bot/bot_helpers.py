"""Champions, games and frames for the tests of the bot."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import torch

from royale.bot import bundle
from royale.export.export import bundle_of
from royale.games import load
from royale.games.generals.settings import COMPETITION  # noqa: F401  (for the tests)
from royale.learn import checkpoint
from royale.learn.network import build_network
from royale.learn.recipe import Recipe

torch.set_num_threads(1)
ROOT = Path(__file__).resolve().parents[2]
GAME = load("generals")
TINY = {
    "height": [5, 6],
    "width": [5, 7],
    "max_turns": 80,
    "deathtouch_turn": 30,
    "min_distance": 3,
    "mountain_share": [0.05, 0.15],
    "castles_carved": [0, 1],
    "build_base": 6,
    "build_surcharge": 4,
    "castle_cap": 3,
}


def save_champion(path, settings=TINY, encoder="history", channels=8, blocks=2, **recipe):
    """Write a random champion whose choices are far from uniform."""
    knobs = Recipe(channels=channels, blocks=blocks, encoder=encoder, **recipe)
    network = build_network(GAME.spec(settings, encoder), knobs, 7)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.ndim == 1:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.1)
            elif name.endswith(".last.weight") or name in ("policy.weight", "value.weight"):
                parameter.mul_(50)
    meta = {"game": "generals", "settings": settings, "recipe": knobs.to_dict(), "lineage": None}
    checkpoint.save_weights(path, network, meta)
    return path


@cache
def tiny_bundle(folder: Path) -> Path:
    """A tiny champion's bundle in a folder."""
    path = folder / "bot.npz"
    path.write_bytes(bundle.packed(bundle_of(save_champion(folder / "champion.safetensors"))))
    return path


def buffers(game):
    """Empty codes, scalars and legal for `observe`."""
    spec, n = game.spec, game.n_games
    return (
        np.zeros((n, 2, *spec.code_shape), np.uint8),
        np.zeros((n, 2, len(spec.scalars)), np.float32),
        np.zeros((n, 2, spec.n_actions), np.uint8),
    )


def random_actions(rng, legal, keep=0.9):
    """Legal actions (N, 2), mostly not the pass, now and then an illegal one."""
    actions = np.empty(legal.shape[:2], np.int32)
    for n, seat in np.ndindex(*actions.shape):
        allowed = np.flatnonzero(legal[n, seat])
        builds = allowed[allowed >= 8 * (legal.shape[2] // 9)][:-1]
        if len(builds) and rng.random() < 0.3:
            allowed = builds
        elif len(allowed) > 1 and rng.random() < keep:
            allowed = allowed[:-1]
        actions[n, seat] = rng.choice(allowed)
        if rng.random() < 0.02:
            actions[n, seat] = rng.integers(legal.shape[2])
    return actions
