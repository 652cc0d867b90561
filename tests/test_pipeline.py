"""The pipeline itself, by the commands a user gives, at its smallest scale."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import jsonschema
import pytest
import yaml
from pipeline import LADDER, ROOT, command, make_project, planned, processor, snakemake

from royale.files import read_json, sha256
from royale.run.told import Told
from royale.schemas import schema

pytestmark = pytest.mark.pipeline
GENERATIONS = ["g02", "g03", "g04", "g05", "g06"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project folder whose smoke ladder has been run up to g06."""
    folder = make_project(tmp_path_factory.mktemp("smoke") / "project")
    done = snakemake(folder, "results/smoke/ladder/g06.json", "results/smoke/report/g06.svg")
    assert done.returncode == 0, done.stdout + done.stderr
    # the table at the end; "(one seed)" may be folded
    for words in ("W-L-D", "sanity", "promoted", "g06", "seed)", "T treatment"):
        assert words in " ".join(done.stdout.split())
    return folder


def test_ladder_file_agrees_with_its_matches(finished):
    results = finished / "results/smoke"
    lineage = read_json(results / "ladder/g06.json", "ladder")["lineage"]
    assert [entry["generation"] for entry in lineage] == GENERATIONS
    for generation in GENERATIONS[1:]:
        entry = read_json(results / f"ladder/{generation}.json", "ladder")
        parent = read_json(results / f"ladder/{entry['parent']}.json", "ladder")
        name = f"{generation}.treatment.seed0-vs-{generation}.control.seed0"
        match = read_json(results / f"matches/{name}.json", "match")
        # recount the games, by hand as it were
        winners = [game["winner"] for game in match["games"]]
        counts = [winners.count(0), winners.count(1), winners.count(None)]
        assert counts == [match[key] for key in ("win", "loss", "draw")]
        assert counts == [entry["direct"][key] for key in ("win", "loss", "draw")]
        for first, second in zip(match["games"][::2], match["games"][1::2], strict=True):
            assert first["seed"] == second["seed"]
            assert first["seats"] == [0, 1] and second["seats"] == [1, 0]
        # the champion is the promoted arm's, or the parent's carried forward
        promoted = entry["promotion"]["promoted"]
        champion = results / f"ladder/{generation}/champion.safetensors"
        assert sha256(champion) == entry["champion"]["sha256"]
        if promoted == "parent":
            assert entry["champion"] == parent["champion"]
            assert entry["recipe"] == parent["recipe"]
        else:
            assert entry["champion"]["player"] == f"{generation}.{promoted}.seed0"
            assert entry["recipe"] == {**parent["recipe"], **entry["arms"][promoted]["changes"]}
        for arm, found in entry["arms"].items():
            checkpoint = results / f"train/{generation}/{arm}/seed0/segment0/checkpoint.safetensors"
            assert found["checkpoints"] == {"0": sha256(checkpoint)}
            assert found["steps"] == 8192 and found["seconds"] > 0


def test_the_run_is_still_the_one_of_the_commit_in_the_file(finished):
    """The same champions to the byte, the same statistics; on a processor that is known."""
    before = json.loads((ROOT / "tests/data/pipeline/smoke_ladder.json").read_text())
    results = finished / "results/smoke"
    identity = read_json(results / "train/g02/root/seed0/segment0/identity.json", "identity")
    versions = {key: identity["versions"].get(key) for key in before["machine"]["versions"]}
    machine = {"processor": processor(), "versions": versions}
    if machine != before["machine"]:
        pytest.skip(f"bytes are known of {before['machine']}, this is {machine}")
    lineage = read_json(results / "ladder/g06.json", "ladder")["lineage"]
    champions = {g: sha256(results / f"ladder/{g}/champion.safetensors") for g in GENERATIONS}
    pairs = zip(lineage, before["lineage"], strict=True)
    now = [{key: entry[key] for key in then} for entry, then in pairs]
    assert (champions, now) == (before["champions"], before["lineage"])


def test_arms_trained_with_what_they_were_asked(finished):
    expected = {
        "g03": ("symmetry", "per_episode", "none"),
        "g04": ("minibatch", 64, 128),  # 1024 and 2048, scaled by 1/16
        "g05": ("epochs", 2, 1),
        "g06": ("gae_lambda", 0.9, 0.7),
    }
    for generation, (key, treatment, control) in expected.items():
        folder = finished / "results/smoke/train" / generation
        for arm, value in (("treatment", treatment), ("control", control)):
            identity = read_json(folder / arm / "seed0/segment0/identity.json", "identity")
            assert identity["recipe"][key] == value


def test_metrics_rows_fit_their_schema(finished):
    for path in (finished / "results/smoke/train").glob("*/*/*/*/metrics.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert rows
        for row in rows:
            jsonschema.validate(row, schema("files/metrics"))


def test_root_continues_its_first_segment(finished):
    folder = finished / "results/smoke/train/g02/root/seed0"
    first, second = (
        [json.loads(line) for line in (folder / f"segment{k}/metrics.jsonl").open()] for k in (0, 1)
    )
    assert second[0]["iteration"] == first[-1]["iteration"] + 1
    assert second[0]["agent_steps"] == first[-1]["agent_steps"] + 1024


def test_report_files(finished):
    report = finished / "results/smoke/report"
    rows = list(csv.DictReader((report / "g06.csv").open()))
    assert [row["generation"] for row in rows] == GENERATIONS
    assert (report / "g06.svg").read_text().count("<svg") == 1
    assert (report / "g06.md").read_text().startswith("| generation |")


def test_the_report_page_shows_what_report_names_and_only_that(finished):
    results = finished / "results/smoke"
    before = "g02.root.seed0.segment0-vs-random"
    asked = [f"results/smoke/{path}" for path in (f"matches/{before}.json", "target/g05.json")]
    page = [f"results/smoke/{path}" for path in ("report/index.html", "costs.csv")]
    for words in (asked, page):
        done = snakemake(finished, *words, report="[]")
        assert done.returncode == 0, done.stdout + done.stderr
    # there, and not listed
    assert 'id="table-time_to_target"' not in (results / "report/index.html").read_text()
    done = snakemake(finished, *page, report="[target]")
    assert done.returncode == 0, done.stdout + done.stderr
    # a network between segments is that segment's
    match = read_json(results / f"matches/{before}.json", "match")
    segment = results / "train/g02/root/seed0/segment0/checkpoint.safetensors"
    assert match["players"]["a"]["sha256"] == sha256(segment)
    # with one segment an arm, the target's match is the parent's
    ladder = read_json(results / "ladder/g05.json", "ladder")
    target = read_json(results / "target/g05.json", "target")
    for arm, found in target["arms"].items():
        (checkpoint,) = found["checkpoints"]
        parent = ladder["sanity"][arm]["g04.champion"]
        assert {key: checkpoint[key] for key in ("win", "loss", "draw")} == {
            key: parent[key] for key in ("win", "loss", "draw")
        }
        assert checkpoint["steps"] == ladder["arms"][arm]["steps"]
        assert found["steps_per_second"]["value"] == pytest.approx(
            ladder["arms"][arm]["steps_per_second"], rel=1e-3
        )
    text = (results / "report/index.html").read_text()
    assert text == (results / "report/g06.html").read_text()
    assert 'id="table-time_to_target"' in text and "does not list <code>watch</code>" in text
    jobs = list(csv.DictReader((results / "costs.csv").open()))
    segments = [job for job in jobs if job["rule"] == "train_segment"]
    assert len(segments) == 10 and all(int(job["agent_steps"]) == 8192 for job in segments)


def test_asking_again_does_nothing(finished):
    done = snakemake(finished, "results/smoke/ladder/g06.json")
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_editing_what_jobs_are_only_told_reruns_nothing(finished):
    told = finished / "results/smoke/told.json"
    before = told.read_bytes()
    assert Told.read(told).checkpoint_seconds == 1
    path = finished / "config/profiles/smoke.yaml"
    original = path.read_text()
    edited = yaml.safe_load(original)
    edited |= {
        "checkpoint_seconds": 7,
        "description": "Another.",
        "price_per_hour": 3,
        "currency": "USD",
    }
    edited["resources"]["mem_mb"] += 100
    try:
        # in the same order: Snakemake compares the text of a mapping
        path.write_text(yaml.safe_dump(edited, sort_keys=False))
        assert planned(finished, "results/smoke/ladder/g06.json") == []
        assert told.read_bytes() == before  # a dry run writes nothing
        # the next run tells it: one small job
        done = snakemake(finished, "results/smoke/report/g03.svg")
        assert done.returncode == 0, done.stdout + done.stderr
        assert Told.read(told).price_per_hour == 3 and Told.read(told).note == "Another."
        assert planned(finished, "results/smoke/ladder/g06.json") == []
    finally:
        path.write_text(original)


def test_editing_an_arm_reruns_what_depends_on_it_and_nothing_else(finished):
    path = finished / LADDER
    original = path.read_text()
    try:
        ladder = yaml.safe_load(original)
        ladder["generations"]["g05"]["treatment"]["epochs"] = 3
        path.write_text(yaml.safe_dump(ladder))
        jobs = planned(finished, "results/smoke/ladder/g06.json")
    finally:
        path.write_text(original)
    assert sorted(jobs) == sorted(
        [
            "Training g05 treatment, seed 0, segment 0",
            "Match g05.treatment.seed0-vs-g05.control.seed0",
            "Match g05.treatment.seed0-vs-g04.champion",
            "Deciding g05",
            "Training g06 treatment, seed 0, segment 0",
            "Training g06 control, seed 0, segment 0",
            "Match g06.treatment.seed0-vs-g06.control.seed0",
            "Match g06.treatment.seed0-vs-g05.champion",
            "Match g06.control.seed0-vs-g05.champion",
            "Deciding g06",
        ]
    )


def test_an_arms_own_preflight_retrains_no_other_generation(finished):
    path = finished / LADDER
    original = path.read_text()
    doctors = [f"Doctor: can this machine train the arms of {name}?" for name in ("g04", "g05")]
    assert (finished / "results/smoke/doctor/smoke/generals/g04.json").exists()
    try:
        ladder = yaml.safe_load(original)
        ladder["generations"]["g05"]["treatment"] = {"draw_reward": -0.5}
        path.write_text(yaml.safe_dump(ladder))
        jobs = planned(finished, "results/smoke/ladder/g05.json")
        ladder["generations"]["g05"]["treatment"] = {"precision": "fp8"}
        path.write_text(yaml.safe_dump(ladder))
        refused = snakemake(finished, "results/smoke/ladder/g05.json", "-n")
    finally:
        path.write_text(original)
    assert doctors[1] in jobs and doctors[0] not in jobs
    # the arm with other rewards, and the other one since its generation was looked at anew
    assert sorted(job for job in jobs if job.startswith("Training")) == [
        "Training g05 control, seed 0, segment 0",
        "Training g05 treatment, seed 0, segment 0",
    ]
    assert refused.returncode != 0
    assert "generations.g05.treatment': recipe key 'precision' = 'fp8'" in refused.stderr


def test_new_generations_and_other_seeds_keep_finished_work(finished):
    jobs = planned(finished, "results/smoke/ladder/g08.json")
    assert sorted(job for job in jobs if job.startswith("Training")) == [
        f"Training {generation} {arm}, seed 0, segment 0"
        for generation in ("g07", "g08")
        for arm in ("control", "treatment")
    ]
    config = yaml.safe_load((finished / "config/config.yaml").read_text())
    assert config["seeds"] is None


def test_other_profiles_do_not_touch_this_one(finished):
    words = [sys.executable, "-m", "snakemake", "--cores", "2", "-n", "results/ladder/g06.json"]
    done = subprocess.run(words, cwd=finished, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "results/smoke" not in done.stdout.replace("Command:", "")


def slow_segment(folder):
    """A profile whose first segment takes a few seconds and saves its work all the time."""
    project = make_project(folder)
    path = project / "config/profiles/smoke.yaml"
    profile = yaml.safe_load(path.read_text())
    profile["checkpoint_seconds"] = 0.1
    profile["per_game"]["generals"]["train"]["segment_steps"] = 20480
    path.write_text(yaml.safe_dump(profile))
    return project


def test_killed_run_is_finished_by_the_same_command(tmp_path):
    segment = "results/smoke/train/g02/root/seed0/segment{}/checkpoint.safetensors"
    whole = slow_segment(tmp_path / "whole")
    done = snakemake(whole, segment.format(1))
    assert done.returncode == 0, done.stdout + done.stderr

    killed = slow_segment(tmp_path / "killed")
    partial = killed / "results/smoke/partial/train/g02/root/seed0/segment1/checkpoint.safetensors"
    log = killed / "results/smoke/logs/train_segment/g02.root.seed0.segment1.log"
    for end in ("kill -9 of all", "SIGTERM to snakemake"):
        running = subprocess.Popen(
            command(segment.format(1)),
            cwd=killed,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        seen = partial.stat().st_mtime_ns if partial.exists() else None
        deadline = time.monotonic() + 120
        while not partial.exists() or partial.stat().st_mtime_ns == seen:
            assert running.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        if end == "kill -9 of all":
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        else:
            running.terminate()
            assert running.wait() == 1
            assert "SIGTERM: stopped after iteration" in log.read_text()
        first = (killed / segment.format(0)).stat().st_mtime_ns
    assert not (killed / segment.format(1)).exists()
    done = snakemake(killed, segment.format(1))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "continuing after iteration" in log.read_text()
    assert (killed / segment.format(0)).stat().st_mtime_ns == first  # untouched
    for number in (0, 1):
        assert sha256(killed / segment.format(number)) == sha256(whole / segment.format(number))
    assert not partial.exists()


@pytest.mark.parametrize("again", [False, True])
def test_bad_config_is_one_line_and_deletes_nothing(finished, again):
    before = {path: path.stat().st_mtime_ns for path in (finished / "results").rglob("*.json")}
    if again:
        path = finished / LADDER
        original = path.read_text()
        try:
            path.write_text("game: [generals")
            done = snakemake(finished, "results/smoke/ladder/g06.json")
        finally:
            path.write_text(original)
        expected = "config error: config/ladders/generals.yaml: not YAML"
    else:
        done = snakemake(finished, "results/smoke/ladder/g06.json", games=33)
        expected = (
            "config error: config/config.yaml or --config: key 'games' = 33; "
            "allowed: a multiple of 2"
        )
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("config error")]
    assert len(lines) == 1 and lines[0].startswith(expected)
    assert "Traceback" not in done.stderr + done.stdout
    after = {path: path.stat().st_mtime_ns for path in (finished / "results").rglob("*.json")}
    assert after == before


def test_two_runs_at_once_are_refused(finished):
    first = subprocess.Popen(
        command("results/smoke/train/g07/control/seed0/segment0/checkpoint.safetensors"),
        cwd=finished,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    log = finished / "results/smoke/logs/train_segment/g07.control.seed0.segment0.log"
    deadline = time.monotonic() + 60
    while not log.exists():  # its job runs
        assert first.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    second = snakemake(finished, "results/smoke/matches/g02.champion-vs-expander.json")
    assert first.wait() == 0
    assert second.returncode != 0
    assert f"process {first.pid} is running in results/smoke" in second.stdout + second.stderr
    assert not (finished / "results/smoke/matches/g02.champion-vs-expander.json").exists()


def test_altered_files_are_refused_by_name(finished):
    champion = finished / "results/smoke/ladder/g06/champion.safetensors"
    original = champion.read_bytes()
    times = champion.stat()
    try:
        champion.write_bytes(original[:-3] + bytes(byte ^ 1 for byte in original[-3:]))
        os.utime(champion, ns=(times.st_atime_ns, times.st_mtime_ns))
        wanted = "results/smoke/train/g07/treatment/seed0/segment0/checkpoint.safetensors"
        done = snakemake(finished, wanted)
    finally:
        champion.write_bytes(original)
        os.utime(champion, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert done.returncode != 0
    assert "ladder/g06/champion.safetensors: its bytes were altered" in done.stdout + done.stderr
    assert not (finished / wanted).exists()


def test_a_new_decision_trains_nothing_twice(finished):
    segment = "results/smoke/train/g03/{}/seed0/segment0/checkpoint.safetensors"
    before = {arm: sha256(finished / segment.format(arm)) for arm in ("treatment", "control")}
    path = finished / "config/config.yaml"
    original = path.read_text()
    try:
        path.write_text(original.replace("bar: 1.65", "bar: 1.7"))
        done = snakemake(finished, "results/smoke/ladder/g03.json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert read_json(finished / "results/smoke/ladder/g03.json", "ladder")["gate"]["bar"] == 1.7
    finally:
        path.write_text(original)
    for arm, digest in before.items():
        assert sha256(finished / segment.format(arm)) == digest
        log = finished / f"results/smoke/logs/train_segment/g03.{arm}.seed0.segment0.log"
        assert "was trained before" in log.read_text()
    again = snakemake(
        finished,
        "results/smoke/ladder/g03.json",
        evidence="{bar: 1.7, strong: 2.58, tie_break: parent_margin}",
    )
    assert "Nothing to be done" in again.stdout + again.stderr
