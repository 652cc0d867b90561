"""Battles of real matches: kept, simulated from what is kept, and shown in a browser."""

from __future__ import annotations

import json
import re

import pytest
import torch

from royale import games
from royale.errors import RoyaleError
from royale.evidence import match
from royale.files import write_json
from royale.learn import checkpoint
from royale.learn.network import build_network
from royale.learn.player import NetworkPlayer
from royale.learn.recipe import Recipe
from royale.play import replay

GAME = games.load("clash")
# 40 decisions at double elixir against weak towers, with a champion, by the live game's delay.
SETTINGS = {
    "decks": ["queen_giant", "starter"],
    "start_tick": 3400,
    "tower_hp_share": 0.2,
    "max_turns": 40,
}


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A random champion that does play cards."""
    knobs = Recipe(channels=8, blocks=1)
    made = build_network(GAME.spec(SETTINGS, "base"), knobs, 7)
    meta = {"game": "clash", "settings": SETTINGS, "recipe": knobs.to_dict(), "lineage": None}
    path = tmp_path_factory.mktemp("clash") / "champion.safetensors"
    checkpoint.save_weights(path, made, meta)
    return path


@pytest.fixture(scope="module")
def fight(network):
    """A match of a network and a scripted player: record, players, its engines' last hashes."""
    torch.set_num_threads(1)
    players = [NetworkPlayer(network), GAME.scripted_player("counter", None)]
    made, make = [], type(GAME).make
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(GAME), "make", lambda *given: made.append(make(*given)) or made[-1])
        played = match.play("clash", SETTINGS, players, 4, 5)
    hashes = [f"{engine.state_hash():016x}" for engine in made[0].battles.engines]
    told = {"game": "clash", "settings": {**SETTINGS, "workers": 2}, "key": 5, "games": played}
    told |= {"a": "c01.champion", "b": "counter", "policy": "sample"}
    told["players"] = {"a": {"sha256": "0" * 64}, "b": {"sha256": None}}
    return told, players, hashes


@pytest.fixture(scope="module")
def files(fight, tmp_path_factory):
    folder = tmp_path_factory.mktemp("replays")
    told, players, _ = fight
    number = next(k for k, game in enumerate(told["games"]) if game["winner"] is not None)
    kept = replay.of_match(told, number, players, "match.json")
    paths = {end: folder / f"{number}.{end}" for end in ("json", "html", "svg")}
    shown = replay.write(paths["json"], paths["html"], paths["svg"], kept)
    return paths, kept, shown


def test_every_battle_of_the_match_is_kept_to_its_very_state(fight):
    told, players, hashes = fight
    for number, game in enumerate(told["games"]):
        kept = replay.of_match(told, number, players, "match.json")
        shown = replay.simulate(json.loads(json.dumps(kept)), "kept.json")
        assert shown["state"] == hashes[number]
        assert shown["turns"] == game["turns"] and shown["truncated"] == game["truncated"]
        names = ["c01.champion", "counter"]
        winner = None if shown["winner"] is None else shown["players"][shown["winner"]]
        assert winner == (None if game["winner"] is None else names[game["winner"]])
        sides = {side for _, side, *_ in kept["record"]["commands"]}
        assert sides == {0, 1}  # both play cards
    assert {game["winner"] for game in told["games"]} != {None}


def test_the_match_must_say_how_it_ended(fight):
    told, players, _ = fight
    wrong = [{**game, "winner": "other"} for game in told["games"]]
    with pytest.raises(RoyaleError, match=r"game 1 does not play again as it was recorded: winner"):
        replay.of_match({**told, "games": wrong}, 1, players, "match.json")


def altered(files, tmp_path, change):
    value = json.loads(files[0]["json"].read_text())
    change(value)
    path = tmp_path / "1.json"
    path.write_text(json.dumps(value))
    return path


def first_play(value):
    play = value["record"]["commands"][0]
    play[2] = (play[2] + 1) % 4


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (first_play, "does not play again as recorded"),
        (lambda v: v.update(winner=1 - v["winner"]), r"winner is \d, recorded \d"),
        (lambda v: v.update(turns=1), "turns is "),
        (lambda v: v.update(game="chess"), "there is no game 'chess'"),
        (lambda v: v["record"].pop("seed"), "no record of clash: record: 'seed' is a required"),
        (lambda v: v["record"].update(seed=-1), r"no record of clash: record\.seed: "),
        (lambda v: v["record"].update(seed=5.0), "its record cannot be played: .*integer"),
        (lambda v: v["record"].update(calibration={"x": "1"}), "its record cannot be played: "),
        (lambda v: v["record"]["decks"][0].pop(), r"no record of clash: record\.decks\[0\]"),
        (lambda v: v.pop("players"), "not a replay file"),
        (lambda v: v["record"]["engine"].update(royalesim="0.2"), "recorded with royalesim 0.2"),
    ],
)
def test_the_command_refuses_in_one_line(files, tmp_path, capsys, change, line):
    path = altered(files, tmp_path, change)
    assert replay.main([str(path)]) == 1
    told = capsys.readouterr()
    assert re.search(line, told.err) and str(path) in told.err
    assert len(told.err.splitlines()) == 1 and not told.out


def test_the_command_says_the_hash(files, tmp_path, capsys):
    paths, _, shown = files
    torn = tmp_path / "torn.json"
    torn.write_text(paths["json"].read_text()[:500])
    assert replay.main([str(torn), str(paths["json"]), str(tmp_path / "none.json")]) == 1
    told = capsys.readouterr()
    assert f"{shown['turns']} turns, state hash {shown['state']}, as recorded" in told.out
    assert "torn.json: not JSON" in told.err and "none.json: cannot be read" in told.err
    assert replay.main([str(paths["json"])]) == 0
    assert replay.main([]) == 2


def test_what_is_kept_fits_its_schema(files, tmp_path):
    write_json(tmp_path / "again.json", files[1], "replay")
    assert (tmp_path / "again.json").read_bytes() == files[0]["json"].read_bytes()


def test_the_page_is_one_small_file(files):
    text = files[0]["html"].read_text()
    assert "c01.champion against counter" in text and len(text) < 1.5e6
    assert not re.search(r"@\w+@|(src|href)=\"(?!data:)|^import |^export ", text, re.MULTILINE)
    held = re.search(r'id="record">(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(held) == json.loads(json.dumps(files[2]))
    assert files[0]["svg"].read_text().startswith("<svg")


def test_the_browser_shows_the_battle(browser, files):
    paths, _, shown = files
    address, end = f"file://{paths['html']}", shown["turns"]
    browser.screen(390, 844, dark=True, phone=True)
    browser.go(address)
    turn = "document.querySelector('.turn').textContent"
    # the six towers, as hitpoints of a fifth
    assert browser.run("document.querySelectorAll('.arena .unit rect.body').length") == 6
    towers = "[...document.querySelectorAll('.arena .hp')].map((e) => e.textContent).sort().join()"
    assert browser.run(towers) == "610,610,610,610,965,965"
    assert browser.run(turn).endswith(f"decision 0 of {end}")
    assert browser.run(turn).startswith("2:50")  # tick 3400
    browser.key("ArrowRight")
    browser.key("ArrowRight")
    browser.key("ArrowLeft")
    assert browser.run(turn).endswith(f"decision 1 of {end}")
    counts = "document.querySelectorAll('.plays li').length"
    assert browser.run(counts) == len(shown["plays"])
    busiest = max(range(end + 1), key=lambda k: len(shown["frames"][k]["units"]))
    browser.run(
        f"(() => {{ const s = document.querySelector('.slider'); s.value = {busiest};"
        "s.dispatchEvent(new Event('input')); })()"
    )
    units = "document.querySelectorAll('.arena .unit').length"
    assert browser.run(units) == len(shown["frames"][busiest]["units"]) // 5 > 6
    elixir = [side[0] / 10 for side in shown["frames"][busiest]["sides"]]
    bars = "[...document.querySelectorAll('.elixir span')].map((e) => e.textContent).join()"
    assert browser.run(bars) == f"{elixir[1]:.1f} elixir,{elixir[0]:.1f} elixir"
    browser.key("End")
    result = browser.run("document.querySelector('.result').textContent")
    assert shown["players"][shown["winner"]] in result and "crown" in result
    browser.key("Home")
    browser.choose(".speed", "20")
    browser.click(".play")
    browser.wait(f"!{turn}.endsWith('decision 0 of {end}')")
    browser.click(".play")
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.faults == [] and browser.requested_urls == [address]


def test_a_game_without_replays_is_refused(fight, monkeypatch):
    told, players, _ = fight
    monkeypatch.setattr(type(GAME), "replays", None)
    with pytest.raises(RoyaleError, match=r"match\.json: the game 'clash' has no replays"):
        replay.of_match(told, 1, players, "match.json")
