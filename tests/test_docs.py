"""What is written for people says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from royale.schemas import SCHEMAS, schema

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "config/README.md").read_text()
PAGES = [
    "README.md",
    "config/README.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
]
FOLDERS = ("royale", "workflow", "docs", "scripts", "config", "tests")
# A path from the project's root, and not the end of another one (results/report/...).
NAMED = re.compile(rf"(?<![\w./{{}}…-])(?:{'|'.join(FOLDERS)})/[\w./*-]*")
ENTRIES = (".py", "/__main__.py")  # of what `python -m` runs
COMMAND = re.compile(r"python -m (royale[\w.]*\w)")


@pytest.mark.parametrize(
    "key",
    [
        *(
            key if "properties" not in rules else f"{key}.{inner}"
            for key, rules in schema("config")["properties"].items()
            for inner in rules.get("properties", [""])
        ),
        *sorted(schema("profile")["properties"].keys() - {"per_game", "threads", "resources"}),
        *sorted(schema("ladder")["properties"].keys() - {"generations"}),
        *schema("recipe")["properties"],
    ],
)
def test_every_key_is_explained(key):
    assert f"`{key}`" in TEXT


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    assert "@@" not in text
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (ROOT / page).parent.joinpath(link).exists(), link


def missing(text):
    """The project's paths and modules that a text names and that are not there."""
    paths = [path.rstrip(".") for path in NAMED.findall(text)]
    commands = COMMAND.findall(text)
    files = {name: [f"{name.replace('.', '/')}{end}" for end in ENTRIES] for name in commands}
    return [path for path in paths if not list(ROOT.glob(path.rstrip("/")))] + [
        name for name, places in files.items() if not any((ROOT / p).exists() for p in places)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_paths_and_commands_that_are_named_are_there(page):
    assert missing((ROOT / page).read_text()) == []


def test_a_path_or_a_command_that_is_not_there_is_found():
    text = "`royale/learn/ppo.py`, `royale/watch/`, results/docs/x.md, `python -m royale.watch x`."
    assert missing(text) == ["royale/watch/", "royale.watch"]


def test_the_readme_lists_every_folder_of_the_package():
    text = (ROOT / "README.md").read_text()
    for path in (ROOT / "royale").glob("*/__init__.py"):
        assert f"\n| `royale/{path.parent.name}/` |" in text, path.parent.name


def test_every_profile_is_named():
    for path in (ROOT / "config/profiles").glob("*.yaml"):
        assert f"`{path.stem}`" in TEXT


def test_every_rule_is_in_the_file_table():
    files = (ROOT / "docs/files.md").read_text()
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        for rule in re.findall(r"^rule (\w+):", path.read_text(), re.MULTILINE):
            assert f"`{rule}`" in files, rule


def test_rules_declare_everything():
    directives = (
        "output",
        "log",
        "benchmark",
        "conda",
        "threads",
        "resources",
        "message",
        "script",
    )
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        for rule in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            for directive in directives:
                assert re.search(rf"^    {directive}:", rule, re.MULTILINE), (directive, rule[:40])
            for resource in ("mem_mb=", "runtime=", "gpu="):
                assert resource in rule, (resource, rule[:40])


def test_conda_environment_has_the_locked_versions():
    locked = dict(
        line.split("==")
        for line in (ROOT / "requirements.lock").read_text().splitlines()
        if "==" in line
    )
    environment = yaml.safe_load((ROOT / "workflow/envs/royale.yaml").read_text())
    pins = dict(pin.split("==") for pin in environment["dependencies"][-1]["pip"])
    assert pins == {name: locked[name] for name in pins}
    declared = re.findall(r'^    "([\w-]+)",$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert {name.lower() for name in declared} <= {name.lower() for name in pins}


def test_schemas_describe_their_files():
    for path in SCHEMAS.rglob("*.schema.yaml"):
        rules = yaml.safe_load(path.read_text())
        assert rules["description"] and rules["additionalProperties"] is False, path
