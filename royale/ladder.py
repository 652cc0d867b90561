"""The graph of generations: who trains from whom, with what, and who plays whom.

An arm's recipe is its parent champion's recipe with the arm's changes. Which
recipe that is is known only once the parent is decided, so it travels in the
ladder files and the graph itself stays fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from royale.errors import ConfigError
from royale.files import schema
from royale.learn.recipe import Recipe

ROOT_ARM = "root"
# Both arms start from their parent's weights, so these are the root's to set.
NETWORK_KEYS = ("encoder", "channels", "blocks", "value_head")
ARMS = ("treatment", "control")
# The profile that owns `results/` itself; every other writes below `results/<profile>/`.
DEFAULT_PROFILE = "laptop"


@dataclass(frozen=True)
class Generation:
    """One question of a ladder."""

    name: str
    ladder: str
    game: str
    question: str
    parent: str | None  # None for the root
    changes: Mapping[str, Mapping[str, Any]]  # arm -> recipe keys it sets

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms, the treatment first."""
        return tuple(self.changes)


@dataclass(frozen=True)
class Project:
    """The whole checked configuration, as the rules ask for it."""

    profile_name: str
    profile: Mapping[str, Any]
    results: str  # the folder this profile's results are written below
    seeds: tuple[int, ...]
    games: int  # games a match
    wall_clock: bool  # whether the arms also meet at equal wall clock
    panel: Mapping[str, Any]  # anchor by game, members by name
    match: Mapping[str, Any]  # mode, and the sequential test's numbers
    evidence: Mapping[str, Any]
    generations: Mapping[str, Generation]
    sanity: Mapping[str, Sequence[str]]  # ladder -> scripted players the root meets
    external: Mapping[str, Mapping[str, Any]]  # name -> game, command, limit_ms
    recipes: Mapping[str, Mapping[str, Any]]  # ladder -> its root's recipe, at paper scale
    target: str  # whose defeat ends the time to target: `parent`, or a player's name
    sections: tuple[str, ...]  # what the report measures beyond the ladder

    def sizes(self, game: str) -> Mapping[str, Any]:
        """The machine profile's entry for a game."""
        return self.profile["per_game"][game]

    def geometry(self, game: str) -> dict[str, int]:
        """The numbers that a segment's training depends on; how many segments is not one."""
        train = self.sizes(game)["train"]
        return {key: train[key] for key in ("envs", "horizon", "segment_steps")}

    def arm_geometry(self, generation: str) -> dict[str, int]:
        """`geometry`, with all the steps of an arm where the ladder has a schedule over them."""
        entry = self.generations[generation]
        train = self.geometry(entry.game)
        recipes = [self.root_recipe(generation)]
        for other in self.generations.values():
            recipes += other.changes.values() if other.ladder == entry.ladder else ()
        if any(recipe.get("schedule") for recipe in recipes):
            train["arm_steps"] = self.segments(generation) * train["segment_steps"]
        return train

    def root_recipe(self, generation: str) -> Mapping[str, Any]:
        """The recipe of the root of a generation's ladder, at paper scale."""
        return self.recipes[self.generations[generation].ladder]

    def roots(self) -> dict[str, dict[str, Any]]:
        """ladder -> its root as it is trained: what preflight and bench build."""
        return {
            generation.ladder: {
                "game": generation.game,
                "recipe": dict(self.root_recipe(name)),
                "settings": self.sizes(generation.game)["settings"],
                "train": self.geometry(generation.game),
                "scale": self.sizes(generation.game)["scale"],
            }
            for name, generation in self.generations.items()
            if generation.parent is None
        }

    def segments(self, generation: str) -> int:
        """How many segments each arm of a generation is trained for."""
        entry = self.generations[generation]
        which = "arm" if entry.parent else "root"
        return self.sizes(entry.game)["train"]["segments"][which]

    def lineage(self, generation: str) -> list[str]:
        """A generation and its ancestors, the root first."""
        names = [generation]
        while parent := self.generations[names[0]].parent:
            names.insert(0, parent)
        return names

    def players(self, generation: str) -> list[str]:
        """Names of the networks a generation trains, arms first, then seeds."""
        arms = self.generations[generation].arms
        return [f"{generation}.{arm}.seed{seed}" for arm in arms for seed in self.seeds]

    def direct_matches(self, generation: str) -> list[str]:
        """Names of the treatment-versus-control matches, one a seed (none for the root)."""
        if not self.generations[generation].parent:
            return []
        return [
            f"{generation}.treatment.seed{seed}-vs-{generation}.control.seed{seed}"
            for seed in self.seeds
        ]

    def wall_clock_matches(self, generation: str) -> list[str]:
        """Names of the treatment-versus-control matches at equal wall clock, if asked for."""
        if not self.wall_clock or not self.generations[generation].parent:
            return []
        return [
            "-vs-".join(f"{generation}.{arm}.seed{seed}.wall_clock" for arm in ARMS)
            for seed in self.seeds
        ]

    def ladder_matches(self, generation: str) -> set[str]:
        """Names of all matches that a generation's ladder file is made from."""
        if generation not in self.generations:
            return set()
        arms = self.generations[generation].arms
        return {
            *self.direct_matches(generation),
            *self.wall_clock_matches(generation),
            *(match for arm in arms for match in self.parent_matches(generation, arm)),
        }

    def parent_matches(self, generation: str, arm: str) -> list[str]:
        """Names of an arm's matches against the frozen parent; the root's against scripted players."""
        entry = self.generations[generation]
        rivals = [f"{entry.parent}.champion"] if entry.parent else self.sanity[entry.ladder]
        return [
            f"{generation}.{arm}.seed{seed}-vs-{rival}" for rival in rivals for seed in self.seeds
        ]


def root_recipe(ladder_recipe: Mapping[str, Any], sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The root's recipe at paper scale: schema defaults, then the ladder's, then the profile's."""
    defaults = {key: rule["default"] for key, rule in schema("recipe")["properties"].items()}
    return {**defaults, **ladder_recipe, **sizes["recipe"]}


def scaled(recipe: Mapping[str, Any], scale: Mapping[str, float]) -> Recipe:
    """The recipe that is really used on this machine.

    ConfigError if the minibatch is not whole or the entropy floor not below 1.
    """
    minibatch = recipe["minibatch"] * scale["minibatch"]
    if minibatch != int(minibatch) or minibatch < 1:
        down = max(int(minibatch), 1) / scale["minibatch"]
        raise ConfigError(
            f"recipe key 'minibatch' = {recipe['minibatch']} times the profile's scale.minibatch "
            f"{scale['minibatch']} is {minibatch:g}, not a whole number; the next legal value is {down:g}"
        )
    floor = recipe["entropy_floor"] * scale["entropy_floor"]
    if not floor < 1:
        raise ConfigError(
            f"recipe key 'entropy_floor' = {recipe['entropy_floor']} times the profile's "
            f"scale.entropy_floor {scale['entropy_floor']} is {floor:g}; allowed: < 1"
        )
    return Recipe.from_dict({**recipe, "minibatch": int(minibatch), "entropy_floor": floor})
