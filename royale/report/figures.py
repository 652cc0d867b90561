"""The charts as files of their own: the same drawings as on the page, each with its title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from royale.report import charts

# widths in CSS pixels, of a file as on a screen
WIDE, PLANE, CURVE = 760, 560, 500


def margins(ladder: Mapping[str, Any]) -> str:
    """results/report/{generation}.svg, from a ladder file."""
    title = f"Which change helped: {_of(ladder)}"
    return charts.margins(ladder, WIDE).standalone(title)


def break_even(targets: Sequence[Mapping[str, Any]], ladder: Mapping[str, Any]) -> str:
    """results/report/{generation}.break_even.svg, from target files."""
    title = f"Sooner at the target: {_of(ladder)}"
    return charts.break_even(targets, PLANE).standalone(title)


def watch(table: Sequence[Mapping[str, Any]], ladder: Mapping[str, Any]) -> str:
    """results/watch/{generation}.svg, from the rows of the CSV file beside it."""
    title = f"Against players that do not learn: {_of(ladder)}"
    return charts.watch_curves(table, CURVE).standalone(title)


def panel(found: Mapping[str, Any]) -> str:
    """results/panel/{generation}.svg, from a panel file."""
    flag = "" if found["transitive"] else "; NOT TRANSITIVE"
    title = f"Panel of {found['generation']}, profile {found['profile']}{flag}"
    return charts.ratings(found, WIDE).standalone(title)


def learning(record: Mapping[str, Any]) -> str:
    """results/bench/{profile}.learning.svg, from a learning bench file."""
    title = f"Does the root learn: profile {record['profile']}"
    return charts.learning_curves(record, CURVE).standalone(title)


def _of(ladder: Mapping[str, Any]) -> str:
    return f"{ladder['ladder']}, profile {ladder['profile']}"
