"""Names of players: networks after a segment, and the reference of the time to target."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import yaml
from configuration import CONFIG, MEMBER, ROOT

from royale.errors import ConfigError, RoyaleError
from royale.evidence.names import MatchName, PlayerName
from royale.project import roster
from royale.project.project import load_project


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


def test_only_matches_that_decide_are_sequential():
    config = {**CONFIG, "match": {**CONFIG["match"], "mode": "sprt"}}
    project = load_project(config, ROOT)
    numbers = {"elo0": 0, "elo1": 30, "alpha": 0.05, "beta": 0.05, "batch": 64}
    for match in (
        "g03.treatment.seed0-vs-g03.control.seed0",
        "g03.control.seed0-vs-g02.champion",
        "g02.root.seed0-vs-random",
    ):
        assert roster.sequential(project, MatchName.parse(match)) == numbers
    for match in (
        "g03.champion-vs-random",
        "random-vs-g03.champion",
        "g03.control.seed0-vs-hunter",
    ):
        assert roster.sequential(project, MatchName.parse(match)) is None
    fixed = load_project(CONFIG, ROOT)
    assert (
        roster.sequential(fixed, MatchName.parse("g03.treatment.seed0-vs-g03.control.seed0"))
        is None
    )


def test_the_panel_is_the_whole_lineage_and_what_never_changes():
    panel = {"anchor": {"generals": "expander"}, "members": {"old": MEMBER}}
    project = load_project({**CONFIG, "panel": panel}, ROOT)
    matches = list(map(str, roster.panel_matches(project, "g03")))
    scripted = 7
    assert len(matches) == len(set(matches)) == 1 + 2 + 3 * scripted
    assert {"g03.champion-vs-g02.champion", "g02.champion-vs-old", "old-vs-hunter"} <= set(matches)
    assert all(re.fullmatch(roster.match_pattern(project), match) for match in matches)
    assert roster.match_game(project, MatchName.parse("old-vs-hunter")) == "generals"
    assert roster.describe(project, PlayerName.named("old")) == {
        "name": "old",
        "kind": "network",
        "sha256": "0" * 64,
    }
    # a decided lineage: the parent's panel is part of the child's
    assert set(matches) < set(map(str, roster.panel_matches(project, "g04")))
