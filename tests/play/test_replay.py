"""A recorded game plays again to its recorded end, and the page shows that very game."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bot_helpers import GAME, TINY, save_champion

from royale.errors import RoyaleError
from royale.evidence import match
from royale.files import sha256, write_json
from royale.games.generals.layout import ARMY, LAND
from royale.learn.player import NetworkPlayer
from royale.play import replay, runtime

ROOT = Path(__file__).resolve().parents[2]
GAMES, KEY = 6, 11
NAMED = {"a": "g02.champion", "b": "hunter", "policy": "sample"}
NAMED["players"] = {"a": {"sha256": "0" * 64}, "b": {"sha256": None}}


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return save_champion(tmp_path_factory.mktemp("replay") / "champion.safetensors")


@pytest.fixture(scope="module")
def players(weights):
    scripted = GAME.scripted_player("hunter", GAME.spec(TINY, "base"))
    return [NetworkPlayer(weights), scripted]


@pytest.fixture(scope="module")
def record(players):
    """A match record, as far as a replay reads it, and the actions of all its games."""
    seen = []
    games = match.play(
        "generals", TINY, players, GAMES, KEY, witness=lambda numbers, a: seen.append(a)
    )
    told = {"game": "generals", "settings": TINY, "key": KEY, "games": games}
    return told | NAMED, np.array(seen)


def shown_of(told, number, players, say=lambda line: None):
    """What the page shows of a game of a match, simulated from what is kept of it."""
    kept = replay.of_match(told, number, players, "match.json", say)
    return replay.simulate(json.loads(json.dumps(kept)), "kept.json")


def test_every_game_plays_again_as_it_was_played(record, players):
    told, seen = record
    for number, game in enumerate(told["games"]):
        shown = shown_of(told, number, players)
        assert shown["actions"] == seen[: game["turns"], number].tolist()
        assert shown["seed"] == str(game["seed"])
        names = ["g02.champion", "hunter"]
        assert shown["players"] == [names[player] for player in game["seats"]]
        winner = None if shown["winner"] is None else shown["players"][shown["winner"]]
        assert winner == (None if game["winner"] is None else names[game["winner"]])
    assert {game["winner"] for game in told["games"]} != {None}


def test_totals_are_the_engines(record, players):
    told, _ = record
    shown = shown_of(told, 1, players)
    batch = GAME.make(1, TINY, "base")
    batch.reset(np.array([0]), np.array([int(shown["seed"])], np.uint64))
    assert len(shown["totals"]) == len(shown["actions"]) + 1
    for pair, before in zip(shown["actions"], shown["totals"], strict=False):
        row = batch.table[0]
        assert before == [*row[LAND : LAND + 2].tolist(), *row[ARMY : ARMY + 2].tolist()]
        batch.step(np.array([pair], np.int32))


@pytest.mark.parametrize(
    ("key", "value"), [("turns", 1), ("winner", "other"), ("seed", 5), ("truncated", None)]
)
def test_a_record_that_says_otherwise_is_refused(record, players, key, value):
    told, _ = record
    game = {**told["games"][2], key: value}
    games = [*told["games"][:2], game, *told["games"][3:]]
    lines = []
    with pytest.raises(RoyaleError, match=f"game 2 does not play again.*{key} is"):
        replay.of_match({**told, "games": games}, 2, players, "match.json", lines.append)
    assert len(lines) == 2  # with its pair alone, and with its match


class Moody:
    """Plays as the other, but otherwise in few games at a time, as a network's last bits may."""

    def __init__(self, player):
        self.player = player

    def act(self, view):
        if len(view.keys) <= 2 and view.turns[0] < 20:
            return np.full(1, view.legal.shape[1] - 1, np.int32)
        return self.player.act(view)


def test_a_game_that_differs_alone_is_played_with_its_match(players):
    moody = [Moody(players[1]), players[1]]
    games = match.play("generals", TINY, moody, GAMES, KEY)
    told = {"game": "generals", "settings": TINY, "key": KEY, "games": games} | NAMED
    lines = []
    number = next(n for n, game in enumerate(games) if game["winner"] is not None)
    shown = shown_of(told, number, moody, lines.append)
    assert len(lines) == 1 and len(shown["actions"]) == games[number]["turns"]


def test_a_match_in_batches_plays_again_in_those(players):
    moody = [Moody(players[1]), players[1]]
    games = match.play("generals", TINY, moody, 4, KEY)
    games += match.play("generals", TINY, moody, 2, KEY, first=4)
    told = {"game": "generals", "settings": TINY, "key": KEY, "games": games} | NAMED
    for number, game in enumerate(games):
        shown = shown_of({**told, "sequential": {"batch": 4}}, number, moody)
        assert len(shown["actions"]) == game["turns"]


def test_what_is_kept_is_simulated_again_and_an_altered_game_refused(
    record, players, tmp_path, capsys
):
    told, seen = record
    number = next(k for k, game in enumerate(told["games"]) if game["winner"] is not None)
    kept = replay.of_match(told, number, players, "match.json")
    turns = told["games"][number]["turns"]
    assert kept["record"]["actions"] == seen[:turns, number].tolist()
    shown = replay.write(tmp_path / "k.json", tmp_path / "k.html", tmp_path / "k.svg", kept)
    assert replay.main([str(tmp_path / "k.json")]) == 0
    assert f"{turns} turns, state hash {shown['state']}, as recorded" in capsys.readouterr().out
    # the picture's armies are the engine's totals
    armies = re.findall(r">(\d+)</text>", (tmp_path / "k.svg").read_text())
    cells = zip(shown["end"]["army"], shown["end"]["owner"], strict=True)
    free = sum(army for army, owner in cells if owner < 0)
    assert sum(map(int, armies)) - free == sum(shown["totals"][-1][2:])
    value = json.loads((tmp_path / "k.json").read_text())
    last = GAME.spec(TINY, "base").n_actions - 1
    turn = next(t for t, pair in enumerate(kept["record"]["actions"]) if pair[0] != last)
    value["record"]["actions"][turn][0] = last  # a pass, where a move was made
    (tmp_path / "k.json").write_text(json.dumps(value))
    assert replay.main([str(tmp_path / "k.json")]) == 1
    assert "does not play again as recorded: after turn" in capsys.readouterr().err
    value["record"]["settings"]["moon"] = 1
    with pytest.raises(RoyaleError, match=r"k\.json: settings that no game has: .*moon"):
        replay.simulate(value, "k.json")


def test_who_gives_up_loses(players):
    replays = GAME.replays
    for last, winner in (([-1, 3], 1), ([3, -1], 0), ([-1, -1], None)):
        shown = replays.shown(replays.record(TINY, 5, [[0, 0], last]))
        assert (shown["turns"], shown["winner"], shown["truncated"]) == (2, winner, False)
        passes = GAME.spec(TINY, "base").n_actions - 1
        assert shown["actions"][1] == [passes if action < 0 else action for action in last]


def test_there_is_no_such_game(record, players):
    with pytest.raises(RoyaleError, match="no game 6; games are 0 to 5"):
        replay.of_match(record[0], 6, players, "match.json")
    with pytest.raises(RoyaleError, match="there is no game 'chess'"):
        replay.of_match({**record[0], "game": "chess"}, 0, players, "match.json")


@pytest.fixture
def page(record, players, tmp_path):
    kept = replay.of_match(record[0], 3, players, "match.json")
    shown = replay.simulate(kept, "3.json")
    kept |= {"match": "<a>-vs-b", "policy": "</script>"}
    replay.write_page(tmp_path / "3.html", kept, shown)
    return tmp_path / "3.html", shown, kept


def test_the_page_is_one_file_and_holds_the_game(page):
    text = page[0].read_text()
    assert "<title>&lt;a&gt; against b</title>" in text
    assert not re.search(r"@\w+@|(src|href)=\"(?!data:)|^import |^export ", text, re.MULTILINE)
    held = re.search(r'id="record">(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(held) == json.loads(json.dumps(page[1]))


def test_the_browser_plays_the_same_game(browser, page):
    path, shown, _ = page
    browser.screen(390, 844, phone=True)
    browser.go(f"file://{path}")
    turn, end = "document.querySelector('.turn').textContent", len(shown["actions"])
    assert browser.run(turn) == f"Turn 0 of {end}"
    browser.key("ArrowRight")
    browser.key("ArrowRight")
    browser.key("ArrowLeft")
    assert browser.run(turn) == f"Turn 1 of {end}"
    browser.choose(".view", "0")
    assert browser.run("document.querySelectorAll('.cell.fog').length") > 0
    browser.choose(".view", "all")
    assert browser.run("document.querySelectorAll('.cell.fog').length") == 0
    browser.key("End")
    assert browser.run(turn) == f"Turn {end} of {end}"
    # the page compares each turn's totals with the engine's
    assert browser.run("document.querySelector('.fault').textContent") == ""
    result = browser.run("document.querySelector('.result').textContent")
    expected = shown["players"][shown["winner"]] if shown["winner"] is not None else "Draw"
    assert expected in result
    browser.key("Home")
    browser.choose(".speed", "50")
    browser.click(".play")
    browser.wait(f"{turn} !== 'Turn 0 of {end}'")
    browser.click(".play")
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.faults == [] and browser.requested_urls == [f"file://{path}"]


def test_a_page_that_plays_otherwise_says_so(browser, page):
    path, shown, kept = page
    changed = {**shown, "totals": [*shown["totals"][:4], [1, 1, 1, 1], *shown["totals"][5:]]}
    replay.write_page(path, kept, changed)
    browser.go(f"file://{path}")
    browser.key("End")
    fault = browser.run("document.querySelector('.fault').textContent")
    assert fault.startswith("From turn 4 on")


def test_a_package_with_other_bytes_is_refused(tmp_path):
    path = tmp_path / "package.tgz"
    path.write_bytes(b"royale")
    with pytest.raises(RoyaleError, match="not the pinned one"):
        runtime.check(path)
    # openssl dgst -sha512 -binary | base64
    digest = (
        "SYVmSjk4FuuvWr9xehJqDyX4OIGTLA56ES1Qw+atXQehLLJ9EtPwOANvLoqpmnUy0yl/27mAmB2ghFUKzTy/kg=="
    )
    runtime.check(path, f"sha512-{digest}")


def test_npm_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(RoyaleError, match=r"npm is not installed.*apt-get install npm"):
        runtime.fetch(tmp_path / "ort.js", tmp_path / "ort.wasm")


def test_the_registry_is_out_of_reach(monkeypatch, tmp_path):
    monkeypatch.setattr("shutil.which", lambda name: "/bin/npm")
    said = SimpleNamespace(returncode=1, stderr="npm error code ENOTFOUND\nmore\n")
    monkeypatch.setattr("subprocess.run", lambda *words, **options: said)
    with pytest.raises(RoyaleError, match="ENOTFOUND"):
        runtime.fetch(tmp_path / "ort.js", tmp_path / "ort.wasm")
    assert not list(tmp_path.iterdir())


def from_match(folder, told, weights):
    said = {"kind": "network", "sha256": told["sha256"], "command": None, "faults": None}
    counts = dict(zip(("win", "loss", "draw"), match.count(told["games"]), strict=True))
    scripted = {**said, "kind": "scripted", "sha256": None}
    record = {
        **{key: value for key, value in told.items() if key != "sha256"},
        **counts,
        "players": {"a": said, "b": scripted},
        "mode": "fixed",
        "sequential": None,
        "pairs": [0] * 5,
        "by_seat": {"0": [0, 0, 0], "1": [0, 0, 0]},
        "turns_mean": 1.0,
        "seconds": 1.0,
    }
    write_json(folder / "m.json", record, "match")
    made = {
        "a": lambda: NetworkPlayer(weights),
        "b": lambda: GAME.scripted_player("hunter", GAME.spec(told["settings"], "base")),
    }
    path, files = folder / "m.json", {"a": weights, "b": None}
    kept = replay.from_match(path, 2, files, lambda side, record: made[side]())
    replay.write(*(folder / f"2.{end}" for end in ("json", "html", "svg")), kept)


def test_a_game_is_written_from_its_match_which_wants_its_weights(record, weights, tmp_path):
    from_match(tmp_path, {**record[0], "sha256": sha256(weights)}, weights)
    for end in ("html", "json", "svg"):
        assert (tmp_path / f"2.{end}").stat().st_size > 500
    assert replay.main([str(tmp_path / "2.json")]) == 0
    text = (tmp_path / "2.html").read_text()
    assert "Game 2 of 6" in text and "g02.champion against hunter" in text
    with pytest.raises(RoyaleError, match="its bytes were altered"):
        from_match(tmp_path, {**record[0], "sha256": "0" * 64}, weights)
