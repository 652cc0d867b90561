"""What a rating cannot tell: who beats whom in a circle, and how much of it there is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.stats import norm

from royale.evidence import elo
from royale.evidence.bradley_terry import Edge, Ratings
from royale.evidence.gate import clears


def beaten(n: int, edges: Sequence[Edge], bar: float) -> np.ndarray:
    """Who beats whom by the gate: (N, N) bool, the winner's row."""
    beats = np.zeros((n, n), bool)
    for a, b, record in edges:
        beats[a, b] = clears(record, bar)
        beats[b, a] = clears(record.reversed, bar)
    return beats


def cycles(beats: np.ndarray) -> list[list[int]]:
    """Circles of players of which each beats the next and the last the first, short ones first.

    For every match won, a shortest way back from the loser to the winner: each match that
    is part of a circle is in one of them.
    """
    lengths, before = shortest_path(beats.astype(float), unweighted=True, return_predecessors=True)
    found = set()
    for winner, loser in zip(*np.nonzero(beats), strict=True):
        if math.isinf(lengths[loser, winner]):
            continue
        ring = [int(winner)]
        while ring[-1] != loser:
            ring.append(int(before[loser, ring[-1]]))
        # from the winner back to the loser; turn it round and start at the smallest
        ring = [ring[0], *ring[:0:-1]]
        start = ring.index(min(ring))
        found.add(tuple(ring[start:] + ring[:start]))
    return [list(ring) for ring in sorted(found, key=lambda ring: (len(ring), ring))]


def triples_by_chance(n: int, bar: float) -> float:
    """How many circles of three are expected by chance among n players that are all equal."""
    return 2 * math.comb(n, 3) * float(norm.sf(bar)) ** 3


def unexplained(edges: Sequence[Edge], ratings: Ratings) -> float | None:
    """Share of the variance of match scores that the ratings do not explain, from 0 to 1.

    Squared distances of the scores from 1/2 (all of it) and from the expected scores
    (the rest), weighted by games, both less what the noise of games alone would give. None
    where the scores do not differ from 1/2 by more than noise. Circles are in it, and also
    what the curve of the rating misses, such as draws that strength does not decide.
    """
    whole = rest = noise = 0.0
    for a, b, record in edges:
        score, n = elo.score(record), record.games
        whole += n * (score - 0.5) ** 2
        rest += n * (score - ratings.expected(a, b)) ** 2
        noise += score * (1 - score) - record.draw / n / 4
    left = len(edges) - (len(ratings.elo) - 1)  # degrees of freedom
    if whole <= noise:
        return None
    return float(np.clip((rest - noise * left / len(edges)) / (whole - noise), 0, 1))
