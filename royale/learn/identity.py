"""What really ran, read from the live objects, and the check that it is what was asked."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch

import royale
from royale.errors import RoyaleError
from royale.games import load
from royale.learn.network import layout_fingerprint, parameter_count
from royale.learn.plan import SegmentPlan
from royale.learn.trainer import Trainer
from royale.learn.value import BINS


class IdentityError(RoyaleError, RuntimeError):
    """What runs is not what was asked; one line a difference."""


def git_state() -> dict[str, Any] | None:
    """Commit of the checkout that the running code is in, and whether it has changes."""
    folder = Path(royale.__file__).resolve().parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        # An installed package may lie inside someone else's checkout.
        if not git("ls-files", "--", "__init__.py"):
            return None
        changed = git("status", "--porcelain", "--untracked-files=no")
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(changed)}
    except (OSError, subprocess.CalledProcessError):
        return None


def live_identity(trainer: Trainer) -> dict[str, Any]:
    """identity.json: everything is read from the objects that train, nothing from the plan
    except `recipe`, which is the typed recipe they were given."""
    network, spec, recipe = trainer.network, trainer.spec, trainer.recipe.to_dict()
    parameters = list(network.parameters())
    outputs = network.value.out_features
    text = json.dumps([trainer.plan.continues(), recipe], sort_keys=True)
    facts = getattr(load(spec.name), "facts", None)
    return {
        "game": spec.name,
        "network": type(network).__name__,
        "parameters": parameter_count(network),
        "layout_fingerprint": layout_fingerprint(network),
        "average_layout_fingerprint": layout_fingerprint(trainer.average),
        "channels": network.stem.out_channels,
        "blocks": len(network.blocks),
        "planes": network.stem.in_channels,
        "encoder": spec.encoder,
        "board": [spec.height, spec.width],
        "action_shape": {
            "planes": network.action_planes,
            "global": network.global_actions,
            "flat": spec.n_actions,
        },
        "value_head": {1: "scalar", BINS: "hl_gauss"}.get(outputs, f"{outputs} outputs"),
        "recurrent_state_shape": None,
        "optimizers": trainer.optimizer.coverage(),
        "envs": trainer.actors.batch.n_games * trainer.share.size,
        "processes": trainer.share.size,
        "horizon": trainer.rollout.horizon,
        "device": str(parameters[0].device),
        "dtype": _dtype(trainer),
        "threads": torch.get_num_threads(),
        "recipe": recipe,
        "config_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "versions": {
            "royale": royale.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
        "code": trainer.code,
        "engine": dict(facts(trainer.settings)) if facts else None,
        "git": git_state(),
    }


def _dtype(trainer: Trainer) -> str:
    """The weights' type, and that of the arithmetic where it is another."""
    weights = ", ".join(
        sorted({str(p.dtype).removeprefix("torch.") for p in trainer.network.parameters()})
    )
    users = (trainer.actors.precision, trainer.updater.precision)
    compute = ", ".join(sorted({user.compute_dtype(trainer.network) for user in users}))
    return weights if compute == weights else f"{weights} weights, {compute} arithmetic"


def asked_identity(plan: SegmentPlan) -> dict[str, Any]:
    """The part of the identity that the plan alone decides."""
    recipe = json.loads(json.dumps(dict(plan.recipe)))
    spec = load(plan.game).spec(plan.training_settings(), recipe["encoder"])
    inner, outer = {"muon": ("Muon", "AdamW"), "adamw": (None, "AdamW")}[recipe["optimizer"]]
    return {
        "game": plan.game,
        "channels": recipe["channels"],
        "blocks": recipe["blocks"],
        "planes": len(spec.planes),
        "encoder": recipe["encoder"],
        "action_shape": {
            "planes": len(spec.action_planes),
            "global": len(spec.global_actions),
            "flat": spec.n_actions,
        },
        "value_head": recipe["value_head"],
        "optimizer_classes": sorted(name for name in (inner, outer) if name),
        "envs": plan.envs,
        "processes": plan.processes,
        "horizon": plan.horizon,
        "dtype": "float32"
        if recipe["precision"] == "fp32"
        else "float32 weights, bfloat16 arithmetic",
        "threads": plan.threads,
        "recipe": recipe,
    }


def assert_identity(asked: Mapping[str, Any], live: Mapping[str, Any]) -> None:
    """IdentityError, a line a difference, unless `live` has all that was asked."""
    found = dict(live)
    if "optimizers" in found:
        found["optimizer_classes"] = sorted(found["optimizers"])
    lines = []
    for name, value in asked.items():
        here = found.get(name)
        if isinstance(value, Mapping) and isinstance(here, Mapping):
            for key in sorted({*value, *here}):
                if value.get(key) != here.get(key):
                    lines.append(f"asked {name}.{key}: {value.get(key)}, found {here.get(key)}")
        elif value != here:
            lines.append(f"asked {name}: {value}, found {here}")
    covered = sum(o["parameters"] for o in found.get("optimizers", {}).values())
    if "optimizers" in found and covered != found.get("parameters"):
        lines.append(f"asked optimized parameters: {found.get('parameters')}, found {covered}")
    if lines:
        raise IdentityError("\n".join(lines))
