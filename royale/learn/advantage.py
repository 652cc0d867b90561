"""Generalised advantage estimation, and the choice of samples worth training on."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True)
def _gae(rewards, dones, turn, row, values, last_values, gamma, lam, advantages):
    horizon, rows = rewards.shape
    following = last_values.astype(np.float64)  # V of the turn after
    running = np.zeros(rows, np.float64)
    m = turn.size - 1
    for t in range(horizon - 1, -1, -1):
        for r in range(rows):
            alive = 0.0 if dones[t, r] else 1.0
            following[r] = rewards[t, r] + gamma * following[r] * alive
            running[r] = gamma * lam * alive * running[r]
        while m >= 0 and turn[m] == t:
            r = row[m]
            running[r] = following[r] - values[m] + running[r]
            following[r] = values[m]
            advantages[m] = running[r]
            m -= 1


def gae(
    rewards: np.ndarray,
    dones: np.ndarray,
    turn: np.ndarray,
    row: np.ndarray,
    values: np.ndarray,
    last_values: np.ndarray,
    gamma: float,
    lam: float,
) -> np.ndarray:
    """Advantages (M,) float32 of M decisions: GAE in elapsed time.

    rewards (T, R) float32; dones (T, R) bool, after the step of t; turn and row (M,) of the
    decisions, in order of turn; values (M,) float32 of their observations; last_values (R,)
    of the observation after the last step.

    Between a row's decisions at t and t + k nothing was chosen, so the transition is one
    of a semi-Markov process (Sutton, Precup and Singh 1999): with
    R = sum_i gamma^i r_{t+i} over its k turns,

        A_t = R + gamma^k V(s_{t+k}) - V(s_t) + (gamma * lam)^k A_{t+k}.

    That is GAE over all turns (Schulman et al. 2016, eq. 16) where a turn j without a choice
    has the value r_j + gamma V(s_{j+1}), an error of 0; and GAE itself where every turn has
    one. A truncated game is done like any other: the turn cap is a rule of the game and its
    draw reward the true outcome, so nothing is bootstrapped past it.
    """
    advantages = np.empty(values.shape, np.float32)
    _gae(rewards, dones, turn, row, values, last_values, float(gamma), float(lam), advantages)
    return advantages


def normalise(advantages: np.ndarray, of: np.ndarray) -> np.ndarray:
    """(a - mean) / std of (n,), float32, with the mean and deviation of those chosen by
    `of` (n,) bool; zeros where these are equal, or there are none."""
    wide = advantages.astype(np.float64)
    those = wide[of]
    deviation = those.std() if those.size else 0.0
    if deviation == 0.0:
        return np.zeros_like(advantages)
    return ((wide - those.mean()) / (deviation + 1e-8)).astype(np.float32)


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
