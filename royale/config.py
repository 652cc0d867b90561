"""Reading and checking what users edit: config.yaml, machine profiles, ladder files.

Every error is one line that names the file, the key, the value and what is allowed.
"""

from __future__ import annotations

import contextlib
import difflib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from royale.errors import ConfigError
from royale.files import schema
from royale.games import REGISTRY, settings_schema

# Beyond this an integer is no size of anything here, and no longer fits where it goes.
MOST = 2**53


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


def check(
    value: Mapping[str, Any], rules: Mapping[str, Any], file: str | Path, at: str = ""
) -> None:
    """Check a value against a JSON schema; ConfigError tells the worst fault in one line.

    `at` is the key under which the value stands in the file.
    """
    for key, number in _numbers(value, at):
        if isinstance(number, float) and not math.isfinite(number):
            raise ConfigError(f"{file}: key '{key}' = {number}; allowed: a finite number")
        if abs(number) > MOST:
            raise ConfigError(
                f"{file}: key '{key}' = {str(number)[:20]}...; allowed: at most {MOST}"
            )
    validator = jsonschema.Draft202012Validator(rules)
    error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    if error is None:
        return
    key = ".".join([*([at] if at else []), *(str(part) for part in error.absolute_path)])
    raise ConfigError(f"{file}: {_explain(error, key)}")


def _numbers(value: Any, at: str) -> Iterator[tuple[str, int | float]]:
    """Every number in a value, with the key it stands under."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield at, value
    elif isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, inner in pairs:
            yield from _numbers(inner, f"{at}.{key}" if at else str(key))


def _explain(error: jsonschema.ValidationError, key: str) -> str:
    value, limit = f"{error.instance!r:.60}", error.validator_value
    named = f"key '{key}'" if key else "the file"
    match error.validator:
        case "additionalProperties":
            allowed = sorted(error.schema.get("properties", {}))
            unknown = next(name for name in error.instance if name not in allowed)
            near = difflib.get_close_matches(str(unknown), allowed, 1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            full = f"{key}.{unknown}" if key else str(unknown)
            return f"unknown key '{full}' = {error.instance[unknown]!r:.60}; {hint}allowed: {', '.join(allowed)}"
        case "required":
            missing = next(name for name in limit if name not in error.instance)
            full = f"{key}.{missing}" if key else missing
            what = error.schema.get("properties", {}).get(missing, {}).get("description", "")
            return f"key '{full}' is missing" + (f" ({what})" if what else "")
        case "dependentRequired":
            have, missing = next(
                (have, name)
                for have, names in limit.items()
                if have in error.instance
                for name in names
                if name not in error.instance
            )
            return f"{named} has '{have}' but no '{missing}'; give both, or neither for the root"
        case "enum":
            return f"{named} = {value}; allowed: {', '.join(map(str, limit))}"
        case "type":
            wanted = " or ".join(limit) if isinstance(limit, list) else limit
            return f"{named} = {value}; allowed: a value of type {wanted}"
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            sign = {
                "minimum": ">=",
                "exclusiveMinimum": ">",
                "maximum": "<=",
                "exclusiveMaximum": "<",
            }
            return f"{named} = {value}; allowed: {sign[error.validator]} {limit}"
        case "multipleOf":
            return f"{named} = {value}; allowed: a multiple of {limit}"
        case "minItems" | "minProperties":
            return (
                f"{named} = {value}; allowed: at least {limit} entr{'y' if limit == 1 else 'ies'}"
            )
        case "uniqueItems":
            return f"{named} = {value}; allowed: no entry twice"
        case "anyOf":
            # best_match could not tell which alternative was meant: tell them all
            texts = [
                _explain(sub, key).split("; allowed: ")[-1]
                for sub in error.context
                if len(sub.absolute_path) == len(error.absolute_path)
            ]
            return f"{named} = {value}; allowed: {', or '.join(texts)}"
        case "pattern":
            return f"{named} = {value}; allowed: text of the form {limit}"
        case _:
            return f"{named} = {value}; {error.message}"


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
            f"{path}: key 'processes' = {profile['processes']} with determinism run_exact; allowed: 1"
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
        for arm in ("treatment", "control"):
            changes, at = entry.get(arm, {}), f"generations.{generation}.{arm}"
            check_recipe(changes, ladder["game"], path, at)
    return ladder
