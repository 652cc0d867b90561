"""Generalised advantage estimation, and the choice of samples worth training on."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True)
def _gae(rewards, values, dones, last_values, gamma, lam, advantages):
    horizon, rows = rewards.shape
    running = np.zeros(rows, np.float64)
    for t in range(horizon - 1, -1, -1):
        for r in range(rows):
            following = last_values[r] if t == horizon - 1 else values[t + 1, r]
            alive = 0.0 if dones[t, r] else 1.0
            delta = rewards[t, r] + gamma * following * alive - values[t, r]
            running[r] = delta + gamma * lam * alive * running[r]
            advantages[t, r] = running[r]


def gae(
    rewards: np.ndarray,
    values: np.ndarray,
    dones: np.ndarray,
    last_values: np.ndarray,
    gamma: float,
    lam: float,
) -> np.ndarray:
    """Advantages (T, R) float32 (Schulman et al. 2016, eq. 16).

    rewards, values (T, R) float32; dones (T, R) bool, after the step of t; last_values
    (R,) of the observation after the last step. A truncated game is done like any
    other: the turn cap is a rule of the game and its draw reward the true outcome, so
    nothing is bootstrapped past it.
    """
    advantages = np.empty(rewards.shape, np.float32)
    _gae(rewards, values, dones, last_values, float(gamma), float(lam), advantages)
    return advantages


def normalise(advantages: np.ndarray) -> np.ndarray:
    """(a - mean) / std over all samples, float32; equal advantages give zeros."""
    wide = advantages.astype(np.float64)
    return ((wide - wide.mean()) / (wide.std() + 1e-8)).astype(np.float32)


def select_top(advantages: np.ndarray, fraction: float) -> np.ndarray:
    """Ascending indices of the ceil(fraction * n) greatest |advantages| of (n,).

    Among equals the lowest index goes first, so the choice is reproducible.
    """
    n = advantages.size
    # The small slack keeps 0.1 * 30 from becoming 4.
    count = min(n, max(1, int(np.ceil(fraction * n - 1e-9))))
    if count == n:
        return np.arange(n)
    order = np.argsort(-np.abs(advantages), kind="stable")
    return np.sort(order[:count])
