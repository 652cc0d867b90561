"""The whole checked configuration, as the rules ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from royale.errors import ConfigError
from royale.evidence.names import ARMS, MatchName, PlayerName
from royale.project.checks import (
    check_external,
    check_game,
    check_panel,
    check_recipes,
    check_sequential,
)
from royale.project.config import load_config, load_ladder, load_profile
from royale.project.ladder import Generation, check_graph, root_recipe

# The profile that owns `results/` itself; every other writes below `results/<profile>/`.
DEFAULT_PROFILE = "laptop"


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
    index: str  # the generation that the report's index page is of

    def sizes(self, game: str) -> Mapping[str, Any]:
        """The machine profile's entry for a game."""
        return self.profile["per_game"][game]

    def geometry(self, game: str) -> dict[str, int]:
        """The numbers that a segment's training depends on; how many segments is not one."""
        train = self.sizes(game)["train"]
        return {key: train[key] for key in ("envs", "horizon", "segment_steps")}

    def arm_geometry(self, generation: str) -> dict[str, int]:
        """`geometry`, with all the steps of an arm where one has a schedule over them."""
        entry = self.generations[generation]
        train = self.geometry(entry.game)
        recipes = entry.changes.values() if entry.parent else [self.root_recipe(generation)]
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

    def players(self, generation: str) -> list[PlayerName]:
        """The networks a generation trains, arms first, then seeds."""
        arms = self.generations[generation].arms
        return [PlayerName.of_arm(generation, arm, seed) for arm in arms for seed in self.seeds]

    def direct_matches(self, generation: str, wall_clock: bool = False) -> list[MatchName]:
        """Treatment against control, one match a seed; none for the root.

        wall_clock: those at equal wall clock; none if they are not asked for.
        """
        if not self.generations[generation].parent or (wall_clock and not self.wall_clock):
            return []
        return [
            MatchName(
                *(PlayerName.of_arm(generation, arm, seed, wall_clock=wall_clock) for arm in ARMS)
            )
            for seed in self.seeds
        ]

    def parent_matches(self, generation: str, arm: str) -> list[MatchName]:
        """An arm's matches against the frozen parent; the root's against scripted players."""
        entry = self.generations[generation]
        rivals = [PlayerName.named(name) for name in self.sanity[entry.ladder]]
        if entry.parent:
            rivals = [PlayerName.champion(entry.parent)]
        return [
            MatchName(PlayerName.of_arm(generation, arm, seed), rival)
            for rival in rivals
            for seed in self.seeds
        ]

    def ladder_matches(self, generation: str) -> set[MatchName]:
        """All matches that a generation's ladder file is made from."""
        return {
            *self.direct_matches(generation),
            *self.direct_matches(generation, wall_clock=True),
            *(
                match
                for arm in self.generations[generation].arms
                for match in self.parent_matches(generation, arm)
            ),
        }


def load_project(config: Mapping[str, Any], root: Path) -> Project:
    """Check everything a user can edit; ConfigError tells the first fault in one line."""
    config = load_config(config)
    profile = load_profile(config["profile"], root)
    profile_file = f"config/profiles/{config['profile']}.yaml"
    wall_clock = profile["wall_clock"] if config["wall_clock"] is None else config["wall_clock"]
    generations: dict[str, Generation] = {}
    sanity, recipes = {}, {}
    for name in config["ladders"]:
        file = f"config/ladders/{name}.yaml"
        ladder = load_ladder(name, root)
        if ladder["game"] not in profile["per_game"]:
            raise ConfigError(
                f"{profile_file}: key 'per_game.{ladder['game']}' is missing; "
                f"{file} plays that game"
            )
        check_game(ladder, profile["per_game"][ladder["game"]], file, config["profile"])
        own = check_graph(name, ladder, file)
        for twice in sorted(set(own) & set(generations)):
            raise ConfigError(
                f"{file}: key 'generations.{twice}' is also in config/ladders/"
                f"{generations[twice].ladder}.yaml; names must differ, as they name the results"
            )
        sizes = profile["per_game"][ladder["game"]]
        if wall_clock and sizes["train"]["segments"]["arm"] < 2:
            raise ConfigError(
                f"{profile_file}: key 'per_game.{ladder['game']}.train.segments.arm' = 1; "
                "wall_clock: true needs at least 2 (split segment_steps), or set wall_clock: false"
            )
        check_recipes(own, ladder, sizes, file, config["profile"], profile)
        generations.update(own)
        index = ladder.get("index", list(own)[-1])  # of several ladders the last one's
        sanity[name] = tuple(ladder["sanity"])
        recipes[name] = root_recipe(ladder["recipe"], sizes)
    default = config["profile"] == DEFAULT_PROFILE
    return Project(
        profile_name=config["profile"],
        profile=profile,
        results="results" if default else f"results/{config['profile']}",
        seeds=tuple(config["seeds"] or profile["seeds"]),
        games=config["games"] or profile["games"],
        wall_clock=wall_clock,
        match=check_sequential(config["match"], config["seeds"] or profile["seeds"]),
        evidence=config["evidence"],
        generations=generations,
        sanity=sanity,
        external=check_external(config["players"], profile),
        panel=check_panel(config["panel"], generations, config["players"]),
        recipes=recipes,
        target=config["target"],
        sections=tuple(config["report"]),
        index=index,
    )
