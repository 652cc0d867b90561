"""Loading a project: everything a user can edit is checked, and the first fault told in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from royale import games
from royale.arms import check_arm
from royale.config import load_config, load_ladder, load_profile
from royale.errors import ConfigError
from royale.ladder import (
    ARMS,
    DEFAULT_PROFILE,
    NETWORK_KEYS,
    ROOT_ARM,
    Generation,
    Project,
    root_recipe,
    scaled,
)


def load_project(config: Mapping[str, Any], root: Path) -> Project:
    """Check everything a user can edit; ConfigError tells the first fault in one line."""
    config = load_config(config)
    profile = load_profile(config["profile"], root)
    wall_clock = profile["wall_clock"] if config["wall_clock"] is None else config["wall_clock"]
    generations: dict[str, Generation] = {}
    sanity, recipes = {}, {}
    for name in config["ladders"]:
        file = f"config/ladders/{name}.yaml"
        ladder = load_ladder(name, root)
        if ladder["game"] not in profile["per_game"]:
            raise ConfigError(
                f"config/profiles/{config['profile']}.yaml: key 'per_game.{ladder['game']}' is missing; "
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
                f"config/profiles/{config['profile']}.yaml: key 'per_game.{ladder['game']}.train."
                "segments.arm' = 1; wall_clock: true needs at least 2 (split segment_steps), or set "
                "wall_clock: false"
            )
        check_recipes(own, ladder, sizes, file, config["profile"], profile)
        generations.update(own)
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
    )


def check_game(
    ladder: Mapping[str, Any], sizes: Mapping[str, Any], file: str, profile_name: str
) -> None:
    """Refuse names and settings that the game itself does not know."""
    game = games.load(ladder["game"])
    for name in ladder["sanity"]:
        if name not in game.scripted:
            raise ConfigError(
                f"{file}: key 'sanity' has {name!r}; allowed: {', '.join(game.scripted)}"
            )
    for key in sorted(set(ladder["recipe"]) & set(sizes["recipe"])):
        raise ConfigError(
            f"{file}: key 'recipe.{key}' is also set in config/profiles/{profile_name}.yaml "
            f"(per_game.{ladder['game']}.recipe.{key}); remove one of the two"
        )
    recipe = root_recipe(ladder["recipe"], sizes)
    try:
        spec = game.spec(sizes["settings"], recipe["encoder"])
    except ValueError as error:
        raise ConfigError(
            f"config/profiles/{profile_name}.yaml with {file}: game {ladder['game']}: {error}"
        ) from None
    arms = [entry.get(arm, {}) for entry in ladder["generations"].values() for arm in ARMS]
    for plane in {plane for some in (recipe, *arms) for plane in some.get("explore_plane", {})}:
        if plane not in spec.action_planes:
            raise ConfigError(
                f"{file}: key 'explore_plane.{plane}'; allowed: {', '.join(spec.action_planes)}"
            )
    for name in {name for some in (recipe, *arms) for name in some.get("shaping", {})}:
        if name not in spec.potentials:
            raise ConfigError(
                f"{file} or config/profiles/{profile_name}.yaml: key 'shaping.{name}'; "
                f"allowed: {', '.join(spec.potentials)}"
            )


def check_sequential(match: Mapping[str, Any], seeds: Sequence[int]) -> Mapping[str, Any]:
    """Refuse a sequential test that cannot decide, or that would be pooled over seeds."""
    at = "config/config.yaml: key 'match"
    if match["elo1"] <= match["elo0"]:
        raise ConfigError(f"{at}.elo1' = {match['elo1']}; allowed: > elo0 = {match['elo0']}")
    if match["mode"] == "sprt" and len(seeds) > 1:
        raise ConfigError(
            f"{at}.mode' = 'sprt' with {len(seeds)} seeds; matches that stop early cannot be pooled "
            "over seeds: use mode: fixed, or one seed (seeds: [0])"
        )
    return match


def check_panel(
    panel: Mapping[str, Any], generations: Mapping[str, Generation], external: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Refuse a panel without an anchor for a ladder's game, or with a name that is taken."""
    at = "config/config.yaml: key 'panel"
    for game in dict.fromkeys(generation.game for generation in generations.values()):
        scripted, anchor = games.load(game).scripted, panel["anchor"].get(game)
        if anchor not in scripted:
            raise ConfigError(f"{at}.anchor.{game}' = {anchor!r}; allowed: {', '.join(scripted)}")
        for name, member in panel["members"].items():
            if member["game"] not in games.REGISTRY:
                raise ConfigError(
                    f"{at}.members.{name}.game' = {member['game']!r}; "
                    f"allowed: {', '.join(sorted(games.REGISTRY))}"
                )
            if name in scripted or name in external:
                raise ConfigError(f"{at}.members.{name}' is another player's name; choose another")
    return panel


def check_external(players: Mapping[str, Any], profile: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse external players of no known game, or with a scripted player's name."""
    for name, player in players.items():
        at = f"config/config.yaml: key 'players.{name}"
        if player["game"] not in profile["per_game"]:
            known = ", ".join(profile["per_game"])
            raise ConfigError(f"{at}.game' = {player['game']!r}; allowed: {known}")
        game = games.load(player["game"])
        if not game.programs:
            raise ConfigError(
                f"{at}.game' = {player['game']!r}, a game that programs cannot play; remove it"
            )
        if name in game.scripted:
            raise ConfigError(f"{at}' is the name of a scripted player; choose another")
    return players


def check_graph(name: str, ladder: Mapping[str, Any], file: str) -> dict[str, Generation]:
    """The generations of a ladder, parents before children; ConfigError on a bad graph."""
    entries = ladder["generations"]
    root = ladder["root"]
    if root not in entries:
        raise ConfigError(f"{file}: key 'root' = {root!r}; allowed: {', '.join(entries)}")
    if "parent" in entries[root]:
        raise ConfigError(
            f"{file}: key 'generations.{root}.parent' is set, but {root} is the root; remove it"
        )
    for generation, entry in entries.items():
        if generation != root and "parent" not in entry:
            raise ConfigError(
                f"{file}: key 'generations.{generation}.parent' is missing; only the root {root} has none"
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
                    f"{file}: key 'generations.{generation}.parent' = {entries[generation]['parent']!r} "
                    f"closes a cycle: {ring}; a ladder ends at its root {root}"
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


def check_recipes(
    generations: Mapping[str, Generation],
    ladder: Mapping[str, Any],
    sizes: Mapping[str, Any],
    file: str,
    profile_name: str,
    profile: Mapping[str, Any],
) -> None:
    """Refuse an arm that equals its control, whichever parent is promoted, or does not fit.

    Each champion's recipe is one of a few, since each promotion takes an arm or
    the parent; the possible values are followed key by key.
    """
    profile_file = f"config/profiles/{profile_name}.yaml"
    possible: dict[str, dict[str, list]] = {}
    for name, generation in generations.items():
        if generation.parent is None:
            values = {key: [value] for key, value in root_recipe(ladder["recipe"], sizes).items()}
            where = {ROOT_ARM: f"{file}: key 'recipe', with {profile_file}"}
        else:
            values = {key: list(options) for key, options in possible[generation.parent].items()}
            where = {arm: f"{file}: key 'generations.{name}.{arm}'" for arm in ARMS}
            treatment, control = (generation.changes[arm] for arm in ARMS)
            keys = set(treatment) | set(control)
            if all(
                (values[key] if key not in treatment else [treatment[key]])
                == (values[key] if key not in control else [control[key]])
                and (len(values[key]) == 1 or (key in treatment) == (key in control))
                for key in keys
            ):
                raise ConfigError(
                    f"{file}: key 'generations.{name}.treatment' = {dict(treatment)} equals its control "
                    f"{dict(control)}; the two arms must differ"
                )
            for arm, changed in generation.changes.items():
                for key, value in changed.items():
                    if key in NETWORK_KEYS and [value] != values[key]:
                        raise ConfigError(
                            f"{where[arm]}: '{key}' = {value!r} is another network than the parent's "
                            f"({values[key][0]!r}), whose weights both arms start from; set it in the "
                            "ladder's recipe, for a ladder of its own"
                        )
                    if value not in values[key]:
                        values[key].append(value)
        possible[name] = values
        base = {key: options[0] for key, options in values.items()}
        for arm, changes in generation.changes.items():
            try:
                recipe = scaled({**base, **changes}, sizes["scale"])
                if recipe.overlap and profile["processes"] > 1:
                    raise ConfigError(
                        f"'overlap' = true needs one process; {profile_file} has processes = "
                        f"{profile['processes']}"
                    )
                sizes_of = sizes["settings"], sizes["train"]
                check_arm(generation.game, *sizes_of, profile["device"], recipe)
            except ConfigError as error:
                raise ConfigError(f"{where[arm]}: {error}") from None
