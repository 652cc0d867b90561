"""Each page gets every module that it loads."""

from __future__ import annotations

import re

import pytest

from royale import games
from royale.live import server
from royale.play import replay, site

IMPORT = re.compile(r'(?:from|new URL\() ?"\./([\w./]+)"')
DEFINED = re.compile(r"^(?:export )?(?:const|let|function|class|async function) (\w+)", re.M)
# Of the project's own; other tests register a toy that nobody watches.
GAMES = [name for name in games.REGISTRY if hasattr(games.load(name), "replays")]
MADE = {"vendor/ort.js", "vendor/ort.wasm", "bot.onnx"}  # written with the page


def loaded(path):
    return set(IMPORT.findall(path.read_text()))


def test_the_page_to_play_in():
    told = {name: loaded(path) for name, path in site.FILES.items()}
    assert set().union(*told.values()) <= {*site.FILES, *MADE}
    assert {"worker.js", "maps.js"} <= set().union(*told.values())  # the pattern finds imports


def test_the_page_that_follows_runs():
    found = set().union(*(loaded(path) for path in server.FILES.values()))
    assert {f"/{name}" for name in found} <= set(server.FILES)
    assert all(path.exists() for path in server.FILES.values())


def test_both_games_have_replays():
    assert {"generals", "clash"} <= set(GAMES)


def modules(game):
    """The texts of a game's replay by module, in the order of the page."""
    names = games.load(game).replays.scripts
    return {name: games.page_file(game, f"{name}.js").read_text() for name in names}


@pytest.mark.parametrize("game", GAMES)
def test_a_replay_has_its_modules_in_order_and_no_name_twice(game):
    names, before = [], set()
    for name, text in modules(game).items():
        assert before >= set(IMPORT.findall(text))
        before.add(f"{name}.js")
        names += DEFINED.findall(text)
    assert len(names) > 15 and len(names) == len(set(names))
    assert "openReplay" in names and "import " not in replay.bundle(game, list(modules(game)))


@pytest.mark.parametrize("name", ["page", *GAMES])
def test_elements_that_a_script_asks_for_are_there(name):
    script = (
        site.FILES["page.js"].read_text() if name == "page" else "".join(modules(name).values())
    )
    if name == "page":
        asked = set(re.findall(r'get\("(\w+)"\)', script))
        there = set(re.findall(r'id="(\w+)"', site.FILES["index.html"].read_text()))
    else:
        asked = set(re.findall(r'find\("(\w+)"\)', script))
        there = {word for text in re.findall(r'class="([\w ]+)"', script) for word in text.split()}
    assert len(asked) > 5 and asked <= there
