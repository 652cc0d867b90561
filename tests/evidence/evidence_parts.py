"""Matches made up for the tests: what their counts would be, without playing them."""

from __future__ import annotations

import numpy as np

from royale.evidence.generation import judge

# small boards, on which games end soon
SETTINGS = {
    "height": [5, 6],
    "width": [5, 6],
    "max_turns": 80,
    "deathtouch_turn": 20,
    "min_distance": 3,
    "mountain_share": [0.05, 0.15],
    "castles_carved": [0, 1],
}
GATE = {"bar": 1.65, "strong": 2.58, "tie_break": "parent_margin", "mode": "fixed"}


def made_up_pairs(rng: np.random.Generator, elo: float, n_pairs: int, draws: float) -> np.ndarray:
    """Points (n_pairs, 2) of the games of pairs: 1, 1/2 or 0; `draws` is their share."""
    better = 1 / (1 + 10 ** (-elo / 400))
    decided = rng.random((n_pairs, 2)) >= draws
    return np.where(decided, rng.random((n_pairs, 2)) < better, 0.5)


def match_of(points: np.ndarray) -> dict:
    """The counts of a match file from points (n_pairs, 2) of player a."""
    return {
        "a": "treatment",
        "b": "control",
        "mode": "fixed",
        "win": int((points == 1).sum()),
        "loss": int((points == 0).sum()),
        "draw": int((points == 0.5).sum()),
        "pairs": np.bincount((2 * points.sum(1)).astype(int), minlength=5).tolist(),
    }


def generation(name, parent, direct, wall_clock=None):
    """The ladder file of a generation whose arms both clear the parent gate."""
    about = {
        "generation": name,
        "question": f"question of {name}",
        "seeds": [0],
        "ladder": "generals",
        "profile": "smoke",
        "note": "Made up.",
        "scale": {"minibatch": 1},
    }
    good = {
        "a": "x",
        "b": "p",
        "mode": "fixed",
        "win": 80,
        "loss": 20,
        "draw": 0,
        "pairs": [0, 0, 20, 0, 30],
    }
    arms = ("treatment", "control") if parent else ("root",)
    entry = {"recipe": {}, "steps": 10, "seconds": 2.0}
    return judge(
        about,
        dict.fromkeys(arms, entry),
        {"0": direct} if parent else {},
        {arm: {"p": [good]} for arm in arms},
        GATE,
        parent,
        wall_clock,
    )
