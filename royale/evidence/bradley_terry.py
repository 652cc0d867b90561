"""Ratings of players from the matches among them: the model of Bradley and Terry (1952).

    P(a beats b) = 1 / (1 + 10 ** ((rating of b - rating of a) / 400))

A draw is half a win and half a loss. Prior: each pair that met is given one more game,
half won and half lost, so a player that won all has a finite rating. The likelihood is
convex; intervals come from its curvature (the inverse Hessian), with one player, the
anchor, fixed at 0. They take a draw to be as noisy as a decisive game, so they are
too wide rather than too narrow where many games are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from royale.errors import RoyaleError
from royale.evidence.elo import PER_LOGIT, Z95
from royale.evidence.gate import Record

PRIOR = 0.5  # wins and losses added to each pair that met
Edge = tuple[int, int, Record]  # two players by number, the record from the first one's view


@dataclass(frozen=True)
class Ratings:
    """Elo of each player over the anchor."""

    elo: np.ndarray  # (N,)
    error: np.ndarray  # (N,) standard errors, 0 for the anchor

    def interval(self, player: int) -> tuple[float, float]:
        """(low, high): the 95% interval of a player's rating."""
        half = Z95 * self.error[player]
        return float(self.elo[player] - half), float(self.elo[player] + half)

    def expected(self, a: int, b: int) -> float:
        """Expected score of a against b."""
        return float(expit((self.elo[a] - self.elo[b]) / PER_LOGIT))


def fit(names: Sequence[str], edges: Sequence[Edge], anchor: int) -> Ratings:
    """Ratings of the players from their matches; RoyaleError if some never met the others."""
    n = len(names)
    a, b = (np.array([edge[side] for edge in edges], int) for side in (0, 1))
    won = np.array([r.win + r.draw / 2 + PRIOR for _, _, r in edges])
    lost = np.array([r.loss + r.draw / 2 + PRIOR for _, _, r in edges])
    met = np.zeros((n, n), bool)
    met[a, b] = True
    groups = connected_components(met, directed=False)[1]
    apart = [name for name, group in zip(names, groups, strict=True) if group != groups[anchor]]
    if apart:
        raise RoyaleError(
            f"no matches connect {', '.join(apart)} with {names[anchor]}; ratings need some"
        )
    # differences of ratings, one a match: (E, N), without the anchor's column
    design = np.zeros((len(edges), n))
    design[np.arange(len(edges)), a] += 1
    design[np.arange(len(edges)), b] -= 1
    free = np.delete(np.arange(n), anchor)
    design = design[:, free]

    def loss(x: np.ndarray) -> float:
        gap = design @ x
        return float(won @ np.logaddexp(0, -gap) + lost @ np.logaddexp(0, gap))

    def gradient(x: np.ndarray) -> np.ndarray:
        return design.T @ ((won + lost) * expit(design @ x) - won)

    def hessian(x: np.ndarray) -> np.ndarray:
        p = expit(design @ x)
        return design.T @ (design * ((won + lost) * p * (1 - p))[:, None])

    found = minimize(
        loss, np.zeros(n - 1), method="trust-exact", jac=gradient, hess=hessian, tol=1e-6
    )
    elo, error = np.zeros(n), np.zeros(n)
    elo[free] = PER_LOGIT * found.x
    error[free] = PER_LOGIT * np.sqrt(np.diag(np.linalg.inv(hessian(found.x))))
    return Ratings(elo, error)
