"""Ladder files: each bad one gives one line that names file, key, value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from configuration import CONFIG, LADDER, edit, generation, remove

from royale.errors import ConfigError
from royale.learn.recipe import Recipe
from royale.project.config import read_yaml
from royale.project.ladder import scaled
from royale.project.project import load_project
from royale.schemas import schema

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
    "index of no generation": (
        lambda ladder: ladder.update(index="g99"),
        ["'index'", "'g99'", "allowed: g02, g03"],
    ),
    "a generation with the page's name": (
        lambda ladder: ladder["generations"].update(index=ladder["generations"].pop("g08")),
        ["generations.index", "another name"],
    ),
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
    "question with what no XML file may have": (
        generation("g05", question="GAE lambda \ufffe 0.9"),
        ["generations.g05.question", "allowed: text of the form"],
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


def test_the_index_is_named_or_the_last_generation_of_the_last_ladder(project_copy):
    assert load_project(CONFIG, project_copy).index == "g06"
    panel = {"anchor": {"generals": "expander", "clash": "cycle"}, "members": {}}
    both = {**CONFIG, "ladders": ["generals", "clash"], "panel": panel}
    assert load_project(both, project_copy).index == "c02"
    edit(project_copy / LADDER, lambda ladder: ladder.pop("index"))
    assert load_project(CONFIG, project_copy).index == "g08"


def test_a_schedule_of_an_arm_is_no_other_generations_business(project_copy):
    before = load_project(CONFIG, project_copy)
    stages = [{"until": 0.5, "settings": {"max_turns": 100}}]
    edit(project_copy / LADDER, generation("g08", treatment={"schedule": stages}))
    after = load_project(CONFIG, project_copy)
    for name in ("g02", "g05", "g07"):
        assert after.arm_geometry(name) == before.arm_geometry(name)
        assert "arm_steps" not in after.arm_geometry(name)
    assert after.arm_geometry("g08")["arm_steps"] == 1_000_000
