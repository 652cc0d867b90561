"""What beside the plan decides a segment's bytes: the code that trains, and what it runs on.

The source is that of `royale/learn`, of the game, and of what they draw and deal from, read
without comments, docstrings and formatting, which decide nothing. With it go the versions of
what computes, and the instructions of the CPU that torch uses: sums round as they are cut.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.metadata
import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import numba
import numpy as np
import torch

import royale
from royale.errors import RoyaleError
from royale.games import REGISTRY, load
from royale.schemas import schema

ROOT = Path(royale.__file__).resolve().parent
# What is read for every game; a game's own package and what that imports come with it.
COMMON = ("learn/*.py", "rng.py", "games/__init__.py", "games/protocol.py")
UNKNOWN = "it was trained before the code was recorded"
UNREADABLE = "what it says of its code cannot be read"


@functools.cache
def code_of(game: str) -> dict[str, Any]:
    """`source` (sha256 by folder), `versions`, `cpu_capability`, and `digest` over them all.

    Read once a process, at its beginning: what is edited while it trains is not what trains.
    """
    packages = {name: importlib.metadata.version(name) for name in _packages(game)}
    parts = {
        "source": _source(game),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "numba": numba.__version__,
            **packages,
        },
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }
    return {"digest": _digest(parts), **parts}


def begun_by(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The code of a segment that `then` began and `now` goes on with: another than either.

    `begun` lists the machines, other than that of now, that trained a part of it.
    """
    parts = {key: value for key, value in now.items() if key != "digest"}
    parts["begun"] = [before for before in _machines(then) if before != _machine(now)]
    return {"digest": _digest(parts), **parts}


def source_changes(then: Any, now: Mapping[str, Any]) -> str | None:
    """Why what `then` (of a file) trained is another learner's; None if it is not."""
    if then is None:
        return UNKNOWN
    # it may be a stranger's, and what is in it is told and written on
    whole = schema("files/identity")
    rules = {**whole["properties"]["code"], "$defs": whole["$defs"]}
    if not jsonschema.Draft202012Validator(rules).is_valid(then):
        return UNREADABLE
    old, new = then["source"], now["source"]
    folders = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return f"it was trained by other code: {', '.join(folders)} changed" if folders else None


def machine_changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """What of versions and CPU is another than in `then`, a part of it included; None if nothing.

    `then` is one that `source_changes` could read.
    """
    lines = [line for before in _machines(then) for line in _differences(before, now)]
    return ", ".join(dict.fromkeys(lines)) or None


def changes(then: Any, now: Mapping[str, Any]) -> str | None:
    """Why training anew might give other bytes than `then` (of a file); None if it would not."""
    return source_changes(then, now) or machine_changes(then, now)


def _machine(code: Mapping[str, Any]) -> dict[str, Any]:
    return {key: code[key] for key in ("versions", "cpu_capability")}


def _machines(code: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those that trained a segment, in order."""
    return [*code.get("begun", []), _machine(code)]


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    old, new = then["versions"], now["versions"]
    for name in dict.fromkeys([*new, *old]):
        if old.get(name) != new.get(name):
            yield f"{name} {old.get(name, 'none')} then, {new.get(name, 'none')} now"
    if then["cpu_capability"] != now["cpu_capability"]:
        yield f"CPU capability {then['cpu_capability']} then, {now['cpu_capability']} now"


def _packages(game: str) -> tuple[str, ...]:
    """Installed packages of others that the game is played with."""
    return tuple(getattr(load(game), "packages", ()))


def _source(game: str) -> dict[str, str]:
    """sha256 of what decides in each folder, by the folder's name."""
    digests: dict[str, Any] = {}
    for path, tree in sorted(_files(game).items()):
        inside = path.is_relative_to(ROOT)
        folder = f"royale/{path.parent.relative_to(ROOT).as_posix()}" if inside else path.stem
        digest = digests.setdefault(folder.removesuffix("/."), hashlib.sha256())
        digest.update(f"{path.name}\n{meaning(tree)}\n".encode())
    return {folder: digest.hexdigest() for folder, digest in digests.items()}


def _files(game: str) -> dict[Path, ast.Module]:
    """The common files, the game's, and those of this package that the game's import, as read."""
    found = {path: _read(path) for pattern in COMMON for path in _shown(ROOT.glob(pattern))}
    module = importlib.import_module(REGISTRY[game])
    own = Path(module.__file__).resolve()
    left = set(_shown(own.parent.rglob("*.py"))) if hasattr(module, "__path__") else {own}
    while left:
        path = left.pop()
        found[path] = _read(path)
        left |= set(_imported(found[path])) - found.keys()
    return found


def _shown(paths: Iterable[Path]) -> Iterator[Path]:
    """Those that are not hidden: editors and other systems leave such files that are no code."""
    return (path for path in paths if not path.name.startswith("."))


def _read(path: Path) -> ast.Module:
    """A file's syntax tree; RoyaleError names a file that is no Python."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise RoyaleError(f"{path}: no Python file ({why}); mend it, or move it away") from None


def _imported(tree: ast.Module) -> Iterator[Path]:
    """The files of this package that a file imports."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            package, *inner = name.split(".")
            if package == ROOT.name and inner:  # the package itself has its version alone
                place = ROOT.joinpath(*inner)
                file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
                if file.exists():
                    yield file


def meaning(tree: ast.Module) -> str:
    """A text that two sources share that differ in comments, docstrings and formatting alone."""
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return _plain(tree)


def _plain(node: Any) -> str:
    """A node as text; fields that are empty are left out, so newer Pythons' add nothing."""
    if isinstance(node, ast.AST):
        fields = [f"{k}={_plain(v)}" for k, v in ast.iter_fields(node) if v is not None and v != []]
        return f"{type(node).__name__}({', '.join(fields)})"
    if isinstance(node, list):
        return f"[{', '.join(_plain(item) for item in node)}]"
    return repr(node)


def _digest(parts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
