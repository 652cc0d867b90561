"""The derived numbers of training, which nobody writes down and everybody pays for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from royale import rng
from royale.games.protocol import BatchedGame, Game, View
from royale.learn.plan import steps_an_iteration
from royale.learn.recipe import Recipe
from royale.project.arms import samples_kept

LOOK_TURNS = 48  # how long a few games are played at random to see who has a choice


def geometry(game: Game, train: Mapping[str, Any], recipe: Recipe) -> dict[str, int]:
    """Games, decisions, samples, passes and steps of an iteration, and of a segment.

    `samples_trained_on` is the most there can be: rows without a choice are no samples.
    An optimizer step is one forward and backward pass of a minibatch.
    """
    samples = steps_an_iteration(train["envs"], train["horizon"])
    kept = samples_kept(train, recipe)
    iterations = math.ceil(train["segment_steps"] / samples)
    steps = recipe.epochs * math.ceil(kept / recipe.minibatch)
    numbers = {
        "games_at_once": train["envs"],
        "decisions_a_game_an_iteration": 2 * train["horizon"],
        "samples_an_iteration": samples,
        "samples_trained_on": kept,
        "minibatch": recipe.minibatch,
        "forward_passes_collecting": train["horizon"] + 1,
        "forward_backward_passes_an_iteration": steps,
        "optimizer_steps_an_iteration": steps,
        "iterations_a_segment": iterations,
        "steps_asked": train["segment_steps"],
        "steps_collected": iterations * samples,
    }
    turn_ms = getattr(game, "turn_ms", None)
    if turn_ms is not None:
        turns = train["envs"] * train["horizon"]
        numbers["game_seconds_an_iteration"] = round(turns * turn_ms / 1000)
    return numbers


def choice_share(game: Game, batch: BatchedGame, turns: int = LOOK_TURNS) -> float:
    """The share of rows with more than one legal action, in games played at random.

    `batch` has dealt games and is played on; it looks at no more than `turns` turns.
    """
    spec, n = batch.spec, batch.n_games
    player = game.scripted_player("random", spec)
    codes = np.zeros((n, 2, *spec.code_shape), np.uint8)
    scalars = np.zeros((n, 2, len(spec.scalars)), np.float32)
    legal = np.zeros((n, 2, spec.n_actions), np.uint8)
    rows, chose = 0, 0
    over = np.zeros(n, bool)
    for turn in range(turns):
        batch.observe(codes, scalars, legal)
        here = legal[~over].sum(-1, dtype=np.int64)
        rows, chose = rows + here.size, chose + int((here > 1).sum())
        view = View(
            codes.reshape(2 * n, *spec.code_shape),
            scalars.reshape(2 * n, -1),
            legal.reshape(2 * n, -1),
            np.repeat(batch.turns, 2).astype(np.int32),
            rng.fold(rng.key_of("doctor"), turn, np.arange(2 * n)),
        )
        over |= batch.step(player.act(view).reshape(n, 2)).done
        if over.all():
            break
    return chose / max(1, rows)
