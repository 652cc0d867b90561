"""The scripts that judge, from tiny networks to the ladder file and the panel, as Snakemake runs them."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from royale import games
from royale.files import read_json, sha256, write_json
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.segment import run_segment
from royale.run.told import Told

ROOT = Path(__file__).resolve().parents[1]
SMOKE = yaml.safe_load((ROOT / "config/profiles/smoke.yaml").read_text())
SETTINGS = SMOKE["per_game"]["generals"]["settings"]
RECIPE = Recipe(channels=4, blocks=1, minibatch=64).to_dict()
SEEDS = [0, 1]
GAMES = 8
GATE = {"bar": 1.65, "strong": 2.58, "tie_break": "control", "mode": "fixed"}
SCRIPTED = games.load("generals").scripted


class Named(list):
    """Files by place and by name, as Snakemake hands them to a script."""

    def __init__(self, **named):
        super().__init__(
            file
            for entry in named.values()
            for file in ([entry] if isinstance(entry, str) else entry)
        )
        self.__dict__ |= named

    def __getitem__(self, key):
        return self.__dict__[key] if isinstance(key, str) else super().__getitem__(key)

    def get(self, key, default=None):
        return self.__dict__.get(key, default)


class Pipeline:
    """A results folder and the scripts that write into it."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return str(self.folder / name)

    def script(self, script_name, **fields):
        snakemake = SimpleNamespace(threads=1, log=[self.path(f"logs/{script_name}")], **fields)
        runpy.run_path(str(ROOT / f"scripts/{script_name}.py"), {"snakemake": snakemake})

    def told(self):
        path = self.path("told.json")
        Told(
            results=str(self.folder),
            bench=self.path("bench/smoke.json"),
            note="Made by a test.",
            rented=False,
            price_per_hour=0,
            currency="EUR",
            runtime=10,
            checkpoint_seconds=1,
            processes=1,
            ladders={},
        ).write(path)
        return path

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

    def match(self, a, b, sequential=None):
        """Play a match of two (name, weights or None)."""
        name = f"{a[0]}-vs-{b[0]}"
        self.script(
            "match",
            input=Named(
                **{
                    side: [file] if file else []
                    for side, (_, file) in zip("ab", (a, b), strict=True)
                }
            ),
            output=[self.path(f"matches/{name}.json")],
            wildcards=SimpleNamespace(match=name),
            params=SimpleNamespace(
                game="generals",
                players={
                    side: {"name": player, "kind": "network" if file else "scripted"}
                    for side, (player, file) in zip("ab", (a, b), strict=True)
                },
                settings=SETTINGS,
                games=GAMES,
                sequential=sequential,
                policy="sample",
                device="cpu",
            ),
        )
        return self.path(f"matches/{name}.json")

    def ladder(self, generation, gate=GATE, sequential=None):
        """Play a generation's matches and judge it; the root is g02."""
        root = generation == "g02"
        arms = ["root"] if root else ["treatment", "control"]
        segments = 1 if root else 2
        end = {
            (
                arm,
                seed,
            ): f"{self.segment(generation, arm, seed, segments - 1)}/checkpoint.safetensors"
            for arm in arms
            for seed in SEEDS
        }
        direct, clock = [], []
        for seed in [] if root else SEEDS:
            names = [f"{generation}.{arm}.seed{seed}" for arm in arms]
            kept = self.path(f"wall_clock/{generation}/seed{seed}")
            files = [f"{kept}/{arm}.safetensors" for arm in arms]
            direct.append(
                self.match(*zip(names, [end[arm, seed] for arm in arms], strict=True), sequential)
            )
            clock.append(
                self.match(
                    *((f"{n}.wall_clock", f) for n, f in zip(names, files, strict=True)), sequential
                )
            )
        parent = self.path("ladder/g02/champion.safetensors")
        rival = ("random", None) if root else ("g02.champion", parent)
        sanity = [
            self.match((f"{generation}.{arm}.seed{seed}", file), rival, sequential)
            for (arm, seed), file in end.items()
        ]
        more = {} if root else {"parent": self.path("ladder/g02.json"), "parent_champion": parent}
        self.script(
            "ladder",
            input=Named(
                direct=direct,
                wall_clock=clock,
                compared=[
                    self.path(f"wall_clock/{generation}/seed{s}/compared.json") for s in SEEDS
                ]
                if clock
                else [],
                sanity=sanity,
                checkpoints=list(end.values()),
                metrics=[
                    f"{self.segment(generation, arm, seed, number)}/metrics.jsonl"
                    for arm in arms
                    for seed in SEEDS
                    for number in range(segments)
                ],
                **more,
            ),
            output=Named(
                ladder=self.path(f"ladder/{generation}.json"),
                champion=self.path(f"ladder/{generation}/champion.safetensors"),
            ),
            wildcards=SimpleNamespace(generation=generation),
            params=SimpleNamespace(
                told=self.told(),
                question="does it help",
                game="generals",
                parent=None if root else "g02",
                ladder="generals",
                profile="smoke",
                scale={"minibatch": 1},
                changes={arm: RECIPE if root else {"epochs": k + 1} for k, arm in enumerate(arms)},
                players=[f"{generation}.{arm}.seed{seed}" for arm, seed in end],
                seeds=SEEDS,
                evidence=gate,
            ),
        )


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """Two generations with two seeds each, the second with two segments an arm."""
    made = Pipeline(tmp_path_factory.mktemp("results"))
    for seed in SEEDS:
        made.train("g02", "root", seed, 1)
    made.ladder("g02")
    for seed in SEEDS:
        for arm in ("treatment", "control"):
            made.train("g03", arm, seed, 2, made.path("ladder/g02/champion.safetensors"))
        arms = ("treatment", "control")
        folder = made.path(f"wall_clock/g03/seed{seed}")
        made.script(
            "wall_clock",
            input=Named(
                **{
                    f"{arm}_{kind}": [
                        f"{made.segment('g03', arm, seed, k)}/{file}" for k in range(2)
                    ]
                    for arm in arms
                    for kind, file in (
                        ("checkpoints", "checkpoint.safetensors"),
                        ("metrics", "metrics.jsonl"),
                    )
                }
            ),
            output=Named(
                **{arm: f"{folder}/{arm}.safetensors" for arm in arms},
                compared=f"{folder}/compared.json",
            ),
            wildcards=_Wildcards("g03", seed),
        )
    made.ladder("g03")
    return made


class _Wildcards(dict):
    """Wildcards by name and as a mapping."""

    def __init__(self, generation, seed):
        super().__init__(generation=generation, seed=str(seed))
        self.__dict__ |= self


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
    out = Named(**{k: pipeline.path(f"report/g03.{k}") for k in ("plot", "table", "markdown")})
    out.plot += ".svg"
    pipeline.script(
        "report_ladder",
        input=[pipeline.path("ladder/g03.json")],
        output=out,
        wildcards=SimpleNamespace(generation="g03"),
    )
    text = Path(out.markdown).read_text()
    assert "g03 at equal wall clock" in text and "1 tried" in text and "improve" not in text
    assert "wall_clock_elo" in Path(out.table).read_text().splitlines()[0]


def test_a_sequential_match_is_not_judged_with_fixed_ones(pipeline, capsys):
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
        with pytest.raises(SystemExit):
            pipeline.ladder("g02", {**GATE, "mode": "sprt"})
    finally:
        Path(path).write_bytes(before)
    told = capsys.readouterr().err
    assert "is of mode fixed, and this ladder of mode sprt" in told


def test_the_panel_script(pipeline):
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
    outputs = {
        key: pipeline.path(f"panel/g03.{end}")
        for key, end in (("record", "json"), ("table", "csv"), ("markdown", "md"), ("plot", "svg"))
    }
    pipeline.script(
        "panel",
        input=Named(
            ladders=[pipeline.path(f"ladder/{name}.json") for name in champions],
            matches=matches,
            round_robin=pipeline.path("round_robin/generals.json"),
        ),
        output=Named(**outputs),
        wildcards=SimpleNamespace(generation="g03"),
        params=SimpleNamespace(
            game="generals",
            profile="smoke",
            members={"old": sha256(old)},
            anchor=SCRIPTED[1],
            bar=1.65,
        ),
    )
    record = read_json(outputs["record"], "panel")
    assert record["champions"] == ["g02.champion", "g03.champion"]
    names = {name for row in record["ratings"] for name in (row["name"], *row["also"])}
    assert names == {"g02.champion", "g03.champion", "old", *SCRIPTED}
    zero = next(row for row in record["ratings"] if row["name"] == SCRIPTED[1])
    assert zero["elo"] == zero["elo_low"] == zero["elo_high"] == 0
    assert Path(outputs["plot"]).read_text().count("<svg") == 1
    assert len(Path(outputs["table"]).read_text().splitlines()) == 1 + len(record["ratings"])


@pytest.mark.pipeline
def test_what_panel_and_wall_clock_plan(project_copy):
    (project_copy / "profiles").symlink_to(ROOT / "profiles")
    profile = project_copy / "config/profiles/smoke.yaml"
    profile.write_text(profile.read_text().replace("arm: 1}", "arm: 2}"))
    words = [
        sys.executable,
        "-m",
        "snakemake",
        "results/smoke/panel/g03.json",
        "-n",
        "--cores",
        "1",
    ]
    done = subprocess.run(
        [*words, "--config", "profile=smoke", "wall_clock=true"],
        cwd=project_copy,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE)
    assert "Equal wall clock of g03, seed 0" in jobs
    assert "Match g03.treatment.seed0.wall_clock-vs-g03.control.seed0.wall_clock" in jobs
    champions = [job for job in jobs if re.match(r"Match g0\d\.champion-vs-", job)]
    assert len(champions) == 1 + 2 * len(SCRIPTED)
    assert "Panel of g03" in jobs and "Round robin of the scripted players of generals" in jobs
