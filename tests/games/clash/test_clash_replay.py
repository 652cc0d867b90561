"""A battle's record simulates again, on the bare engine, to the states of the battle itself."""

from __future__ import annotations

import copy
import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import numpy as np
import pytest
import yaml
from clash_helpers import GAME, choose, dealt, look, uniform_actions

from royale import games, rng
from royale.errors import RoyaleError
from royale.games.clash import engine, picture
from royale.games.clash.layout import PASS

SCHEMA = yaml.safe_load(games.replay_schema("clash").read_text())
REPLAYS = GAME.replays
# A delay, weak towers, a champion with an ability, a short overtime: all that a record must hold.
RICH = {
    "decks": ["queen_giant"],
    "start_tick": 3400,
    "overtime_s": 5,
    "tower_hp_share": 0.3,
    "command_delay_ticks": 22,
    "max_turns": 45,
}


def played(settings, player=None, key=9):
    """A battle's seed, its actions, and the state hashes of the engine that it was played on."""
    made = dealt(2, key, **settings)
    battle = made.battles.engines[1]  # the second, whose engine was reset before
    actions, states, done = [], [f"{battle.state_hash():016x}"], np.zeros(2, bool)
    while not done[1]:
        seen = look(made)
        turn = len(actions)
        if player:
            chosen = choose(player, made, seen, turn)
        else:
            chosen = uniform_actions(seen[2], (key, turn), 0.15)
            buttons = seen[2][..., PASS + 1]
            chosen[buttons > 0] = PASS + 1
        actions.append(chosen[1].tolist())
        result = made.step(chosen)
        done, winner = result.done, int(result.winner[1])
        states.append(f"{battle.state_hash():016x}")
    crowns = [player["crowns"] for player in json.loads(battle.state_json())["players"]]
    ended = {"winner": None if winner < 0 else winner, "truncated": bool(result.truncated[1])}
    return int(rng.fold(key, np.arange(2))[1]), actions, states, crowns, ended


@pytest.fixture(scope="module")
def rich():
    seed, actions, states, crowns, ended = played(RICH)
    record = REPLAYS.record(RICH, seed, actions)
    return json.loads(json.dumps(record)), actions, states, crowns, ended


def test_the_record_has_the_battles_own_states(rich):
    record, actions, states, crowns, _ = rich
    jsonschema.validate(record, SCHEMA)
    assert record["states"] == states and record["crowns"] == crowns
    plays = sum(action != PASS for pair in actions for action in pair)
    assert len(record["commands"]) == plays > 5
    assert any(slot >= 4 for _, _, slot, _, _ in record["commands"])  # an ability
    assert record["command_delay_ticks"] == 22 and record["calibration"]["match.OVERTIME_S"] == "5"
    # the engine's hitpoints are 4824, 3052, 3052
    assert record["tower_hp"] == [[1447, 916, 916]] * 2


def test_it_simulates_to_its_end_without_a_batch(rich, monkeypatch):
    record, actions, states, crowns, ended = rich
    monkeypatch.setattr(type(GAME), "make", None)
    shown = REPLAYS.shown(record)
    assert {key: shown[key] for key in ended} == ended
    assert (shown["turns"], shown["state"]) == (len(actions), states[-1])
    assert [side[1] for side in shown["frames"][-1]["sides"]] == crowns
    assert len(shown["frames"]) == len(actions) + 1
    json.dumps(shown, allow_nan=False)


def test_what_is_shown_is_the_states(rich):
    """Against the rows of an engine that is stepped by hand, here at the ninth decision."""
    record, *_ = rich
    shown = REPLAYS.shown(record)
    made = engine.battle(22, record["calibration"])
    ids = [[engine.ids()[name] for name in side] for side in record["decks"]]
    made.reset(record["seed"], ids, 1, record["start_tick"], None, record["tower_hp"], [])
    for turn in range(9):
        made.step([tuple(c[1:]) for c in record["commands"] if c[0] == turn], 10)
    state = json.loads(made.state_json())
    frame = shown["frames"][9]
    assert frame["tick"] == state["tick"] == 3490
    rows = np.array(frame["units"]).reshape(-1, 5)
    assert len(rows) == len(state["entities"])
    for (thing, x, y, hp, _), row in zip(rows, state["entities"], strict=True):
        team, kind, name, most, _, flying = shown["things"][thing]
        assert (team, kind, most, flying) == (row[1], row[2], row[8], row[10])
        assert (x, y, hp) == (row[5] // 1800, row[6] // 1800, row[7])
        assert name == {2: "King", 3: "Princess"}.get(row[2], engine.unit_types()[row[27]])
    for side, player in zip(frame["sides"], state["players"], strict=True):
        assert side == [player["elixir_milli"] // 100, 0, player["next_card"], *player["hand"]]
    pending = [row for player in state["players"] for row in player["pending"] if row[0] == 0]
    assert [row[1:] for row in frame["pending"]] == [
        [row[1], row[2] // 1800, row[3] // 1800] for row in pending
    ]


def test_a_battle_by_a_scripted_player_with_any_cards():
    settings = {"start_tick": 2300, "pool": [card.name for card in engine.cards() if card.elixir]}
    seed, actions, states, crowns, ended = played(settings, "cycle")
    assert not ended["truncated"]
    record = REPLAYS.record({**settings, "workers": 2}, seed, actions)  # and makes no workers
    assert record["states"] == states and record["crowns"] == crowns
    shown = REPLAYS.shown(record)
    assert shown["winner"] == ended["winner"] and shown["frames"][-1]["tick"] > 2900


def change(record, change):
    altered = copy.deepcopy(record)
    change(altered)
    return altered


def other_card(record):
    card = record["commands"][0]
    card[2] = (card[2] + 1) % 4


@pytest.mark.parametrize(
    ("altered", "why"),
    [
        (other_card, "after decision .* the state hash is .*altered"),
        (lambda r: r["commands"].pop(), "after decision .* the state hash is"),
        (lambda r: r["commands"][0].__setitem__(0, r["commands"][0][0] + 1), "state hash"),
        (lambda r: r.update(seed=r["seed"] + 1), "first hands|state hash"),
        (lambda r: r["decks"][0].reverse(), "first hands|state hash"),
        (lambda r: r["decks"][1].__setitem__(0, "Pekka"), "first hands|state hash"),
        (lambda r: r["decks"][1].__setitem__(0, "Nobody"), "no card 'Nobody'"),
        (lambda r: r.update(command_delay_ticks=21), "state hash"),
        (lambda r: r.update(tower_hp=None), "after decision 0 the state hash"),
        (lambda r: r["hands"][0].reverse(), "first hands"),
        (lambda r: r["crowns"].__setitem__(0, 3), r"crowns are .*, recorded \[3"),
        (lambda r: r["states"].pop(), "states of 41 decisions"),
        (lambda r: r["commands"].append([9999, 0, 0, 1, 1]), "a play at decision 9999"),
        (lambda r: r["engine"].update(royalesim="0.1.41"), "with royalesim 0.1.41, here is 0.1.42"),
        (lambda r: r["engine"].update(card_table="cards-1"), "with card_table cards-1, here is"),
    ],
)
def test_an_altered_record_is_refused(rich, altered, why):
    with pytest.raises(RoyaleError, match=why) as refused:
        REPLAYS.shown(change(rich[0], altered))
    assert len(str(refused.value).splitlines()) == 1


def test_the_picture_shows_what_stands(rich):
    shown = REPLAYS.shown(rich[0])
    text = picture.draw(shown, ["<a>", "b&c"], 0)
    root = ET.fromstring(text)
    words = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert words.count("1447") == 2 and words.count("916") == 4
    assert "Blue: <a>" in words and "Red: b&c" in words and "crowns 0-0, 2:50" in words
    assert len(text) < 10000 and not re.search(r"href|url\(|nan", text)
    # Blue's king stands below Red's
    boxes = [float(node.get("y")) for node in root.iter() if node.get("rx")]
    assert max(boxes) > 300 > 30 > min(boxes)
    assert ET.fromstring(REPLAYS.picture(shown, ["a", "b"])) is not None


def test_initials():
    assert [picture.initials(name) for name in ("MegaMinion", "Archer", "Pekka")] == [
        "MM",
        "Ar",
        "Pe",
    ]
