"""Turning stored samples after they were played: the negative control of `symmetry`."""

from __future__ import annotations

import numpy as np

from royale import rng
from royale.games.protocol import Game, GameSpec
from royale.learn.sampling import pack_legal


def turn_samples(
    game: Game,
    spec: GameSpec,
    codes: np.ndarray,
    scalars: np.ndarray,
    legal: np.ndarray,
    action: np.ndarray,
    keys: np.ndarray,
) -> list[np.ndarray]:
    """Each of B samples in a symmetry drawn from its own key, as (codes, scalars, legal, action).

    codes (B, C...) uint8; scalars (B, S) float32; legal (B, ceil(A/8)) uint8 packed;
    action (B,) int32; keys (B,) uint64. The network was not asked about what comes out, so
    a stored log-probability is not that of the turned action: PPO's ratio is no ratio.
    """
    elements = (rng.uniform(keys) * len(spec.symmetries)).astype(np.int8)
    unpacked = np.unpackbits(legal, axis=-1, count=spec.n_actions)
    turned = game.transform(codes, scalars, unpacked, action, elements)
    return [turned[0], turned[1], pack_legal(turned[2]), turned[3]]
