"""One safetensors file a checkpoint, written atomically and the same every time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
import torch

from royale.errors import RoyaleError
from royale.files import write_bytes
from royale.learn.network import Network, fingerprint, layout


class LayoutError(RoyaleError, ValueError):
    """A file's tensors do not fit the network; the message shows both layouts."""


class FileError(RoyaleError, ValueError):
    """A file is not a whole safetensors file of this project."""


def save(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write arrays and JSON metadata; equal contents give equal bytes.

    The metadata is one header entry, because safetensors keeps several in no order.
    """
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    header = {"royale": json.dumps(meta, sort_keys=True)}
    write_bytes(path, safetensors.numpy.save(ordered, metadata=header))


def load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and metadata of a file; FileError if it is not whole or not ours."""
    try:
        with safetensors.safe_open(str(path), framework="numpy") as file:
            meta = json.loads((file.metadata() or {})["royale"])
            return {name: file.get_tensor(name) for name in file.keys()}, meta  # noqa: SIM118
    except FileNotFoundError:
        raise
    except (safetensors.SafetensorError, OSError, KeyError, ValueError) as error:
        raise FileError(f"{path}: not a readable checkpoint or weights file: {error}") from error


def check_layout(expected: list[list[Any]], found: list[list[Any]], path: Path) -> None:
    """LayoutError, with the layouts side by side, unless they are the same."""
    if fingerprint(expected) == fingerprint(found):
        return

    def text(row: list[Any] | None) -> str:
        return "-" if row is None else f"{row[0]} {tuple(row[1])} {row[2]}"

    left, right = ({row[0]: row for row in rows} for rows in (expected, found))
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
    """Copy arrays named prefix/name into the network in place; LayoutError if they differ."""
    check_layout(layout(network), meta["layout"], path)
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
