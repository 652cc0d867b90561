"""Checks of files that may be a stranger's, before anything in them is used.

A checkpoint may come from a rented host. Each check names the file and what in it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from royale.errors import RoyaleError
from royale.learn.network import Network, fingerprint, network_arrays
from royale.learn.opponents import POOL
from royale.learn.recipe import Recipe

PAST = "opponents/past/"  # of the arrays of past selves, then their slot


class LayoutError(RoyaleError, ValueError):
    """A file's tensors do not fit the network; the message shows both layouts."""


class FileError(RoyaleError, ValueError):
    """A file is not a whole safetensors file of this project."""


def check_arrays(
    arrays: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], path: Path
) -> None:
    """FileError unless `arrays` has the names, shapes and types of `expected`, and is finite."""
    for name in sorted({*arrays, *expected}):
        if name not in arrays or name not in expected:
            what = "is missing" if name in expected else "belongs to nothing"
            raise FileError(f"{path}: tensor {name} {what}")
        found, wanted = arrays[name], expected[name]
        if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
            raise FileError(
                f"{path}: tensor {name} is {found.dtype} {found.shape}, "
                f"not {wanted.dtype} {wanted.shape}"
            )
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise FileError(f"{path}: tensor {name} is not finite")


def network_recipe(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], path: Path) -> Recipe:
    """The recipe that a file names; FileError if its network is larger than what the file holds.

    Such a network would be made before its weights could be found missing.
    """
    try:
        recipe = Recipe.of_file(meta["recipe"])
        width = arrays["ema/stem.weight"].shape[0]
        blocks = {name.split(".")[1] for name in arrays if name.startswith("ema/blocks.")}
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileError(f"{path}: no recipe with its weights: {error}") from error
    if (recipe.channels, recipe.blocks) != (width, len(blocks)):
        raise FileError(
            f"{path}: its recipe has {recipe.channels} channels and {recipe.blocks} blocks, "
            f"its weights have {width} and {len(blocks)}"
        )
    return recipe


def check_layout(expected: list[list[Any]], found: list[list[Any]], path: Path) -> None:
    """LayoutError, with the layouts side by side, unless they are the same."""
    if fingerprint(expected) == fingerprint(found):
        return

    def text(row: list[Any] | None) -> str:
        return "-" if row is None else f"{row[0]} {tuple(row[1])} {row[2]}"

    try:
        left, right = ({row[0]: row for row in rows} for rows in (expected, found))
        text(next(iter(right.values()), None))
    except (TypeError, IndexError, KeyError) as error:
        raise FileError(f"{path}: its layout cannot be read: {error}") from error
    pairs = [(text(left.get(n)), text(right.get(n))) for n in dict.fromkeys([*left, *right])]
    width = max(len("network"), *(len(a) for a, _ in pairs))
    lines = [f"{path}: weights of another network", f"  {'network':<{width}}   file"]
    lines += [f"{' ' if a == b else '!'} {a:<{width}}   {b}" for a, b in pairs]
    raise LayoutError("\n".join(lines))


def check_state(
    arrays: Mapping[str, np.ndarray],
    path: Path,
    average: Network,
    actors: Mapping[str, np.ndarray],
    optimizer: Mapping[str, np.ndarray],
    ahead: Mapping[str, np.ndarray],
) -> None:
    """FileError unless each tensor of a checkpoint has its place, with its shape and type.

    average: a network of the layout that all in the file have; actors: the arrays of such
    actors; optimizer: of an optimizer that has stepped; ahead: of the rollout that the file
    may have in waiting.
    """
    slots = {name.split("/")[2] for name in arrays if name.startswith(PAST)}
    if len(slots) > POOL or slots != {str(slot) for slot in range(len(slots))}:
        raise FileError(f"{path}: past selves {sorted(slots)}; at most {POOL}")
    expected = {name: array for name, array in actors.items() if not name.startswith(PAST)}
    for name, array in expected.items():
        # an engine's own snapshots have the length they have; the rest is the game's check
        shape = arrays[name].shape if name in arrays else ()
        if name.startswith("game/") and len(shape) == array.ndim and shape[:1] == array.shape[:1]:
            expected[name] = np.broadcast_to(np.zeros((), array.dtype), shape)
    for prefix in ("weights", "ema", *(f"{PAST}{slot}" for slot in slots)):
        expected |= network_arrays(average, prefix)
    expected |= ahead
    if any(name.startswith("optimizer/") for name in arrays):  # an arm that has taken a step
        expected |= optimizer
    check_arrays(arrays, expected, path)


def counters(meta: Mapping[str, Any], path: Path) -> tuple[float, int, int]:
    """Entropy coefficient, iteration and the segment's first; FileError if they are none."""
    numbers = [meta.get(key) for key in ("entropy_coef", "iteration", "first_iteration")]
    coefficient, iteration, first = numbers
    if not (
        isinstance(coefficient, float)
        and 0 <= coefficient < math.inf
        and all(type(number) is int for number in (iteration, first))
        and 0 <= first <= iteration
    ):
        raise FileError(f"{path}: entropy_coef and iterations are {numbers}")
    return coefficient, iteration, first
