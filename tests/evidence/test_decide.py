"""From tiny networks to the ladder file and the panel, by way of the files between them."""

from __future__ import annotations

import shutil
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from royale import games
from royale.errors import RoyaleError
from royale.evidence import panel, played
from royale.evidence.decide import Files, decide
from royale.evidence.from_files import rated
from royale.evidence.names import ARMS
from royale.evidence.wall_clock import choose, segment_ends
from royale.files import read_json, sha256, write_json
from royale.learn.checkpoint import champion_from_checkpoint
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.segment import run_segment
from royale.project import roster
from royale.report import figures, table

ROOT = Path(__file__).resolve().parents[2]
SMOKE = yaml.safe_load((ROOT / "config/profiles/smoke.yaml").read_text())
SETTINGS = SMOKE["per_game"]["generals"]["settings"]
RECIPE = Recipe(channels=4, blocks=1, minibatch=64).to_dict()
SEEDS = [0, 1]
GAMES = 8
GATE = {"bar": 1.65, "strong": 2.58, "tie_break": "control", "mode": "fixed"}
SCRIPTED = games.load("generals").scripted


class Pipeline:
    """A results folder, and what the rules' functions write into it."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return str(self.folder / name)

    def segment(self, generation, arm, seed, number):
        return self.path(f"train/{generation}/{arm}/seed{seed}/segment{number}")

    def train(self, generation, arm, seed, segments, start=None):
        for number in range(segments):
            kind = "scratch" if start is None else ("checkpoint" if number else "weights")
            plan = SegmentPlan(
                *("generals", SETTINGS, RECIPE, 4, 8, 64, generation, arm, seed, number),
                start=kind,
                start_file=start and Path(start),
            )
            out = Path(self.segment(generation, arm, seed, number))
            run_segment(plan, out, out / "partial", say=lambda line: None)
            start = str(out / "checkpoint.safetensors")

    def compare(self, generation, seed):
        """Keep what the arms had when the first of them finished."""
        folder = Path(self.path(f"wall_clock/{generation}/seed{seed}"))
        folder.mkdir(parents=True)
        ends = {
            arm: segment_ends(
                [f"{self.segment(generation, arm, seed, k)}/metrics.jsonl" for k in range(2)]
            )
            for arm in ARMS
        }
        compared = {}
        for arm, end in choose(ends).items():
            checkpoint = Path(self.segment(generation, arm, seed, end["segment"]))
            weights = folder / f"{arm}.safetensors"
            champion_from_checkpoint(checkpoint / "checkpoint.safetensors", weights, {})
            compared[arm] = {**end, "sha256": sha256(weights)}
        record = {"generation": generation, "seed": seed, "arms": compared}
        write_json(folder / "compared.json", record, "wall_clock")

    def match(self, a, b, sequential=None):
        """Play a match of two (name, weights or None)."""
        name, sides = f"{a[0]}-vs-{b[0]}", {}
        for side, (player, file) in zip("ab", (a, b), strict=True):
            entry = {"name": player, "kind": "network" if file else "scripted"}
            made = roster.make_player(entry, file, "generals", SETTINGS, "sample", "cpu")
            sides[side] = played.Side(player, entry["kind"], made, file)
        record = played.record(name, "generals", SETTINGS, "sample", sides, GAMES, sequential)
        path = self.path(f"matches/{name}.json")
        write_json(path, record, "match")
        return path

    def ladder(self, generation, gate=GATE, sequential=None):
        """Play a generation's matches and decide it; the root is g02."""
        root = generation == "g02"
        arms = ["root"] if root else list(ARMS)
        segments = 1 if root else 2
        checkpoints = {
            f"{generation}.{arm}.seed{seed}": (
                f"{self.segment(generation, arm, seed, segments - 1)}/checkpoint.safetensors"
            )
            for arm in arms
            for seed in SEEDS
        }
        direct, clock, compared = [], [], []
        for seed in [] if root else SEEDS:
            names = [f"{generation}.{arm}.seed{seed}" for arm in arms]
            kept = self.path(f"wall_clock/{generation}/seed{seed}")
            files = [f"{kept}/{arm}.safetensors" for arm in arms]
            direct.append(self.match(*((n, checkpoints[n]) for n in names), sequential))
            clock.append(
                self.match(
                    *((f"{n}.wall_clock", f) for n, f in zip(names, files, strict=True)), sequential
                )
            )
            compared.append(f"{kept}/compared.json")
        champion = self.path("ladder/g02/champion.safetensors")
        rival = ("random", None) if root else ("g02.champion", champion)
        sanity = [self.match(player, rival, sequential) for player in checkpoints.items()]
        metrics = [
            f"{self.segment(generation, arm, seed, number)}/metrics.jsonl"
            for arm in arms
            for seed in SEEDS
            for number in range(segments)
        ]
        parent = {} if root else {"parent": self.path("ladder/g02.json")}
        parent |= {} if root else {"parent_champion": champion}
        about = {
            "generation": generation,
            "ladder": "generals",
            "game": "generals",
            "profile": "smoke",
            "note": "Made by a test.",
            "scale": {"minibatch": 1},
            "question": "does it help",
            "parent": None if root else "g02",
            "seeds": SEEDS,
        }
        found = decide(
            about,
            {arm: RECIPE if root else {"epochs": k + 1} for k, arm in enumerate(arms)},
            Files(direct, clock, compared, sanity, checkpoints, metrics, **parent),
            gate,
        )
        champion = Path(self.path(f"ladder/{generation}/champion.safetensors"))
        champion.parent.mkdir(parents=True, exist_ok=True)
        if found.carried:
            shutil.copyfile(found.file, champion)
        else:
            champion_from_checkpoint(Path(found.file), champion, {"player": found.player})
        record = {**found.record, "champion": {"player": found.player, "sha256": sha256(champion)}}
        write_json(self.path(f"ladder/{generation}.json"), record, "ladder")
        return found


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """Two generations with two seeds each, the second with two segments an arm."""
    made = Pipeline(tmp_path_factory.mktemp("results"))
    for seed in SEEDS:
        made.train("g02", "root", seed, 1)
    made.ladder("g02")
    for seed in SEEDS:
        for arm in ARMS:
            made.train("g03", arm, seed, 2, made.path("ladder/g02/champion.safetensors"))
        made.compare("g03", seed)
    made.ladder("g03")
    return made


def test_the_ladder_file_pools_seeds_and_tells_the_times(pipeline):
    ladder = read_json(pipeline.path("ladder/g03.json"), "ladder")
    effect = ladder["effect"]
    assert (effect["seeds"], effect["unit"], effect["tried"]) == (2, "seeds", 1)
    assert "2 seeds" in effect["note"] and effect["p_holm"] == effect["p"]
    each = ladder["direct_by_seed"].values()
    for key in ("win", "loss", "draw"):
        assert ladder["direct"][key] == sum(one[key] for one in each)
    games_played = sum(ladder["direct"][key] for key in ("win", "loss", "draw"))
    assert games_played == 2 * GAMES
    points = ladder["direct"]["win"] + ladder["direct"]["draw"] / 2
    assert effect["score"] == pytest.approx(points / games_played, abs=1e-6)
    for seed in "01":
        ends = ladder["wall_clock"]["compared"][seed]
        finished = [
            read_json(pipeline.path(f"wall_clock/g03/seed{seed}/compared.json"), "wall_clock")
        ][0]["arms"]
        assert {arm: end["seconds"] for arm, end in ends.items()} == {
            arm: end["seconds"] for arm, end in finished.items()
        }
        # one of the two had finished
        assert max(end["segment"] for end in ends.values()) == 1
        assert all(end["steps"] == 64 * (end["segment"] + 1) for end in ends.values())
    assert ladder["lineage"][-1]["wall_clock"] == ladder["wall_clock"]
    clock = ladder["wall_clock"]["direct"]
    assert sum(clock[key] for key in ("win", "loss", "draw")) == 2 * GAMES


def test_the_report_has_both_comparisons(pipeline):
    ladder = read_json(pipeline.path("ladder/g03.json"), "ladder")
    text = table.markdown(ladder)
    assert "g03 at equal wall clock" in text and "1 tried" in text and "improve" not in text
    assert "wall_clock_elo" in table.to_csv(ladder).splitlines()[0]


def test_a_sequential_match_is_not_judged_with_fixed_ones(pipeline):
    test = {"elo0": 0, "elo1": 30, "alpha": 0.05, "beta": 0.05, "batch": 4}
    weights = [
        (f"g03.{arm}.seed0", f"{pipeline.segment('g03', arm, 0, 1)}/checkpoint.safetensors")
        for arm in ("treatment", "control")
    ]
    path = pipeline.path("matches/g03.treatment.seed0-vs-g03.control.seed0.json")
    before = Path(path).read_bytes()
    fixed = read_json(path, "match")
    assert fixed["mode"] == "fixed" and fixed["sequential"] is None
    pipeline.match(*weights, test)
    try:
        record = read_json(path, "match")
        assert record["mode"] == "sprt"
        assert record["sequential"]["games_saved"] == GAMES - len(record["games"])
        assert record["games"] == fixed["games"][: len(record["games"])]
        with pytest.raises(RoyaleError, match="is of mode fixed, and this ladder of mode sprt"):
            pipeline.ladder("g02", {**GATE, "mode": "sprt"})
    finally:
        Path(path).write_bytes(before)


def test_the_panel_rates_champions_and_who_never_changes(pipeline):
    champions = {
        name: (f"{name}.champion", pipeline.path(f"ladder/{name}/champion.safetensors"))
        for name in ("g02", "g03")
    }
    old = pipeline.path("old.safetensors")
    Path(old).write_bytes(
        Path(pipeline.segment("g03", "control", 1, 0), "checkpoint.safetensors").read_bytes()
    )
    matches = [pipeline.match(champions["g03"], champions["g02"])]
    for player in (*champions.values(), ("old", old)):
        matches += [pipeline.match(player, (name, None)) for name in SCRIPTED[:2]]
    pairs = [
        {"a": a, "b": b, "win": 10, "loss": 10, "draw": 12, "margin": 0.0}
        for a, b in combinations(SCRIPTED, 2)
    ]
    robin = {"game": "generals", "settings": SETTINGS, "games": GAMES, "pairs": pairs}
    write_json(pipeline.path("round_robin/generals.json"), robin, "round_robin")
    found = rated(
        {"generation": "g03", "game": "generals", "profile": "smoke"},
        [pipeline.path(f"ladder/{name}.json") for name in champions],
        matches,
        pipeline.path("round_robin/generals.json"),
        {"old": sha256(old)},
        SCRIPTED[1],
        1.65,
    )
    write_json(pipeline.path("panel/g03.json"), found, "panel")
    record = read_json(pipeline.path("panel/g03.json"), "panel")
    assert record == found
    assert record["champions"] == ["g02.champion", "g03.champion"]
    names = {name for row in record["ratings"] for name in (row["name"], *row["also"])}
    assert names == {"g02.champion", "g03.champion", "old", *SCRIPTED}
    zero = next(row for row in record["ratings"] if row["name"] == SCRIPTED[1])
    assert zero["elo"] == zero["elo_low"] == zero["elo_high"] == 0
    assert figures.panel(record).count("<svg") == 1
    assert len(panel.to_csv(record).splitlines()) == 1 + len(record["ratings"])
