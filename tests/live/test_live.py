"""The page that follows runs reads what is there, while it grows, and changes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from bot_helpers import GAME, TINY

from royale.errors import RoyaleError
from royale.files import sha256
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.segment import run_segment
from royale.live.runs import Follower, Runs
from royale.live.server import make_server


def line(iteration, **more):
    return json.dumps({"iteration": iteration, "agent_steps": 10 * iteration, **more}) + "\n"


def test_rows_are_read_as_they_come(tmp_path):
    path = tmp_path / "metrics.jsonl"
    follower = Follower(path)
    assert follower.update() == []
    path.write_text(line(1) + line(2)[:9])  # the second row is not written out yet
    assert [row["iteration"] for row in follower.update()] == [1]
    path.write_text(line(1) + line(2))
    assert [row["iteration"] for row in follower.update()] == [1, 2]
    # a run that went back to its checkpoint: a new file, as long as before and longer
    (tmp_path / "new").write_text(line(1) + line(7) + line(8))
    (tmp_path / "new").replace(path)
    assert [row["iteration"] for row in follower.update()] == [1, 7, 8]
    path.unlink()
    assert [row["iteration"] for row in follower.update()] == [1, 7, 8]


def test_what_json_cannot_say_is_null(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"a": NaN, "b": {"c": -Infinity, "d": 1.5}, "e": ["x", Infinity]}\n')
    assert Follower(path).update() == [{"a": None, "b": {"c": None, "d": 1.5}, "e": ["x", None]}]


@pytest.fixture
def results(tmp_path):
    """A results folder with one finished segment and one under way."""
    root = tmp_path / "results"
    for name, rows in (
        ("train/g02/root/seed0/segment0", line(1, alarms=["ev_negative"])),
        ("partial/train/g03/control/seed0/segment0", line(1) + line(2)),
    ):
        (root / name).mkdir(parents=True)
        (root / name / "metrics.jsonl").write_text(rows)
    return root


def test_unfinished_segments_are_found_and_come_first(results):
    runs = Runs(results / "train")
    first, second = runs.overview()
    assert (first["name"], first["finished"]) == ("g03/control/seed0/segment0", False)
    assert (first["iteration"], first["agent_steps"], first["rows"]) == (2, 20, 2)
    assert (second["name"], second["finished"]) == ("g02/root/seed0/segment0", True)
    assert second["alarms"] == ["ev_negative"] and not second["games"]


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("train/g03", ["g03/control/seed0/segment0"]),
        ("partial/train/g03/control", ["g03/control/seed0/segment0"]),
        ("train/g02/root/seed0/segment0", ["g02/root/seed0/segment0"]),
        ("train/g09", []),  # nothing yet
    ],
)
def test_a_folder_below_shows_its_part(results, folder, names):
    assert [run["name"] for run in Runs(results / folder).overview()] == names


def test_a_segment_that_finishes_goes_on_under_its_name(results):
    runs = Runs(results / "train/g03")
    name = "g03/control/seed0/segment0"
    assert len(runs.rows(name)) == 2
    (results / "train/g03/control/seed0").mkdir(parents=True)
    done = results / "train" / name
    (results / "partial/train" / name).rename(done)
    (done / "metrics.jsonl").write_text(line(1) + line(2) + line(3))
    assert len(runs.rows(name)) == 3 and runs.overview()[0]["finished"]


@pytest.mark.parametrize("folder", ["results", "nowhere/train"])
def test_another_folder_is_refused(tmp_path, folder):
    with pytest.raises(RoyaleError, match=folder.split("/")[0]):
        Runs(tmp_path / folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A results folder with a tiny segment that was really trained."""
    root = tmp_path_factory.mktemp("trained") / "results"
    plan = SegmentPlan(
        "generals",
        {**TINY, "max_turns": 30},
        Recipe(channels=4, blocks=1, minibatch=64).to_dict(),
        4,
        8,
        3 * 64,
        "g02",
        "root",
        0,
        0,
    )
    out = root / "train/g02/root/seed0/segment0"
    run_segment(plan, out, root / "partial/train/g02/root/seed0/segment0", say=lambda line: None)
    return root


@pytest.fixture
def address(trained):
    with make_server(Runs(trained / "train"), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return json.load(answer)


NAME = "g02/root/seed0/segment0"


def contents(root):
    return {path: sha256(path) for path in root.rglob("*") if path.is_file()}


def test_the_server_tells_rows_from_where_the_page_is_and_writes_nothing(trained, address):
    before = contents(trained)
    (run,) = get(f"{address}/runs.json")
    assert (run["name"], run["rows"], run["games"]) == (NAME, 3, True)
    told = get(f"{address}/rows.json?name={NAME}&from=1")
    assert told["from"] == 1 and [row["iteration"] for row in told["rows"]] == [2, 3]
    # the page knows more rows than there are: the run went back, it gets all again
    assert get(f"{address}/rows.json?name={NAME}&from=9")["from"] == 0
    get(f"{address}/game.json?name={NAME}")
    assert contents(trained) == before


def test_a_game_of_the_latest_weights_is_a_game_by_the_rules(address):
    games = [get(f"{address}/game.json?name={NAME}") for _ in range(2)]
    assert games[0]["seed"] != games[1]["seed"]
    shown = games[0]
    assert shown["iteration"] == 3
    batch = GAME.make(1, {**TINY, "max_turns": 30}, "base")
    batch.reset(np.array([0]), np.array([int(shown["seed"])], np.uint64))
    for k, pair in enumerate(shown["actions"]):
        result = batch.step(np.array([pair], np.int32))
        assert bool(result.done[0]) == (k == len(shown["actions"]) - 1)
    winner = int(result.winner[0])
    assert shown["winner"] == (None if winner < 0 else winner)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("rows.json?name=g09/root&from=0", {}, 404),
        ("rows.json?name=../../etc&from=0", {}, 404),
        ("rows.json", {}, 404),
        ("game.json?name=g09", {}, 404),
        ("secrets", {}, 404),
        ("../pyproject.toml", {}, 404),
        ("runs.json", {"Host": "elsewhere.example:80"}, 403),
    ],
)
def test_other_requests_are_refused(address, path, headers, status):
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(f"{address}/{path}", **headers)
    assert caught.value.code == status


def test_nothing_is_saved_yet(results):
    name = "g03/control/seed0/segment0"
    with make_server(Runs(results / "train"), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(urllib.error.HTTPError) as caught:
            get(f"http://127.0.0.1:{server.server_port}/game.json?name={name}")
        assert caught.value.code == 409 and b"nothing is saved yet" in caught.value.read()
        server.shutdown()


def test_a_taken_port_is_one_line(results):
    with (
        make_server(Runs(results / "train"), 0) as server,
        pytest.raises(RoyaleError, match=f"port {server.server_port}.*--port"),
    ):
        make_server(Runs(results / "train"), server.server_port)


def test_the_command_begins_without_torch_and_refuses_a_wrong_folder():
    code = "import sys, royale.live.__main__; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
    words = [sys.executable, "-m", "royale.live", "elsewhere"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 2
    assert done.stderr == "error: elsewhere: not results/train or a folder below it\n"


def test_the_page_follows_and_shows_a_game(browser, address):
    browser.screen(390, 844, dark=True, phone=True)
    browser.go(f"{address}/")
    browser.wait("document.querySelectorAll('#curves .line.own').length === 9")
    state = browser.run("document.querySelector('#state').textContent")
    assert state == "finished: 192 agent steps"
    assert browser.run("document.querySelectorAll('#timing tr').length") == 9
    browser.click("#play")
    browser.wait("document.querySelector('.slider')")
    browser.key("End")
    assert browser.run("document.querySelector('.fault').textContent") == ""
    told = browser.run("document.querySelector('#told').textContent")
    assert told == "by the weights after iteration 3"
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.faults == []
    assert all(url.startswith(address) for url in browser.requested_urls)
