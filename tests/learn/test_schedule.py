"""A schedule of settings: it rules the games of its share of an arm, and no other."""

from __future__ import annotations

import numpy as np
import pytest
import toy_game

from royale.errors import ConfigError
from royale.games.generals.settings import RULE_BASE
from royale.learn import checkpoint
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer
from royale.project.config import check_recipe
from royale.project.ladder import root_recipe, scaled

ITERATION = 2 * 8 * 12
SMALL_FIRST = [
    {"until": 0.25, "settings": {"side": 5}},
    {"until": 0.75, "settings": {"max_turns": 3}},
]


def planned(make_plan, **changes):
    given = {"schedule": SMALL_FIRST, "arm_steps": 4 * ITERATION, "opponents": {"past": 0.5}}
    return make_plan(**given | changes)


def test_settings_at_a_share_by_hand():
    recipe = Recipe(settings={"a": 1}, schedule=[{"until": 0.5, "settings": {"b": 2}}])
    assert recipe.settings_at(0.0) == recipe.settings_at(0.499) == {"a": 1, "b": 2}
    assert recipe.settings_at(0.5) == recipe.settings_at(1.0) == {"a": 1}
    with pytest.raises(ConfigError, match=r"0\.5, 0\.5; allowed: each greater"):
        Recipe(schedule=[{"until": 0.5, "settings": {}}] * 2)


def test_a_schedule_changes_the_rules_of_new_games_at_its_shares(make_plan):
    cap = toy_game.SETTINGS["max_turns"]
    trainer = Trainer(planned(make_plan))
    trainer.start()
    seen, first = [], []
    for _ in range(4):
        row = trainer.iterate()
        spec = trainer.actors.batch.spec
        seen.append((spec.height, spec.max_turns))
        first.append(trainer.actors.episodes.min())
        if spec.max_turns == 3:
            assert row["game_length"] <= 3
    # a quarter, two more up to three quarters, then the plan's own
    side = toy_game.SETTINGS["side"]
    assert seen == [(5, cap), (side, 3), (side, 3), (side, cap)]
    # new games at each stage, of boards not dealt before, and the past selves go along
    assert first[0] < first[1] < first[3]
    assert len(trainer.actors.opponents.past) == 1


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_schedule_resumes_exactly_in_every_stage(make_plan, tmp_path, cut):
    whole = Trainer(planned(make_plan))
    whole.start()
    for iteration in range(4):
        if iteration == cut:
            checkpoint.save(tmp_path / "saved", *whole.state())
        whole.iterate()
    again = Trainer(planned(make_plan))
    again.load_state(*checkpoint.load(tmp_path / "saved"), tmp_path)
    for _ in range(4 - cut):
        again.iterate()
    one, two = whole.state()[0], again.state()[0]
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_a_schedule_is_in_shares_of_the_arm_and_of_nothing_where_there_is_none(make_plan):
    with pytest.raises(ValueError, match="arm_steps"):
        make_plan(schedule=SMALL_FIRST)
    longer = [planned(make_plan, arm_steps=n * ITERATION).fingerprint() for n in (4, 8)]
    assert longer[0] != longer[1]
    # without one, more segments are the same arm
    assert make_plan(arm_steps=1).fingerprint() == make_plan().fingerprint()


def test_a_price_of_castles_that_rises():
    sizes = {"recipe": {"channels": 4, "blocks": 1, "minibatch": 32}}
    stages = [{"until": 0.5, "settings": {"build_base": 5}}]
    recipe = scaled(root_recipe({"schedule": stages}, sizes), {"minibatch": 1, "entropy_floor": 1})
    settings = {"height": [5, 5], "width": [5, 5], "max_turns": 20, "deathtouch_turn": 15}
    settings |= {"min_distance": 3, "mountain_share": [0.1, 0.1], "castles_carved": [0, 1]}
    plan = SegmentPlan(
        "generals", settings, recipe.to_dict(), 4, 8, 128, "g", "root", 0, 0, arm_steps=128
    )
    trainer = Trainer(plan)
    trainer.start()
    bases = []
    for _ in range(2):
        trainer.iterate()
        bases.append(int(trainer.actors.batch._rules[RULE_BASE]))
    assert bases == [5, 35]


def test_a_fault_in_a_stage_names_it():
    for stage, words in (
        ({"until": 0.5, "settings": {"build_bas": 5}}, "schedule.0.settings.build_bas"),
        ({"until": 0, "settings": {"build_base": 5}}, "schedule.0.until' = 0; allowed: > 0"),
        ({"settings": {"build_base": 5}}, "schedule.0.until' is missing"),
    ):
        with pytest.raises(ConfigError, match=words):
            check_recipe({"schedule": [stage]}, "generals", "file", "recipe")
