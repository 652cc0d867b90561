"""Reading and checking what users edit: config.yaml, machine profiles, ladder files.

Every error is one line that names the file, the key, the value and what is allowed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from royale.errors import ConfigError
from royale.evidence.names import ARMS
from royale.games import REGISTRY, settings_schema
from royale.schemas import check, schema


class _Loader(yaml.SafeLoader):
    """YAML that refuses a key written twice: the first would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.YAMLError(f"line {key_node.start_mark.line + 1}: {key!r} is no text key")
            if key in seen:
                raise yaml.YAMLError(f"line {key_node.start_mark.line + 1}: {key!r} appears twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(root: Path, name: Path) -> dict[str, Any]:
    """Read the YAML mapping in file `name` below `root`; ConfigError names it if there is none."""
    path = root / name
    try:
        value = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read ({error.strerror})") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1
        raise ConfigError(f"{name}: not YAML: line {line}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{name}: a mapping of keys to values is needed, not {value!r:.60}")
    return value


def names(root: Path, kind: str) -> list[str]:
    """The names of the files `config/<kind>/*.yaml` (profiles, ladders), in order."""
    return sorted(path.stem for path in (root / "config" / kind).glob("*.yaml"))


def _named_file(root: Path, kind: str, name: Any, file: str | Path, key: str) -> Path:
    """The file `config/<kind>/<name>.yaml`, below root; ConfigError tells which there are."""
    there = names(root, kind)
    if name not in there:
        raise ConfigError(
            f"{file}: key '{key}' = {name!r}; allowed: {', '.join(there)} (files of config/{kind})"
        )
    return Path("config", kind, f"{name}.yaml")


def _typed(value: Any) -> Any:
    """The value with texts that are YAML numbers turned into numbers."""
    if isinstance(value, Mapping):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    if isinstance(value, str):
        with contextlib.suppress(yaml.YAMLError):
            read = yaml.safe_load(value)
            return read if isinstance(read, int | float) else value
    return value


def load_config(
    config: Mapping[str, Any], file: str | Path = "config/config.yaml"
) -> dict[str, Any]:
    """Check the merged config (the file, then `--config`); returns it as a plain dict."""
    # Snakemake leaves numbers inside lists of --config as text; commands and digests are texts
    texts = ("players", "panel")
    config = {key: value if key in texts else _typed(value) for key, value in config.items()}
    check(config, schema("config"), f"{file} or --config")
    return config


def check_recipe(recipe: Mapping[str, Any], game: str, file: str | Path, at: str) -> None:
    """Check recipe keys, `settings` as a part of the game's; ConfigError as `check`."""
    check(recipe, schema("recipe"), file, at)
    rules = yaml.safe_load(settings_schema(game).read_text())
    rules = {**rules, "required": []}
    check(recipe.get("settings", {}), rules, file, f"{at}.settings")
    for k, stage in enumerate(recipe.get("schedule", [])):
        check(stage["settings"], rules, file, f"{at}.schedule.{k}.settings")


def load_profile(
    name: str, root: Path, config_file: str | Path = "config/config.yaml"
) -> dict[str, Any]:
    """Read and check `config/profiles/<name>.yaml` with each game's settings and recipe keys."""
    path = _named_file(root, "profiles", name, config_file, "profile")
    profile = read_yaml(root, path)
    check(profile, schema("profile"), path)
    if profile["determinism"] == "run_exact" and profile["processes"] > 1:
        raise ConfigError(
            f"{path}: key 'processes' = {profile['processes']} with determinism run_exact; "
            "allowed: 1"
        )
    if profile["determinism"] == "run_exact" and profile["threads"]["train"] > 1:
        raise ConfigError(
            f"{path}: key 'threads.train' = {profile['threads']['train']} with determinism "
            "run_exact; allowed: 1"
        )
    for game, sizes in profile["per_game"].items():
        if game not in REGISTRY:
            raise ConfigError(
                f"{path}: key 'per_game.{game}'; allowed: {', '.join(sorted(REGISTRY))}"
            )
        check(
            sizes["settings"],
            yaml.safe_load(settings_schema(game).read_text()),
            path,
            f"per_game.{game}.settings",
        )
        check_recipe(sizes["recipe"], game, path, f"per_game.{game}.recipe")
        envs, processes = sizes["train"]["envs"], profile["processes"]
        if envs % processes:
            raise ConfigError(
                f"{path}: key 'per_game.{game}.train.envs' = {envs}; allowed: a multiple of "
                f"'processes' = {processes}, which share them"
            )
    return profile


def load_ladder(
    name: str, root: Path, config_file: str | Path = "config/config.yaml"
) -> dict[str, Any]:
    """Read and check `config/ladders/<name>.yaml`, the values of every key; not the graph."""
    path = _named_file(root, "ladders", name, config_file, "ladders")
    ladder = read_yaml(root, path)
    check(ladder, schema("ladder"), path)
    if ladder["game"] not in REGISTRY:
        raise ConfigError(
            f"{path}: key 'game' = {ladder['game']!r}; allowed: {', '.join(sorted(REGISTRY))}"
        )
    check_recipe(ladder["recipe"], ladder["game"], path, "recipe")
    for generation, entry in ladder["generations"].items():
        for arm in ARMS:
            changes, at = entry.get(arm, {}), f"generations.{generation}.{arm}"
            check_recipe(changes, ladder["game"], path, at)
    return ladder
