"""The shape of the house: who may import whom, and how large a file may be.

Looked at is every import, those inside functions and under TYPE_CHECKING, too.
"""

from __future__ import annotations

import ast
import re
import shutil
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GROUND = {"errors", "rng", "schemas", "files"}
# Of a package of royale/: what it may import besides itself and the ground floor.
MAY_IMPORT = {
    "run": set(),
    "games": set(),
    "bot": set(),
    "learn": {"games", "run"},
    "evidence": {"games"},
    "project": {"games", "learn", "evidence"},
    "preflight": {"games", "learn", "evidence", "project"},
    "export": {"games", "learn", "bot"},
    "report": {"evidence", "project"},
    "play": {"games", "learn", "evidence"},
    "bench": {"games", "learn", "project", "preflight"},
    "live": {"games", "learn", "evidence", "play"},
}
# Of the ground floor's modules, as far as they import each other.
MAY_IMPORT |= {"errors": set(), "rng": set(), "schemas": {"errors"}}
MAY_IMPORT |= {"files": {"errors", "schemas"}}
MOST_LINES, MOST_LINES_OF_A_SCRIPT = 400, 45
WRITTEN = (".py", ".smk", ".js", ".mjs", ".css", ".jinja", ".html", ".yaml", ".md")


def modules(root: Path) -> dict[str, Path]:
    """Dotted name -> file, of all of royale/."""
    found = {}
    for path in sorted((root / "royale").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: set[str]) -> set[str]:
    """The modules of royale/ that a file imports, wherever in it."""
    out = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            out |= inner & known or {node.module}
    return {name for name in out if name.split(".")[0] in ("royale", "scripts")}


def part(name: str) -> str:
    """The package of royale/ that a module is in, or the module itself on the ground floor."""
    return [*name.split("."), ""][1]


def strays(root: Path) -> list[str]:
    """A line for each import that goes the wrong way."""
    found, lines = modules(root), []
    for name, path in found.items():
        own = part(name)
        if not own:  # royale/__init__.py
            lines += [f"{name} imports {other}" for other in imported(path, set(found))]
            continue
        # the bot goes to the competition alone
        allowed = MAY_IMPORT[own] | {own, ""}
        if own not in GROUND and own != "bot":
            allowed |= GROUND
        for other in sorted(imported(path, set(found))):
            if other.split(".")[0] == "scripts" or part(other) not in allowed:
                lines.append(f"{name} imports {other}")
    return lines


def circles(root: Path) -> list[str]:
    """The modules of a circle of imports, none if there is no circle."""
    found = modules(root)
    graph = {
        name: {other for other in imported(path, set(found)) if other in found and other != name}
        for name, path in found.items()
    }
    # a package whose __init__ only says what it is takes part in none
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def page_strays(root: Path) -> list[str]:
    """A line for each module of a game's page that needs one from outside of games/."""
    games = root / "royale/games"
    shared, lines = games / "page", []
    for path in sorted(games.rglob("page/*.js")):
        for name in re.findall(r'from "\./([\w.]+)"', path.read_text(encoding="utf-8")):
            if not any((folder / name).exists() for folder in (path.parent, shared)):
                lines.append(f"{path.relative_to(root)} imports {name}")
    return lines


def too_long(root: Path) -> list[str]:
    """A line for each file of ours that has more lines than one can overlook."""
    lines = []
    for folder in ("royale", "scripts", "workflow", "config", "tests", "docs"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in WRITTEN or "data" in path.parts or not path.is_file():
                continue
            most = MOST_LINES_OF_A_SCRIPT if folder == "scripts" else MOST_LINES
            count = len(path.read_text(encoding="utf-8").splitlines())
            if count > most:
                lines.append(f"{path.relative_to(root)} has {count} lines, at most {most}")
    return lines


def imports_of_test_modules(root: Path) -> list[str]:
    """A line for each test module that imports another one and not a helper."""
    return [
        f"{path.relative_to(root)}: {line}"
        for path in sorted((root / "tests").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(from|import) test_\w+", line)
    ]


CHECKS = (strays, circles, page_strays, too_long, imports_of_test_modules)


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_is_in_order(check):
    assert check(ROOT) == []


def test_every_package_has_its_place():
    parts = {part(name) for name in modules(ROOT)} - {""}
    assert parts == set(MAY_IMPORT)
    TopologicalSorter(MAY_IMPORT).prepare()  # one way


@pytest.mark.parametrize(
    ("check", "file", "text", "told"),
    [
        (
            strays,
            "royale/games/x.py",
            "def f():\n    import royale.learn.ppo\n",
            "royale.learn.ppo",
        ),
        (strays, "royale/evidence/x.py", "from royale.learn import ppo\n", "royale.learn.ppo"),
        (strays, "royale/bot/x.py", "from royale.files import sha256\n", "royale.files"),
        (strays, "royale/project/x.py", "from royale.report import page\n", "royale.report.page"),
        (strays, "royale/schemas.py", "from royale import files\n", "royale.files"),
        (strays, "royale/learn/x.py", "from scripts import ladder\n", "scripts"),
        (circles, "royale/rng.py", "from royale import errors, files\n", "royale.files"),
        (page_strays, "royale/games/clash/page/x.js", 'import { a } from "./page.js";', "page.js"),
        (too_long, "scripts/x.py", "\n" * 46, "scripts/x.py has 46 lines"),
        (too_long, "royale/learn/x.py", "\n" * 401, "royale/learn/x.py has 401 lines"),
        (imports_of_test_modules, "tests/x.py", "from test_layers import part\n", "test_layers"),
    ],
)
def test_what_is_out_of_order_is_found(tmp_path, check, file, text, told):
    for folder in ("royale", "scripts"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for folder in ("workflow", "config", "docs", "tests"):
        (tmp_path / folder).mkdir()
    before = check(tmp_path)
    path = tmp_path / file
    path.write_text(text)
    if check is circles:
        (tmp_path / "royale/errors.py").write_text("import royale.rng\n")
    found = [line for line in check(tmp_path) if line not in before]
    assert found and any(told in line for line in found), found
