"""The types of records and the schemas of their files say the same."""

from __future__ import annotations

import copy
from typing import NotRequired, is_typeddict

import pytest
from schema_shapes import fields, file_types, of_schema, of_type, parts

from royale.evidence import ladder_records, records
from royale.report import records as report_records
from royale.schemas import schema

MODULES = (records, ladder_records, report_records)
TYPES = {name: kind for module in MODULES for name, kind in file_types(module).items()}


def test_every_kind_of_file_has_a_type():
    evidence = "bench_learning ladder match panel round_robin target wall_clock watch"
    of_report = "bench_arms costs identity"
    files = {f"files/{name}" for name in f"{evidence} {of_report}".split()}
    assert set(TYPES) == {*files, "rentals"}


@pytest.mark.parametrize("name", sorted(TYPES))
def test_type_and_schema_are_the_same(name):
    rules = schema(name)
    assert of_type(TYPES[name]) == of_schema(rules, rules)


def test_every_type_is_part_of_a_file():
    used = {part for kind in TYPES.values() for part in parts(kind)}
    defined = {kind for module in MODULES for kind in vars(module).values() if is_typeddict(kind)}
    for kind in defined - used - {report_records.Job}:
        # one that others are made from
        assert any(fields(kind) <= fields(part) for part in used), kind


def objects(rules, path=()):
    """Every object of known keys in a schema, as its path."""
    if isinstance(rules, dict):
        if rules.get("type") == "object" and "properties" in rules:
            yield path
        for key, inner in rules.items():
            yield from objects(inner, (*path, key))
    elif isinstance(rules, list):
        for index, inner in enumerate(rules):
            yield from objects(inner, (*path, index))


def changed(rules, path, change):
    """A copy of a schema in which the object at a path is changed."""
    other = copy.deepcopy(rules)
    found = other
    for key in path:
        found = found[key]
    change(found)
    return other


@pytest.mark.parametrize("name", sorted(TYPES))
def test_a_key_in_one_of_the_two_is_seen(name):
    rules, shape = schema(name), of_type(TYPES[name])

    def add(found):
        found["properties"]["more"] = {"type": "string"}

    def drop(found):
        found["properties"].popitem()
        found["required"] = [key for key in found["required"] if key in found["properties"]]

    def relax(found):
        found["required"] = found["required"][1:]

    def retype(found):
        found["properties"][found["required"][0]] = {"type": ["boolean", "null"]}

    places = list(objects(rules))
    assert places[0] == ()
    for path in places:
        for change in (add, drop, relax, retype):
            other = changed(rules, path, change)
            assert of_schema(other, other) != shape, (path, change.__name__)


@pytest.mark.parametrize("name", sorted(TYPES))
@pytest.mark.parametrize("kind", [str, NotRequired[str]])
def test_a_key_more_in_the_type_is_seen(name, kind):
    rules = schema(name)
    more = type(records.Counts)("More", (TYPES[name],), {"__annotations__": {"more": kind}})
    assert of_type(more) != of_schema(rules, rules)
