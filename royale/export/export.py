"""Export a champion: the numpy bot's bundle, an ONNX file, and proof that they play alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from royale.bot import bundle
from royale.errors import RoyaleError
from royale.export import onnx_graph, parity, portable
from royale.files import write_bytes
from royale.games.generals.settings import Settings
from royale.learn import checkpoint, untrusted
from royale.learn.value import ValueCodec

TURNS = 663  # at least this many turns are compared


def bundle_of(champion: Path) -> bundle.Bundle:
    """The bundle of a champion's weights file; RoyaleError if it is no Generals champion."""
    try:
        arrays, meta = checkpoint.load(champion)
    except (OSError, checkpoint.FileError) as error:
        raise RoyaleError(str(error)) from None
    if meta["game"] != "generals":
        raise RoyaleError(f"{champion}: a champion of {meta['game']!r}; only generals has a bot")
    recipe = untrusted.network_recipe(arrays, meta, champion)
    spec, weights, told = portable.described(champion, recipe, arrays, meta)
    rules = Settings.read(meta["settings"])
    told |= {
        "format": bundle.FORMAT,
        "canvas": spec.height,
        "value_head": recipe.value_head,
        "value_support": float(ValueCodec(recipe).support),
        "max_turns": rules.max_turns,
        "deathtouch_turn": rules.deathtouch_turn,
        "build_base": rules.build_base,
        "build_surcharge": rules.build_surcharge,
        "castle_cap": rules.castle_cap,
    }
    return bundle.Bundle(told, weights)


def export(
    champion: Path,
    bundle_file: Path,
    onnx_file: Path,
    turns: int = TURNS,
    report: Callable[[int], None] = lambda turns: None,
) -> dict[str, Any]:
    """Write both files and return the parity report (`parity.schema.yaml`).

    turns: at least this many are compared, in games of the champion with itself.
    report(turns so far) is called each turn. The times are this process's, which must have
    been started with one thread for numpy and torch.
    """
    made = bundle_of(champion)
    write_bytes(bundle_file, bundle.packed(made))
    onnx_graph.write(onnx_file, made.weights, made.meta)
    found = parity.Comparison(champion, bundle_file, onnx_file)
    found.run(turns, report)
    tally = found.tally
    process = parity.play_process(bundle_file, found.size, found.frames, found.replies)
    ms = {name: 1000 * np.array(times) for name, times in tally.seconds.items()}
    faults = sum(tally.actions.values()) + tally.legal + tally.codes + tally.planes
    keys = ("champion_sha256", "canvas", "encoder", "channels", "blocks", "value_head")
    return {
        **{key: made.meta[key] for key in keys},
        "parameters": sum(weight.size for weight in made.weights.values()),
        "games": tally.games,
        "turns": tally.turns,
        "moves": tally.moves,
        "action_mismatches": tally.actions,
        "logit_difference": tally.logits,
        "value_difference": tally.value,
        "legal_mismatches": tally.legal,
        "code_mismatches": tally.codes,
        "plane_mismatches": tally.planes,
        "ms": {name: parity.spread(times) for name, times in ms.items()},
        "ratio_to_onnx": float(np.median(ms["numpy"]) / np.median(ms["onnx"])),
        "process": process,
        "bytes": {"npz": bundle_file.stat().st_size, "onnx": onnx_file.stat().st_size},
        "passed": faults + process["faults"] == 0,
    }
