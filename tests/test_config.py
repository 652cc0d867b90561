"""config.yaml and profiles: a bad one is one line that names file, key, value, what is allowed."""

from __future__ import annotations

import pytest
from configuration import CONFIG, LADDER, MEMBER, ROOT, edit, generation

from royale.errors import ConfigError
from royale.project.project import load_project

BAD_CONFIGS = {
    "negative games": ({"games": -2}, ["games", "-2", ">= 2"]),
    "odd games": ({"games": 33}, ["games", "33", "multiple of 2"]),
    "empty seeds": ({"seeds": []}, ["seeds", "[]", "at least 1"]),
    "seed twice": ({"seeds": [1, 1]}, ["seeds", "twice"]),
    "text for seeds": ({"seeds": "three"}, ["seeds", "'three'"]),
    "no such profile": ({"profile": "cluster"}, ["profile", "'cluster'", "laptop", "smoke"]),
    "no such ladder": ({"ladders": ["chess"]}, ["ladders", "'chess'", "generals"]),
    "external player of no game": (
        {"players": {"mine": {"game": "chess", "command": "x", "limit_ms": 150}}},
        ["players.mine.game", "'chess'", "generals"],
    ),
    "external player of a game without a door": (
        {
            "profile": "smoke",
            "players": {"mine": {"game": "clash", "command": "x", "limit_ms": 150}},
        },
        ["players.mine.game", "'clash'", "programs cannot play"],
    ),
    "external player named as a scripted one": (
        {"players": {"random": {"game": "generals", "command": "x", "limit_ms": 150}}},
        ["players.random", "scripted"],
    ),
    "external player without a command": (
        {"players": {"mine": {"game": "generals", "limit_ms": 150}}},
        ["players.mine.command", "missing"],
    ),
    "not a number": ({"evidence": {"bar": float("nan")}}, ["evidence.bar", "finite"]),
    "too large": ({"games": 10**30}, ["games", "at most"]),
    "test without a gap": (
        {"match": {**CONFIG["match"], "elo0": 30}},
        ["match.elo1", "30", "allowed: > elo0"],
    ),
    "odd batch": ({"match": {**CONFIG["match"], "batch": 33}}, ["match.batch", "multiple of 2"]),
    "sequential over seeds": (
        {"match": {**CONFIG["match"], "mode": "sprt"}, "seeds": [0, 1]},
        ["match.mode", "'sprt'", "2 seeds", "mode: fixed"],
    ),
    "unknown key": ({"game": 32}, ["'game'", "did you mean 'games'"]),
}


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_bad_config(case):
    change, words = BAD_CONFIGS[case]
    with pytest.raises(ConfigError) as caught:
        load_project({**CONFIG, **change}, ROOT)
    text = str(caught.value)
    assert text.startswith("config/config.yaml") and "\n" not in text
    for word in words:
        assert word in text, text


def test_equal_wall_clock_needs_checkpoints_in_between():
    with pytest.raises(ConfigError) as caught:
        load_project({**CONFIG, "wall_clock": True}, ROOT)
    text = str(caught.value)
    assert text.startswith(
        "config/profiles/laptop.yaml: key 'per_game.generals.train.segments.arm'"
    )
    assert "at least 2" in text and "\n" not in text


def test_lists_of_the_command_line_are_numbers():
    project = load_project({**CONFIG, "seeds": ["0", "2"]}, ROOT)
    assert project.seeds == (0, 2)


def test_run_exact_has_one_thread(project_copy):
    path = project_copy / "config/profiles/laptop.yaml"
    edit(path, lambda profile: profile.update(determinism="run_exact"))
    load_project(CONFIG, project_copy)
    edit(path, lambda profile: profile["threads"].update(train=2))
    with pytest.raises(ConfigError, match=r"laptop\.yaml: key 'threads\.train' = 2 .* allowed: 1"):
        load_project(CONFIG, project_copy)


def test_overlap_is_for_one_process(project_copy):
    edit(project_copy / LADDER, generation("g05", treatment={"overlap": True}))
    load_project(CONFIG, project_copy)
    path = project_copy / "config/profiles/laptop.yaml"
    edit(path, lambda profile: profile.update(processes=2))
    with pytest.raises(ConfigError) as error:
        load_project(CONFIG, project_copy)
    for words in ("generations.g05.treatment", "'overlap' = true", "processes = 2"):
        assert words in str(error.value)


def test_bad_profile(project_copy):
    path = project_copy / "config/profiles/laptop.yaml"
    edit(path, lambda profile: profile["per_game"]["generals"]["settings"].update(max_turns="long"))
    with pytest.raises(
        ConfigError, match=r"laptop.yaml: key 'per_game.generals.settings.max_turns'"
    ):
        load_project(CONFIG, project_copy)


@pytest.mark.parametrize("profile", ["smoke", "laptop", "workstation", "many_core", "paper"])
def test_shipped_profiles_load(profile):
    project = load_project({**CONFIG, "profile": profile}, ROOT)
    assert list(project.generations) == [f"g{n:02}" for n in range(2, 9)]
    assert project.results == ("results" if profile == "laptop" else f"results/{profile}")
    assert project.games % 2 == 0


BAD_PANELS = {
    "no anchor": ({"anchor": {}, "members": {}}, ["panel.anchor.generals", "allowed: random"]),
    "anchor is no player": (
        {"anchor": {"generals": "stockfish"}, "members": {}},
        ["panel.anchor.generals", "'stockfish'", "allowed: random, expander"],
    ),
    "name of another player": (
        {"anchor": {"generals": "random"}, "members": {"random": MEMBER}},
        ["panel.members.random", "another player's name"],
    ),
    "member of no game": (
        {"anchor": {"generals": "random"}, "members": {"old": {**MEMBER, "game": "chess"}}},
        ["panel.members.old.game", "'chess'", "allowed: clash, generals"],
    ),
    "no digest": (
        {"anchor": {"generals": "random"}, "members": {"old": {**MEMBER, "sha256": "abc"}}},
        ["panel.members.old.sha256", "'abc'"],
    ),
}


@pytest.mark.parametrize("case", BAD_PANELS)
def test_bad_panel(case):
    change, words = BAD_PANELS[case]
    with pytest.raises(ConfigError) as caught:
        load_project({**CONFIG, "panel": change}, ROOT)
    text = str(caught.value)
    assert text.startswith("config/config.yaml") and "\n" not in text
    for word in words:
        assert word in text, text
