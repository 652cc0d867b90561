"""One safetensors file a checkpoint, written atomically and the same every time.

What is read may come from a rented host, so it is bounded before it is read, and checked
before it is used (see `untrusted`).
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

from royale.files import RESTORE, write_bytes
from royale.learn.network import Network, fingerprint, layout, network_arrays
from royale.learn.untrusted import FileError, check_arrays, check_layout

# Of a whole file and of its header, in bytes: far beyond any checkpoint of this project
# (paper scale: 0.3 GB and 0.1 MB).
MOST, MOST_HEADER = 8 * 2**30, 16 * 2**20
SHA256 = "arrays_sha256"  # key of the metadata


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
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
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


def part(arrays: Mapping[str, np.ndarray], *prefixes: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with one of the prefixes."""
    return {name: array for name, array in arrays.items() if name.startswith(prefixes)}


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
