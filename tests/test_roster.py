"""Names of players: networks after a segment, and the reference of the time to target."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from royale.errors import ConfigError, RoyaleError
from royale.evidence.names import MatchName
from royale.project import roster
from royale.project.project import load_project

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def project():
    return load_project(yaml.safe_load((ROOT / "config/config.yaml").read_text()), ROOT)


def test_networks_after_a_segment_can_play(project):
    pattern = roster.match_pattern(project)
    for name in (
        "g05.treatment.seed0.segment1-vs-g04.champion",
        "g05.treatment.seed10-vs-random",
        "random-vs-g02.root.seed0.segment12",
    ):
        assert re.fullmatch(pattern, name), name
    for name in (
        "g05.treatment.segment1-vs-random",
        "g05.treatment.seed0.segment01-vs-random",
        "g05.champion.segment1-vs-random",
        "random-vs-hunter",
    ):
        assert not re.fullmatch(pattern, name), name


def test_the_last_segment_is_the_arm_itself(project):
    assert project.segments("g02") == 2
    assert str(roster.segment_player(project, "g02", "root", 3, 0)) == "g02.root.seed3.segment0"
    assert str(roster.segment_player(project, "g02", "root", 3, 1)) == "g02.root.seed3"


def test_a_scripted_player_of_another_game_is_refused_before_anything_is_trained(project):
    assert roster.match_game(project, MatchName.parse("g05.champion-vs-hunter")) == "generals"
    with pytest.raises(RoyaleError, match="generals has no player 'cycle'; it has random, exp"):
        roster.match_game(project, MatchName.parse("g05.champion-vs-cycle"))


def test_the_reference_of_the_time_to_target(project):
    assert str(roster.target_reference(project, "g05")) == "g04.champion"
    for name in ("hunter", "g02.champion", "g02.root.seed0.segment0"):
        assert str(roster.target_reference(replace(project, target=name), "g05")) == name


@pytest.mark.parametrize("name", ["nobody", "g01.champion", "g02.champion-vs-random", "Parent"])
def test_a_reference_that_is_no_player_is_refused(project, name):
    with pytest.raises(
        ConfigError, match=rf"config\.yaml: key 'target' = '{name}'; allowed: parent"
    ):
        roster.target_reference(replace(project, target=name), "g05")
