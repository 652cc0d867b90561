"""What is written for people says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from royale.schemas import SCHEMAS, schema

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "config/README.md").read_text()
PAGES = ["README.md", "config/README.md"]
PAGES += sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))


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


@pytest.mark.parametrize("page", PAGES)
def test_files_and_modules_that_are_named_are_there(page):
    text = (ROOT / page).read_text()
    for path in re.findall(r"`((?:royale|workflow|scripts|docs|tests|config)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"-m (royale[\w.]+\w)|`(royale(?:\.\w+)+)`", text):
        parts = "".join(name).split(".")
        there = [ROOT.joinpath(*parts[:n]) for n in range(2, len(parts) + 1)]
        # the last part may be a name in the module
        found = [path.is_dir() or path.with_suffix(".py").exists() for path in there]
        assert all(found[:-1]) and (found[-1] or len(found) > 1), name


def test_every_folder_of_the_package_is_listed():
    listed = re.findall(r"^\| `royale/(\w+)/` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    folders = {path.parent.name for path in (ROOT / "royale").glob("*/__init__.py")}
    assert sorted(listed) == sorted(folders)


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
