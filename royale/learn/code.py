"""What decides the bytes of a run besides its plan: the code, the libraries, the processor.

A checkpoint and `identity.json` carry it. So work that was kept is used again only by the code
that made it, and two machines whose checkpoints differ can be told apart by their files.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch

import royale
from royale import games

BLOCKS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def deciding(game: str) -> dict[str, Any]:
    """What decides the bytes of this process's training of a game, as JSON values.

    `source`: sha256 of the learner's parts and the game's, without comments, layout and
    docstrings; `versions` of Python and the libraries that compute; `cpu_capability`: the
    instructions torch uses here (its results differ with them); `digest`: sha256 over these.
    """
    packages = getattr(games.load(game), "packages", ())
    found = {
        "source": _sources(game),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "numba": numba.__version__,
            **{name: version(name) for name in packages},
        },
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }
    text = json.dumps(found, sort_keys=True)
    return {"digest": hashlib.sha256(text.encode()).hexdigest(), **found}


def changed_source(then: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str | None:
    """Which source differs between two of `deciding`, in words; None if none does.

    then: None of a file that was written before the code was recorded.
    """
    if then is None:
        return "it is of a version that did not record its code"
    parts = [name for name in now["source"] if then["source"].get(name) != now["source"][name]]
    return f"{', '.join(parts)} changed since" if parts else None


def changed_machine(then: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Which library or processor differs between two of `deciding`; None if none does."""
    names = sorted({*then["versions"], *now["versions"]})
    lines = [
        f"{name} {then['versions'].get(name)} then, {now['versions'].get(name)} now"
        for name in names
        if then["versions"].get(name) != now["versions"].get(name)
    ]
    if then["cpu_capability"] != now["cpu_capability"]:
        lines.append(f"CPU {then['cpu_capability']} then, {now['cpu_capability']} now")
    return ", ".join(lines) or None


@functools.cache
def _sources(game: str) -> dict[str, str]:
    """Part of the checkout -> sha256 of its source."""
    root = Path(royale.__file__).resolve().parent
    module = games.REGISTRY[game]
    found = find_spec(module)
    own = [Path(found.origin)]
    if found.submodule_search_locations:
        own = sorted(Path(found.origin).parent.rglob("*.py"))
    parts = {
        "royale/learn": sorted((root / "learn").glob("*.py")),
        "royale/rng.py": [root / "rng.py"],
        "royale/games": [root / "games/__init__.py", root / "games/protocol.py"],
        module.replace(".", "/"): own,
    }
    return {name: source_sha256(paths) for name, paths in parts.items()}


def source_sha256(paths: Iterable[Path]) -> str:
    """Of what some Python files say to Python: comments, layout and docstrings are left out."""
    digest = hashlib.sha256()
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, BLOCKS) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        digest.update(f"{path.name}\n{ast.dump(tree)}\n".encode())
    return digest.hexdigest()
