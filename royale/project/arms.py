"""What an arm's recipe asks for that cannot be had: known before any machine is looked at.

Needs no parent's decision and no network, so it runs with the reading of the configuration.
What a machine must be asked (memory, whether rewards arrive) is the doctor's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from royale import games
from royale.errors import ConfigError
from royale.learn.plan import steps_an_iteration
from royale.learn.recipe import Recipe, opponent_games

# Recipe keys whose change makes other rewards, and those that a machine must be asked about
# (memory, arithmetic) or that make a known mistake, which is worth a warning beforehand.
REWARD_KEYS = ("draw_reward", "shaping", "gamma")
MACHINE_KEYS = ("minibatch", "opponents", "settings", "schedule", "precision", "truncation")


def samples_kept(train: Mapping[str, Any], recipe: Recipe) -> int:
    """Samples an iteration trains on: the share `advantage_top` of its agent steps."""
    steps = steps_an_iteration(train["envs"], train["horizon"])
    return math.ceil(recipe.advantage_top * steps)


def check_arm(
    game: str,
    settings: Mapping[str, Any],
    train: Mapping[str, Any],
    device: str,
    recipe: Recipe,
) -> None:
    """Refuse a recipe that no machine can train with these sizes (ConfigError, one line)."""
    module = games.load(game)
    for share in (1.0, *(stage["until"] - 1e-9 for stage in recipe.schedule)):
        own = recipe.settings_at(share)
        try:
            module.spec({**settings, **own}, recipe.encoder)
        except ValueError as error:
            raise ConfigError(f"'settings' = {own}: {error}") from None
    if recipe.precision == "fp8":  # no device has it; only asking costs loading torch
        from royale.learn.precision import Precision

        Precision(recipe.precision, device)
    kept = samples_kept(train, recipe)
    if recipe.minibatch > kept:
        raise ConfigError(
            f"recipe key 'minibatch' is {recipe.minibatch} samples on this profile, and an "
            f"iteration trains on {kept}; the next legal minibatch is {kept} of them, or raise "
            "envs, horizon or advantage_top"
        )
    scripted = [name for name in module.scripted if name != "random"]
    if opponent_games(recipe.opponents, train["envs"])["scripted"] and not scripted:
        raise ConfigError(
            f"recipe key 'opponents.scripted': {game} has no scripted player; allowed: 0"
        )
    if recipe.symmetry == "stored_samples" and not hasattr(module, "transform"):
        raise ConfigError(
            f"recipe key 'symmetry' = 'stored_samples': {game} has no `transform`; "
            "allowed: none, per_episode"
        )


def needs_doctor(changes: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a generation's arms (arm -> recipe keys) set what only a machine can answer."""
    return any(key in REWARD_KEYS + MACHINE_KEYS for arm in changes.values() for key in arm)


def changes_rewards(changes: Mapping[str, Any]) -> bool:
    """Whether an arm's changes (recipe keys) give it rewards that its root has not."""
    return any(key in REWARD_KEYS for key in changes)
