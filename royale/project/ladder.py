"""The graph of generations: who trains from whom, with what, and who plays whom.

An arm's recipe is its parent champion's recipe with the arm's changes. Which
recipe that is is known only once the parent is decided, so it travels in the
ladder files and the graph itself stays fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from royale.errors import ConfigError
from royale.evidence.names import ARMS, ROOT_ARM
from royale.learn.recipe import Recipe
from royale.schemas import schema

# Both arms start from their parent's weights, so these are the root's to set.
NETWORK_KEYS = ("encoder", "channels", "blocks", "value_head")


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
            f"{scale['minibatch']} is {minibatch:g}, not a whole number; the next legal "
            f"value is {down:g}"
        )
    floor = recipe["entropy_floor"] * scale["entropy_floor"]
    if not floor < 1:
        raise ConfigError(
            f"recipe key 'entropy_floor' = {recipe['entropy_floor']} times the profile's "
            f"scale.entropy_floor {scale['entropy_floor']} is {floor:g}; allowed: < 1"
        )
    return Recipe.from_dict({**recipe, "minibatch": int(minibatch), "entropy_floor": floor})


def check_graph(name: str, ladder: Mapping[str, Any], file: str) -> dict[str, Generation]:
    """The generations of a ladder, parents before children; ConfigError on a bad graph."""
    entries = ladder["generations"]
    root = ladder["root"]
    if "index" in entries:  # results/report/index.html is the page of whichever is chosen
        raise ConfigError(f"{file}: key 'generations.index': choose another name for it")
    if root not in entries:
        raise ConfigError(f"{file}: key 'root' = {root!r}; allowed: {', '.join(entries)}")
    index = ladder.get("index", root)
    if index not in entries:
        raise ConfigError(f"{file}: key 'index' = {index!r}; allowed: {', '.join(entries)}")
    if "parent" in entries[root]:
        raise ConfigError(
            f"{file}: key 'generations.{root}.parent' is set, but {root} is the root; remove it"
        )
    for generation, entry in entries.items():
        if generation != root and "parent" not in entry:
            raise ConfigError(
                f"{file}: key 'generations.{generation}.parent' is missing; "
                f"only the root {root} has none"
            )
        if entry.get("parent", root) not in entries:
            raise ConfigError(
                f"{file}: key 'generations.{generation}.parent' = {entry['parent']!r}; "
                f"allowed: {', '.join(other for other in entries if other != generation)}"
            )
    ordered: dict[str, Generation] = {}
    for generation in entries:
        chain = [generation]
        while "parent" in entries[chain[-1]]:
            parent = entries[chain[-1]]["parent"]
            if parent in chain:
                ring = " -> ".join([*chain[chain.index(parent) :], parent])
                raise ConfigError(
                    f"{file}: key 'generations.{generation}.parent' = "
                    f"{entries[generation]['parent']!r} closes a cycle: {ring}; a ladder ends at "
                    f"its root {root}"
                )
            chain.append(parent)
        for member in reversed(chain):
            entry = entries[member]
            arms = {arm: entry[arm] for arm in ARMS} if "parent" in entry else {ROOT_ARM: {}}
            ordered.setdefault(
                member,
                Generation(
                    member,
                    name,
                    ladder["game"],
                    " ".join(entry["question"].split()),  # one line, however YAML folds it
                    entry.get("parent"),
                    arms,
                ),
            )
    return ordered
