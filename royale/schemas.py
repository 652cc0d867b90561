"""The schemas of everything that is read, and the worst fault of a value in one line."""

from __future__ import annotations

import difflib
import functools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from royale.errors import ConfigError

SCHEMAS = Path(__file__).resolve().parents[1] / "workflow" / "schemas"
# Beyond this an integer is no size of anything here, and no longer fits where it goes.
MOST = 2**53


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """The schema `workflow/schemas/<name>.schema.yaml`."""
    return yaml.safe_load((SCHEMAS / f"{name}.schema.yaml").read_text())


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
            found = f"unknown key '{full}' = {error.instance[unknown]!r:.60}"
            return f"{found}; {hint}allowed: {', '.join(allowed)}"
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
