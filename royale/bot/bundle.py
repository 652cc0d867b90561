"""The bundle: one .npz with a champion's weights and all that playing it needs."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 1
META = "meta"  # the array holding the metadata: JSON text as bytes
KEYS = {
    "format": int,
    "game": str,
    "canvas": int,  # side of the square that boards are padded to
    "encoder": str,
    "planes": list,  # names, in order
    "action_planes": int,
    "global_actions": int,
    "channels": int,
    "blocks": int,
    "value_head": str,
    "value_support": float,
    "max_turns": int,
    "deathtouch_turn": int,
    "build_base": int,
    "build_surcharge": int,
    "castle_cap": (int, type(None)),
    "layout_fingerprint": str,
    "champion_sha256": str,
}


class BundleError(ValueError):
    """A file is no bundle that this bot can play; the message is one line."""


@dataclass(frozen=True)
class Bundle:
    """Metadata (see `KEYS`) and float32 weights by their names in the learner."""

    meta: dict[str, Any]
    weights: dict[str, np.ndarray]


def shapes(meta: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Name -> shape of every weight of the network that the metadata describes."""
    channels, hidden = meta["channels"], max(16, meta["channels"] // 8)
    actions = meta["action_planes"] + meta["global_actions"]
    outputs = 1 if meta["value_head"] == "scalar" else 128
    found: dict[str, tuple[int, ...]] = {
        "stem.weight": (channels, len(meta["planes"]), 3, 3),
        "policy.weight": (actions, channels, 1, 1),
        "value_hidden.weight": (hidden, 2 * channels),
        "value.weight": (outputs, hidden),
    }
    for block in range(meta["blocks"]):
        found[f"blocks.{block}.conv.weight"] = (channels, channels, 3, 3)
        found[f"blocks.{block}.context.weight"] = (channels, 2 * channels)
        found[f"blocks.{block}.last.weight"] = (channels, channels, 1, 1)
    biases = {name.replace("weight", "bias"): shape[:1] for name, shape in found.items()}
    return found | biases


def packed(bundle: Bundle) -> bytes:
    """A bundle's file; equal contents give equal bytes."""
    text = np.frombuffer(json.dumps(bundle.meta, sort_keys=True).encode(), np.uint8)
    file = io.BytesIO()
    np.savez(file, **{META: text}, **{n: bundle.weights[n] for n in sorted(bundle.weights)})
    return file.getvalue()


def read(path: str | Path) -> Bundle:
    """Read and check a bundle; BundleError says in one line what is wrong."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(arrays.pop(META).tobytes())
    except FileNotFoundError:
        raise BundleError(f"{path}: no such file") from None
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, AttributeError, zlib.error, zipfile.BadZipFile):
        raise BundleError(f"{path}: not a whole .npz bundle of this bot") from None
    _check(path, meta, arrays)
    return Bundle(meta, arrays)


def _check(path: str | Path, meta: Any, arrays: dict[str, np.ndarray]) -> None:
    if not isinstance(meta, dict):
        raise BundleError(f"{path}: the metadata is no JSON object")
    for key, kind in KEYS.items():
        if key not in meta or not isinstance(meta[key], kind):
            raise BundleError(f"{path}: metadata {key!r} is missing or not of the right type")
    if meta["format"] != FORMAT or meta["game"] != "generals":
        raise BundleError(
            f"{path}: format {meta['format']} of game {meta['game']!r}; "
            f"this bot plays format {FORMAT} of 'generals'"
        )
    wanted = shapes(meta)
    for name in sorted({*wanted, *arrays}):
        got = arrays[name].shape if name in arrays else "nothing"
        if got != wanted.get(name) or arrays[name].dtype != np.float32:
            raise BundleError(f"{path}: weight {name}: want {wanted.get(name)}, got {got}")
        if not np.isfinite(arrays[name]).all():
            raise BundleError(f"{path}: weight {name} is not finite")
