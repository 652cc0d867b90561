"""Each bad configuration gives one line that names file, key, value and what is allowed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from royale.errors import ConfigError
from royale.evidence.names import MatchName, PlayerName
from royale.learn.recipe import Recipe
from royale.project.asked import check_asked
from royale.project.config import read_yaml
from royale.project.ladder import scaled
from royale.project.project import load_project
from royale.project.roster import describe, match_game, match_pattern, panel_matches, sequential
from royale.schemas import schema

LADDER = "config/ladders/generals.yaml"
CONFIG = {
    "profile": "laptop",
    "ladders": ["generals"],
    "seeds": None,
    "games": None,
    "wall_clock": None,
    "match": {"mode": "fixed", "elo0": 0, "elo1": 30, "alpha": 0.05, "beta": 0.05, "batch": 64},
    "players": {},
    "panel": {"anchor": {"generals": "expander"}, "members": {}},
    "evidence": {"bar": 1.65, "strong": 2.58, "tie_break": "parent_margin"},
    "target": "parent",
    "report": ["target", "watch", "bench"],
}


def edit(file: Path, change) -> None:
    value = yaml.safe_load(file.read_text())
    change(value)
    file.write_text(yaml.safe_dump(value))


def generation(name, **changes):
    return lambda ladder: ladder["generations"][name].update(changes)


def remove(name, key):
    return lambda ladder: ladder["generations"][name].pop(key)


BAD_LADDERS = {
    "unknown key": (
        generation("g05", treatment={"epoch": 2}),
        ["generations.g05.treatment.epoch", "did you mean 'epochs'"],
    ),
    "missing parent": (
        generation("g05", parent="g99"),
        ["generations.g05.parent", "'g99'", "allowed: g02, g03"],
    ),
    "no parent": (remove("g05", "parent"), ["generations.g05", "parent"]),
    "cycle": (
        generation("g03", parent="g05"),
        ["closes a cycle", "g03 -> g05 -> g04 -> g03", "root g02"],
    ),
    "text for a number": (
        generation("g06", treatment={"gae_lambda": "high"}),
        ["generations.g06.treatment.gae_lambda", "'high'", "type number"],
    ),
    "out of range": (
        generation("g06", treatment={"gae_lambda": 1.5}),
        ["gae_lambda", "1.5", "<= 1"],
    ),
    "arm equal to control": (
        generation("g05", treatment={"epochs": 1}),
        ["generations.g05.treatment", "equals its control"],
    ),
    "arm equal to control through its parent": (
        generation("g05", treatment={"epochs": 1}, control={"clip": 0.2}),
        ["generations.g05.treatment", "equals its control"],
    ),
    "another network": (
        generation("g05", treatment={"channels": 32}),
        ["generations.g05.treatment", "another network"],
    ),
    "minibatch not whole": (
        generation("g04", treatment={"minibatch": 1023}),
        ["generations.g04.treatment", "255.75", "next legal value is 1020"],
    ),
    "unknown game": (lambda ladder: ladder.update(game="chess"), ["'game'", "chess", "generals"]),
    "root missing": (lambda ladder: ladder.update(root="g01"), ["'root'", "'g01'", "g02"]),
    "root with a parent": (
        generation("g02", parent="g03", treatment={"epochs": 2}, control={"epochs": 1}),
        ["generations.g02.parent", "is the root"],
    ),
    "no such scripted player": (
        lambda ladder: ladder.update(sanity=["stockfish"]),
        ["'sanity'", "'stockfish'", "random, expander"],
    ),
    "no such potential": (
        generation("g05", treatment={"shaping": {"gold": 1}}),
        ["shaping.gold", "land, army"],
    ),
    "set in ladder and profile": (
        lambda ladder: ladder["recipe"].update(learning_rate=0.1),
        ["recipe.learning_rate", "profiles/laptop.yaml", "remove one"],
    ),
    "empty question": (
        generation("g05", question=""),
        ["generations.g05.question", "''"],
    ),
    "question that steers the terminal": (
        generation("g05", question="\x1b[2J"),
        ["generations.g05.question", "allowed: text of the form"],
    ),
    "empty treatment": (
        generation("g05", treatment={}),
        ["generations.g05.treatment", "at least 1 entry"],
    ),
}


@pytest.mark.parametrize("case", BAD_LADDERS)
def test_bad_ladder(project_copy, case):
    change, words = BAD_LADDERS[case]
    edit(project_copy / LADDER, change)
    with pytest.raises(ConfigError) as caught:
        load_project(CONFIG, project_copy)
    text = str(caught.value)
    assert LADDER in text and "\n" not in text
    for word in words:
        assert word in text, text


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
        load_project({**CONFIG, **change}, Path(__file__).parents[1])
    text = str(caught.value)
    assert text.startswith("config/config.yaml") and "\n" not in text
    for word in words:
        assert word in text, text


def test_equal_wall_clock_needs_checkpoints_in_between():
    with pytest.raises(ConfigError) as caught:
        load_project({**CONFIG, "wall_clock": True}, Path(__file__).parents[1])
    text = str(caught.value)
    assert text.startswith(
        "config/profiles/laptop.yaml: key 'per_game.generals.train.segments.arm'"
    )
    assert "at least 2" in text and "\n" not in text


def test_only_matches_that_decide_are_sequential():
    config = {**CONFIG, "match": {**CONFIG["match"], "mode": "sprt"}}
    project = load_project(config, Path(__file__).parents[1])
    numbers = {"elo0": 0, "elo1": 30, "alpha": 0.05, "beta": 0.05, "batch": 64}
    for match in (
        "g03.treatment.seed0-vs-g03.control.seed0",
        "g03.control.seed0-vs-g02.champion",
        "g02.root.seed0-vs-random",
    ):
        assert sequential(project, MatchName.parse(match)) == numbers
    for match in (
        "g03.champion-vs-random",
        "random-vs-g03.champion",
        "g03.control.seed0-vs-hunter",
    ):
        assert sequential(project, MatchName.parse(match)) is None
    fixed = load_project(CONFIG, Path(__file__).parents[1])
    assert sequential(fixed, MatchName.parse("g03.treatment.seed0-vs-g03.control.seed0")) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("game: [generals", "not YAML"),
        ("- a\n- b\n", "a mapping"),
        ("game: generals\ngame: clash\n", "appears twice"),
        ("", "a mapping"),
        ("root: 2020-13-45", "not YAML"),
        ("[" * 3000, "not YAML"),
    ],
)
def test_not_yaml(project_copy, text, words):
    (project_copy / LADDER).write_text(text)
    with pytest.raises(ConfigError, match=words) as caught:
        load_project(CONFIG, project_copy)
    assert LADDER in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_numbers_that_are_none(project_copy, value):
    edit(project_copy / LADDER, generation("g05", treatment={"value_coef": value}))
    with pytest.raises(ConfigError, match=r"generations.g05.treatment.value_coef'|value_coef"):
        load_project(CONFIG, project_copy)


def test_lists_of_the_command_line_are_numbers():
    project = load_project({**CONFIG, "seeds": ["0", "2"]}, Path(__file__).parents[1])
    assert project.seeds == (0, 2)


def test_targets_of_other_profiles_are_refused():
    root = Path(__file__).parents[1]
    project = load_project({**CONFIG, "profile": "smoke"}, root)
    check_asked(project, root, ["-n", "results/smoke/ladder/g06.json", "--cores", "2"])
    with pytest.raises(ConfigError, match=r"belongs to profile laptop.*smoke"):
        check_asked(project, root, ["results/ladder/g06.json"])
    with pytest.raises(ConfigError, match="add --config profile=paper"):
        check_asked(project, root, ["results/paper/ladder/g06.json"])
    with pytest.raises(ConfigError, match="add --config profile=paper"):
        check_asked(project, root, ["./results//paper/ladder/g06.json"])


def test_targets_that_nothing_makes_are_refused_with_the_way_to_them():
    root = Path(__file__).parents[1]
    project = load_project({**CONFIG, "ladders": ["generals"]}, root)
    panel = {"anchor": {"generals": "expander", "clash": "cycle"}, "members": {}}
    ladders = {"profile": "smoke", "ladders": ["generals", "clash"], "panel": panel}
    both = load_project({**CONFIG, **ladders}, root)
    files = ["ladder/c02.json", "ladder/c02/champion.safetensors", "train/c02/root/seed0/x.json"]
    files += ["panel/c02.md", "target/c02.json"]
    for file in files:
        with pytest.raises(ConfigError, match=r"generals\] have no .*'c02'.*'ladders=\[clash\]'"):
            check_asked(project, root, [f"results/{file}"])
        check_asked(both, root, [f"results/smoke/{file}"])
    with pytest.raises(ConfigError, match=r"results/ladder/c09\.json: .* there are g02, g03, "):
        check_asked(project, root, ["results/ladder/c09.json"])
    for file in ("export/c02/parity.json", "play/c02/index.html"):
        with pytest.raises(ConfigError, match="c02 is of the game clash; only generals has"):
            check_asked(both, root, [f"results/smoke/{file}"])
        check_asked(project, root, [f"results/{file.replace('c02', 'g02')}"])
    check_asked(project, root, ["results/play/runtime/ort.js", "results/report/index.html"])


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
    project = load_project({**CONFIG, "profile": profile}, Path(__file__).parents[1])
    assert list(project.generations) == [f"g{n:02}" for n in range(2, 9)]
    assert project.results == ("results" if profile == "laptop" else f"results/{profile}")
    assert project.games % 2 == 0


def test_ladder_keeps_ratios_on_every_machine():
    # g04 compares 1024 with 2048 at paper scale; on a laptop a quarter of both
    base = {key: rule["default"] for key, rule in schema("recipe")["properties"].items()}
    scale = {"minibatch": 0.25, "entropy_floor": 100}
    small = scaled({**base, "minibatch": 1024}, scale)
    large = scaled({**base, "minibatch": 2048}, scale)
    assert (small.minibatch, large.minibatch) == (256, 512)
    assert large.entropy_floor == pytest.approx(0.1)


def test_recipe_record_is_the_schema():
    rules = schema("recipe")["properties"]
    defaults = Recipe().to_dict()
    assert list(defaults) == list(rules)
    assert defaults == {key: rule["default"] for key, rule in rules.items()}


def test_order_is_parents_first(project_copy):
    def shuffle(ladder):
        entries = ladder["generations"]
        ladder["generations"] = {name: entries[name] for name in reversed(entries)}

    ladder = read_yaml(project_copy, Path(LADDER))
    shuffle(ladder)
    (project_copy / LADDER).write_text(yaml.safe_dump(ladder, sort_keys=False))
    names = list(load_project(CONFIG, project_copy).generations)
    assert names == [f"g{n:02}" for n in range(2, 9)]


def test_matches_of_a_generation(project_copy):
    project = load_project({**CONFIG, "seeds": [3, 4]}, project_copy)
    assert list(map(str, project.direct_matches("g05"))) == [
        "g05.treatment.seed3-vs-g05.control.seed3",
        "g05.treatment.seed4-vs-g05.control.seed4",
    ]
    assert list(map(str, project.parent_matches("g05", "control"))) == [
        "g05.control.seed3-vs-g04.champion",
        "g05.control.seed4-vs-g04.champion",
    ]
    assert project.direct_matches("g02") == []
    assert str(project.parent_matches("g02", "root")[0]) == "g02.root.seed3-vs-random"


def test_a_folded_question_is_one_line(project_copy):
    edit(project_copy / LADDER, generation("g05", question="does it help,\nor not?\n"))
    assert load_project(CONFIG, project_copy).generations["g05"].question == "does it help, or not?"


MEMBER = {"game": "generals", "file": "old.safetensors", "sha256": "0" * 64}
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
        load_project({**CONFIG, "panel": change}, Path(__file__).parents[1])
    text = str(caught.value)
    assert text.startswith("config/config.yaml") and "\n" not in text
    for word in words:
        assert word in text, text


def test_the_panel_is_the_whole_lineage_and_what_never_changes():
    panel = {"anchor": {"generals": "expander"}, "members": {"old": MEMBER}}
    project = load_project({**CONFIG, "panel": panel}, Path(__file__).parents[1])
    matches = list(map(str, panel_matches(project, "g03")))
    scripted = 7
    assert len(matches) == len(set(matches)) == 1 + 2 + 3 * scripted
    assert {"g03.champion-vs-g02.champion", "g02.champion-vs-old", "old-vs-hunter"} <= set(matches)
    assert all(re.fullmatch(match_pattern(project), match) for match in matches)
    assert match_game(project, MatchName.parse("old-vs-hunter")) == "generals"
    assert describe(project, PlayerName.named("old")) == {
        "name": "old",
        "kind": "network",
        "sha256": "0" * 64,
    }
    # a decided lineage: the parent's panel is part of the child's
    assert set(matches) < set(map(str, panel_matches(project, "g04")))
