"""The close-out watch: what it counts, what it writes, and that the ladder does not need it."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from royale import games, rng
from royale.evidence import from_files, match, watch
from royale.evidence.names import PlayerName
from royale.files import read_json, sha256, write_json, write_text
from royale.learn.plan import SegmentPlan
from royale.learn.player import NetworkPlayer
from royale.learn.recipe import Recipe
from royale.learn.segment import run_segment
from royale.report import figures
from royale.report.collect import read_watch

ROOT = Path(__file__).resolve().parents[1]
SMOKE = yaml.safe_load((ROOT / "config/profiles/smoke.yaml").read_text())
SETTINGS = SMOKE["per_game"]["generals"]["settings"]
RIVALS = ["random", "hunter", "castle_builder"]
GAMES = 8


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A tiny network of Generals after one iteration."""
    folder = tmp_path_factory.mktemp("segment")
    recipe = Recipe(channels=4, blocks=1, minibatch=64)
    plan = SegmentPlan("generals", SETTINGS, recipe.to_dict(), 4, 8, 1, "g02", "root", 0, 0)
    run_segment(plan, folder, folder / "partial", say=lambda line: None)
    return folder / "checkpoint.safetensors"


def watched(checkpoint):
    player = NetworkPlayer(checkpoint)
    name = PlayerName.parse("g02.root.seed0.segment0")
    what = "generals", SETTINGS, "sample", RIVALS, GAMES
    return from_files.watched(name, player.meta["agent_steps"], player, checkpoint, *what)


def test_the_file_says_what_was_played(checkpoint, tmp_path):
    write_json(tmp_path / "segment0.json", watched(checkpoint), "watch")
    record = read_json(tmp_path / "segment0.json", "watch")
    assert record["checkpoint_sha256"] == sha256(checkpoint)
    assert record["agent_steps"] == 2 * 4 * 8
    assert list(record["rivals"]) == RIVALS
    game = games.load("generals")
    spec = game.spec(SETTINGS, game.encoders[0])
    for name, found in record["rivals"].items():
        # played again, and counted by hand
        players = [NetworkPlayer(checkpoint), game.scripted_player(name, spec)]
        key = rng.key_of("watch", "generals", name)
        played = match.play("generals", SETTINGS, players, GAMES, key, statistics=True)
        winners = [one["winner"] for one in played]
        counts = [winners.count(0), winners.count(1), winners.count(None)]
        assert counts == [found[key] for key in ("win", "loss", "draw")]
        assert found["draw_share"] == counts[2] / GAMES and found["win_share"] == counts[0] / GAMES
        assert found["truncated_share"] == sum(one["truncated"] for one in played) / GAMES
        assert found["turns_mean"] == sum(one["turns"] for one in played) / GAMES
        assert set(found["own"]) == set(found["rival"]) == set(spec.statistics)
        land = spec.statistics.index("land")
        for k, side in enumerate(("own", "rival")):
            mean = sum(one["statistics"][k][land] for one in played) / GAMES
            assert found[side]["land"] == pytest.approx(mean)
    assert sum(found["loss"] for found in record["rivals"].values()) > 0


def test_the_same_checkpoint_gives_the_same_file(checkpoint):
    assert json.dumps(watched(checkpoint)) == json.dumps(watched(checkpoint))


def test_statistics_are_each_players_own():
    game = games.load("generals")
    spec = game.spec(SETTINGS, game.encoders[0])
    players = [game.scripted_player(name, spec) for name in ("hunter", "random")]
    plain = match.play("generals", SETTINGS, players, 32, 5)
    told = match.play("generals", SETTINGS, players, 32, 5, statistics=True)
    land = spec.statistics.index("land")
    decided = 0
    for without, record in zip(plain, told, strict=True):
        statistics = record.pop("statistics")
        assert record == without
        if record["winner"] is not None:  # whoever takes a general takes all its land
            assert statistics[record["winner"]][land] > 0
            assert statistics[1 - record["winner"]][land] == 0
            decided += 1
    assert decided > 10


def segment(generation, arm, number, win, draw, seed=0):
    """A watch file of 10 games against each of two rivals, the second always lost."""
    wins = {"random": (win, 10 - win - draw, draw), "hunter": (0, 10, 0)}
    return {
        "generation": generation,
        "arm": arm,
        "seed": seed,
        "segment": number,
        "agent_steps": 100 * (number + 1),
        "checkpoint_sha256": "0",
        "game": "generals",
        "settings": SETTINGS,
        "policy": "sample",
        "rivals": {
            rival: {
                "games": 10,
                "win": w,
                "loss": lost,
                "draw": d,
                "win_share": w / 10,
                "draw_share": d / 10,
                "truncated_share": d / 10,
                "turns_mean": 100 / 3,
                "own": {"castles": 1.0},
                "rival": {"castles": 0.0},
            }
            for rival, (w, lost, d) in wins.items()
        },
    }


LINEAGE = [
    segment("g02", "root", 0, 5, 5),
    segment("g02", "root", 1, 7, 3),
    segment("g03", "treatment", 0, 4, 6),
    segment("g03", "control", 0, 8, 2),
]
PROMOTED = {"g02": "root", "g03": "control"}


def test_rows_follow_the_ladder():
    table = watch.rows(LINEAGE, PROMOTED)
    own = [row for row in table if row["rival"] == "random"]
    assert [row["position"] for row in own] == [0, 1, 2, 2]
    assert [row["promoted"] for row in own] == [True, True, False, True]
    assert [(row["win"], row["draw"]) for row in own] == [(5, 5), (7, 3), (4, 6), (8, 2)]
    assert not any(row["promoted"] for row in watch.rows(LINEAGE[2:], {"g03": "parent"}))
    parsed = list(csv.DictReader(watch.to_csv(table).splitlines()))
    assert len(parsed) == len(table) == 8
    assert parsed[0]["turns_mean"] == "33.3333" and parsed[0]["own_castles"] == "1.0"


@pytest.mark.parametrize("promoted", [PROMOTED, {"g02": "root", "g03": "parent"}])
def test_the_report_of_a_ladder(tmp_path, promoted):
    paths = []
    segments = [*LINEAGE[:2], segment("g03", "treatment", 0, 0, 10), LINEAGE[3]]
    for k, record in enumerate(segments):
        paths.append(str(tmp_path / f"{k}.json"))
        write_json(paths[-1], record, "watch")
    ladder = {
        "ladder": "generals",
        "profile": "smoke",
        "lineage": [
            {
                "generation": name,
                "promotion": {"promoted": arm},
                "direct": None if name == "g02" else {"margin": 0.0},
                "sanity": {arm: {"rival": {"margin": 1.0}} for arm in ("treatment", "control")},
            }
            for name, arm in promoted.items()
        ],
    }

    # of the ladder file only what is above is read; the rest is tested with the ladder
    table, alarms = from_files.watched_ladder(ladder, paths)
    assert table == watch.rows(segments, promoted)
    (alarm,) = alarms  # 30% of draws, then all of them
    assert alarm.startswith("alarm draws_rising: g03 treatment seed 0 segment 0 draws 100% ")
    write_text(tmp_path / "g03.csv", watch.to_csv(table))
    assert figures.watch(read_watch(tmp_path / "g03.csv"), ladder).count("<svg") == 1


def drawn(generation, arm, number, share, games=1000, seed=0):
    """A row of the watch table against the first rival, with that share of draws."""
    row = {"generation": generation, "arm": arm, "segment": number, "seed": seed, "games": games}
    return row | {"rival": "random", "draw_share": share, "position": (generation, number)}


def test_draws_that_rise_while_it_gets_stronger_at_home():
    table = [
        drawn("g02", "root", 0, 0.5) | {"promoted": True},
        drawn("g02", "root", 1, 0.2) | {"promoted": True},
        drawn("g03", "treatment", 0, 0.301) | {"promoted": False},
        drawn("g03", "control", 0, 0.299) | {"promoted": True},
        # the rest of the table is not looked at
        drawn("g03", "control", 0, 0.9) | {"promoted": True, "rival": "hunter"},
    ]
    margins = {("g02", "root"): None, ("g03", "treatment"): 2.0, ("g03", "control"): 2.0}
    (line,) = watch.draws_rising(table, margins)
    assert line.startswith("alarm draws_rising: g03 treatment seed 0 segment 0 draws 30% ")
    assert "after 20% in g02 segment 1, while it beats its parent by +2.00" in line
    # weaker at home: the gate sees that
    assert watch.draws_rising(table, margins | {("g03", "treatment"): -0.1}) == []
    # a root has no parent, and is told of as it trains on
    (line,) = watch.draws_rising([table[1] | {"position": ("g02", 0)}, table[2]], {})
    assert "while it trains on" in line
    # 0.3 after 0.2 of 100 games each: 1.6 standard errors, which is chance
    assert watch.draws_rising([row | {"games": 100} for row in table], margins) == []
    # another seed's line is no forebear, nor is a network that was not promoted
    assert watch.draws_rising([table[1], table[2] | {"seed": 1}], margins) == []
    assert watch.draws_rising([table[1] | {"promoted": False}, table[2]], margins) == []
    assert watch.draws_rising([], {}) == []


def planned(folder, target):
    words = [sys.executable, "-m", "snakemake", target, "-n", "--cores", "1"]
    done = subprocess.run(
        [*words, "--config", "profile=smoke"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE)


@pytest.mark.pipeline
def test_the_ladder_watches_nothing_and_the_watch_looks_at_its_whole_lineage(project_copy):
    (project_copy / "profiles").symlink_to(ROOT / "profiles")
    without = planned(project_copy, "results/smoke/ladder/g03.json")
    assert not [job for job in without if "watch" in job.lower()]
    with_it = planned(project_copy, "results/smoke/watch/g03.csv")
    assert sorted(set(with_it) - set(without)) == [
        "Report of the watch up to g03",
        "Watching g02 root, seed 0, segment 0",
        "Watching g02 root, seed 0, segment 1",
        "Watching g03 control, seed 0, segment 0",
        "Watching g03 treatment, seed 0, segment 0",
    ]
