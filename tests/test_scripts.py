"""A rule's script is read only when the rule runs, which for some is rarely."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
LONGEST = 45  # lines: unpack, call, write


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.py")))
def test_what_a_script_imports_of_royale_is_there(script):
    tree = ast.parse((SCRIPTS / script).read_text())
    imports = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "royale"
    ]
    assert imports, script
    for node in imports:
        module = importlib.import_module(node.module)
        for alias in node.names:
            if not hasattr(module, alias.name):
                importlib.import_module(f"{node.module}.{alias.name}")


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.py")))
def test_a_script_is_short(script):
    assert len((SCRIPTS / script).read_text().splitlines()) <= LONGEST
