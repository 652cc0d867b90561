"""What the files of a project say together: the first fault in one line that names the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from royale import games
from royale.errors import ConfigError
from royale.evidence.generation import inherited
from royale.evidence.names import ARMS, ROOT_ARM
from royale.project.arms import check_arm
from royale.project.ladder import NETWORK_KEYS, Generation, root_recipe, scaled


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
            f"{at}.mode' = 'sprt' with {len(seeds)} seeds; matches that stop early cannot be "
            "pooled over seeds: use mode: fixed, or one seed (seeds: [0])"
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
            # what no arm inherits has the one value that it begins with
            values |= {key: [value] for key, value in inherited({}).items()}
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
                    f"{file}: key 'generations.{name}.treatment' = {dict(treatment)} equals its "
                    f"control {dict(control)}; the two arms must differ"
                )
            for arm, changed in generation.changes.items():
                for key, value in changed.items():
                    if key in NETWORK_KEYS and [value] != values[key]:
                        raise ConfigError(
                            f"{where[arm]}: '{key}' = {value!r} is another network than the "
                            f"parent's ({values[key][0]!r}), whose weights both arms start from; "
                            "set it in the ladder's recipe, for a ladder of its own"
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
