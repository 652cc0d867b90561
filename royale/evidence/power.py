"""How small an effect a match can show: the resolving power of n games at the gate.

With n decisive games of which a player wins a share p, the margin
(W - L) / sqrt(W + L) is close to a normal of mean (2p - 1) sqrt(n) and standard
deviation 2 sqrt(p (1 - p)). It clears the bar with a chance c if

    (2p - 1) sqrt(n) = bar + z_c 2 sqrt(p (1 - p)),    z_c the standard normal's quantile.
"""

from __future__ import annotations

import math

from scipy.stats import norm


def share_to_show(decisive: float, bar: float, chance: float) -> float:
    """Smallest share of the decisive games whose match clears the bar with a chance (>= 0.5).

    Above 1 if so few games show nothing at that chance, however strong the player.
    """
    # with u = 2p - 1: u sqrt(n) - bar = z sqrt(1 - u^2), squared a quadratic in u
    z = norm.ppf(chance)
    root = math.sqrt(max(decisive + z**2 - bar**2, 0.0))
    return (1 + (bar * math.sqrt(decisive) + z * root) / (decisive + z**2)) / 2


def chance_by_luck(bar: float, tests: int) -> float:
    """Chance that at least one of some independent direct matches of equal arms clears the bar."""
    return 1 - norm.cdf(bar) ** tests


def elo(score: float) -> float:
    """Elo difference of an expected score (0..1 exclusive), a draw counting half."""
    return 400 * math.log10(score / (1 - score))
