"""One safetensors file a checkpoint, written atomically and the same every time.

What is read may come from a rented host, so it is bounded before it is read, and each
tensor is checked against the network and the games that it is for before it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
import torch

from royale.errors import RoyaleError
from royale.files import RESTORE, write_bytes
from royale.learn.network import Network, fingerprint, layout
from royale.learn.recipe import Recipe

# Of a whole file and of its header, in bytes: far beyond any checkpoint of this project
# (paper scale: 0.3 GB and 0.1 MB).
MOST, MOST_HEADER = 8 * 2**30, 16 * 2**20
SHA256 = "arrays_sha256"  # key of the metadata


class LayoutError(RoyaleError, ValueError):
    """A file's tensors do not fit the network; the message shows both layouts."""


class FileError(RoyaleError, ValueError):
    """A file is not a whole safetensors file of this project."""


def save(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write arrays and JSON metadata; equal contents give equal bytes.

    The metadata is one header entry, because safetensors keeps several in no order. With it
    goes the arrays' sha256, so that a bit that flips on the disk is noticed.
    """
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    header = {"royale": json.dumps({**meta, SHA256: _sha256(ordered)}, sort_keys=True)}
    write_bytes(path, safetensors.numpy.save(ordered, metadata=header))


def _sha256(arrays: Mapping[str, np.ndarray]) -> str:
    """Of the arrays' names and bytes, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.asarray(arrays[name], order="C").reshape(-1).view(np.uint8))
    return digest.hexdigest()


def load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and metadata of a file; FileError if it is not whole or not ours.

    safetensors itself refuses tensors that overlap, leave holes or end beyond the file, so
    no more memory is taken than the file is long.
    """
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            header = int.from_bytes(file.read(8), "little")
        if size > MOST or header > min(MOST_HEADER, size - 8):
            raise ValueError(f"{size} bytes with a header of {header}")
        with safetensors.safe_open(str(path), framework="numpy") as file:
            meta = json.loads((file.metadata() or {})["royale"])
            if not isinstance(meta, dict):
                raise ValueError("its metadata is no mapping")
            arrays = {name: file.get_tensor(name) for name in file.keys()}
        written = meta.pop(SHA256, None)  # files of earlier versions have none
        if written is not None and written != _sha256(arrays):
            raise ValueError("its arrays are not those that were written")
        return arrays, meta
    except FileNotFoundError:
        raise
    except (
        *(safetensors.SafetensorError, OSError),
        *(KeyError, ValueError, TypeError, AttributeError, RecursionError, MemoryError),
    ) as error:
        raise FileError(
            f"{path}: not a readable checkpoint or weights file: {error}; {RESTORE}"
        ) from error


def check_arrays(
    arrays: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], path: Path
) -> None:
    """FileError unless `arrays` has exactly the names, shapes and types of `expected`, all finite."""
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


def part(arrays: Mapping[str, np.ndarray], *prefixes: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with one of the prefixes."""
    return {name: array for name, array in arrays.items() if name.startswith(prefixes)}


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


def network_arrays(network: Network, prefix: str) -> dict[str, np.ndarray]:
    """The network's parameters as arrays on the CPU, named prefix/name."""
    return {f"{prefix}/{n}": p.detach().cpu().numpy() for n, p in network.named_parameters()}


def load_network(
    network: Network,
    arrays: Mapping[str, np.ndarray],
    meta: Mapping[str, Any],
    path: Path,
    prefix: str,
) -> None:
    """Copy arrays named prefix/name into the network in place.

    LayoutError if the file is another network's, FileError if it says the right layout
    and holds other tensors.
    """
    check_layout(layout(network), meta.get("layout", []), path)
    check_arrays(part(arrays, f"{prefix}/"), network_arrays(network, prefix), path)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(torch.from_numpy(arrays[f"{prefix}/{name}"]))


def save_weights(path: Path, network: Network, meta: Mapping[str, Any]) -> None:
    """Write a champion: the weights alone, with `meta` (game, settings, recipe, lineage)."""
    rows = layout(network)
    full = {**meta, "kind": "weights", "layout": rows, "layout_fingerprint": fingerprint(rows)}
    save(path, network_arrays(network, "ema"), full)


def champion_from_checkpoint(checkpoint: Path, path: Path, lineage: Any) -> None:
    """Write a champion's weights file from a checkpoint's moving average.

    lineage: JSON values saying where the weights come from.
    """
    arrays, meta = load(checkpoint)
    keys = ("game", "settings", "recipe", "layout", "layout_fingerprint")
    full = {"kind": "weights", "lineage": lineage, **{key: meta[key] for key in keys}}
    save(path, {n: a for n, a in arrays.items() if n.startswith("ema/")}, full)
