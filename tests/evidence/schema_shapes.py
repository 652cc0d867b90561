"""The shape of a JSON value, from a type and from a schema, in one form that can be compared.

A shape is a frozenset of alternatives: `string`, `integer`, `number`, `boolean`, `null`; `any`;
("value", type name, value) of an enumeration; ("array", shape); ("map", shape) of free keys;
("object", {(key, whether it is required, shape)}). Ranges and lengths are no part of it.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NotRequired, Union, is_typeddict

ANY = frozenset(["any"])
SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _values(values) -> frozenset:
    return frozenset("null" if v is None else ("value", type(v).__name__, v) for v in values)


def of_type(kind: Any) -> frozenset:
    """The shape of a type: scalars, Literal, unions, list, dict with text keys, TypedDict."""
    if kind is Any:
        return ANY
    if kind in SCALARS:
        return frozenset([SCALARS[kind]])
    if is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return frozenset([("object", frozenset(_field(*item) for item in hints.items()))])
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return _values(arguments)
    if origin in (Union, types.UnionType):
        return frozenset().union(*map(of_type, arguments))
    if origin is list:
        return frozenset([("array", of_type(arguments[0]))])
    if origin is dict and arguments[0] is str:
        return frozenset([("map", of_type(arguments[1]))])
    raise TypeError(f"no JSON value is a {kind}")


def _field(key: str, kind: Any) -> tuple[str, bool, frozenset]:
    optional = typing.get_origin(kind) is NotRequired
    return key, not optional, of_type(typing.get_args(kind)[0] if optional else kind)


def of_schema(rules: Mapping[str, Any], whole: Mapping[str, Any]) -> frozenset:
    """The shape that a schema's rules allow; `whole` is the schema that `$ref` looks into."""
    if "$ref" in rules:
        name = rules["$ref"].removeprefix("#/$defs/")
        return of_schema(whole["$defs"][name], whole)
    if "anyOf" in rules:
        return frozenset().union(*(of_schema(one, whole) for one in rules["anyOf"]))
    if "enum" in rules:
        return _values(rules["enum"])
    if "type" not in rules:
        return ANY
    names = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
    return frozenset(_alternative(name, rules, whole) for name in names)


def _alternative(name: str, rules: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    if name == "array":
        items = [*rules.get("prefixItems", []), *filter(None, [rules.get("items")])]
        inner = [of_schema(item, whole) for item in items]
        return "array", frozenset().union(*inner) if inner else ANY
    if name != "object":
        return name
    more = rules.get("additionalProperties", True)
    if "properties" not in rules:
        return "map", ANY if more is True else of_schema(more, whole)
    assert more is False, f"known keys and others beside them: {rules}"
    needed = rules.get("required", [])
    assert set(needed) <= set(rules["properties"]), needed
    return "object", frozenset(
        (key, key in needed, of_schema(rule, whole)) for key, rule in rules["properties"].items()
    )


def parts(kind: Any) -> Iterator[type]:
    """The TypedDicts of a type: itself and those of its fields."""
    if is_typeddict(kind):
        yield kind
        for inner in typing.get_type_hints(kind).values():
            yield from parts(inner)
    for argument in typing.get_args(kind):
        yield from parts(argument)


def fields(kind: type) -> frozenset:
    """The fields of a TypedDict: key, whether it is required, shape."""
    ((_, found),) = of_type(kind)
    return found


def file_types(module: types.ModuleType) -> dict[str, type]:
    """schema -> the type of a module whose docstring says that it is that whole schema."""
    found = {}
    for kind in vars(module).values():
        whole = re.match(r"A whole `([\w/]+)\.schema\.yaml`", getattr(kind, "__doc__", "") or "")
        if is_typeddict(kind) and whole:
            found[whole[1]] = kind
    return found
