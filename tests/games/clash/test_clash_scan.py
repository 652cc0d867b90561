"""Reading the engine's JSON: the same as json.loads reads, on states of every kind of card."""

from __future__ import annotations

import json
from itertools import chain

import numpy as np
import pytest
from clash_helpers import PROMPT, dealt, look, uniform_actions

from royale.games.clash import engine
from royale.games.clash.layout import (
    NONE,
    P_ABILITIES,
    P_ABILITY,
    P_COST,
    P_DECK,
    P_HAND,
    P_PENDING,
    P_PENDINGS,
    P_TOWER,
    P_TOWER_MAX,
)
from royale.games.clash.scan import Scanned

PLAIN = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13)  # columns of an entity before its box


@pytest.fixture(scope="module")
def texts():
    """States of battles with all cards, with and without a delay."""
    pool = [card.name for card in engine.cards()]
    out = []
    for delay in (0, 22):
        made = dealt(3, delay, pool=pool, start_tick=90, command_delay_ticks=delay)
        for turn in range(250):
            made.step(uniform_actions(look(made)[2], turn, 0.8))
            out += [battle.state_json() for battle in made.battles.engines]
    return out


def test_states_are_read_as_json_reads_them(texts):
    read = Scanned(len(texts))
    read.read(texts, np.arange(len(texts)))
    seen = {"spells": 0, "pending": 0, "abilities": 0, "buffs": 0, "boxes": 0}
    for i, text in enumerate(texts):
        state = json.loads(text)
        assert read.head[i].tolist() == [int(state[key]) for key in engine.STATE_KEYS[:8]]
        for player, row in zip(state["players"], read.players[i], strict=True):
            pending = [entry[1:5] for entry in player["pending"] if entry[0] == 0]
            abilities = [[entry[0], entry[2]] for entry in player["abilities"]]
            assert row[0] == player["elixir_milli"]
            assert row[P_HAND : P_HAND + 4].tolist() == player["hand"]
            assert row[P_COST : P_COST + 4].tolist() == player["hand_costs"]
            assert row[9] == player["mirror_target"]
            assert row[P_DECK : P_DECK + 8].tolist() == player["deck"]
            assert row[18] == player["pending_cost"]
            assert row[P_PENDINGS] == len(pending)
            assert row[P_PENDING : P_PENDING + 4 * len(pending)].tolist() == list(chain(*pending))
            assert row[P_ABILITIES] == len(abilities)
            assert row[P_ABILITY : P_ABILITY + 2 * len(abilities)].tolist() == list(
                chain(*abilities)
            )
            assert row[43:45].tolist() == [player["next_card"], player["crowns"]]
            assert row[P_TOWER : P_TOWER + 3].tolist() == player["tower_hp"]
            assert row[P_TOWER_MAX : P_TOWER_MAX + 3].tolist() == player["tower_max_hp"]
            assert row[51] == player["king_active"]
            seen["pending"] += len(pending)
            seen["abilities"] += len(abilities)
        assert read.counts[i].tolist() == [len(state["entities"]), len(state["spells"])]
        for entity, row in zip(state["entities"], read.entities[i], strict=False):
            box = entity[14][0] if entity[14] else NONE
            rest = [entity[15], entity[16], *entity[17], entity[18], len(entity[19])]
            rest += [entity[20], entity[23], entity[27]]
            assert row.tolist() == [*(int(entity[column]) for column in PLAIN), box, *rest]
            seen["buffs"] += len(entity[19])
            seen["boxes"] += entity[14] is not None
        for spell, row in zip(state["spells"], read.spells[i], strict=False):
            assert row.tolist() == spell[:8]
            seen["spells"] += 1
    assert min(seen.values()) > 10, seen


@pytest.mark.parametrize(
    "change", [(b'"next_card":', b'"extra":[1],"next_card":'), (b'"crowns":0,', b"")]
)
def test_another_shape_of_state_is_refused(texts, change):
    other = texts[0].replace(*change, 1)
    with pytest.raises(ValueError, match="cannot be read"):
        Scanned(2).read([other, texts[1]], np.arange(2))


def test_more_entities_than_there_is_room_for_are_counted():
    made = dealt(1, **PROMPT)
    state = json.loads(made.battles.engines[0].state_json())
    state["entities"] *= 30
    read = Scanned(1)
    read.read([json.dumps(state, separators=(",", ":")).encode()], np.arange(1))
    assert read.counts[0, 0] == 180
    assert read.entities[0, 127].tolist() == read.entities[0, 127 % 6].tolist()
