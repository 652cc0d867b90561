"""Shaping potentials: by hand, opposite for the two seats, and no more than was paid for."""

from __future__ import annotations

import json

import numpy as np
import pytest
from clash_helpers import PROMPT, dealt, look, uniform_actions

from royale.games.clash import engine
from royale.games.clash.layout import P_ELIXIR, P_TOWER, PASS, WIDTH

BY_HAND = {
    ("Knight", "Knight"): 3,
    ("Archer", "Archer"): 3 / 2,
    ("GoblinGang", "Goblin_Stab"): 3 / 6,
    ("GoblinGang", "SpearGoblin"): 3 / 6,
    ("Rascals", "RascalGirl"): 5 / 3,
    ("ThreeMusketeers", "ThreeMusketeer_Rework_Character_2"): 9 / 3,
    ("GoblinBarrel", "Goblin"): 3 / 3,
    ("Golem", "Golem"): 8,
    ("Golem", "Golemite"): 0,
    ("LavaHound", "LavaPups"): 0,
    ("Tombstone", "Skeleton"): 0,
    ("Graveyard", "Graveyard_rework_Skeleton"): 0,
    ("GoblinDrill", "GoblinDrill"): 4,
    ("RamRider", "Ram"): 5,
    ("RamRider", "RamRider"): 0,
    ("MergeMaiden", "MergeMaiden_Normal"): 6,
}


@pytest.mark.parametrize(("names", "elixir"), BY_HAND.items())
def test_what_a_unit_stands_for(names, elixir):
    card, unit = engine.ids()[names[0]], engine.unit_types().index(names[1])
    assert engine.unit_worth()[card, unit] == pytest.approx(elixir)


def test_what_lands_is_worth_what_it_cost():
    """Every card that puts down something, played in the engine alone."""
    made, worth = engine.battle(), engine.unit_worth()
    landed = 0
    for number, card in enumerate(engine.cards()):
        if card.kind == "SPELL":
            continue
        deck = [number, *[other for other in range(12) if other != number][:7]]
        made.reset(0, [deck, deck], 0, 90, [10000, 10000], None, [])
        (answer,) = made.step([(0, 0, 5 * 18000 + 9000, 9 * 18000 + 9000)], 30)
        state = json.loads(made.state_json())
        units = [e for e in state["entities"] if e[3] == number]
        if answer[1] != engine.OK or not units:
            continue
        landed += 1
        assert sum(worth[number, e[27]] for e in units) == pytest.approx(card.elixir), card.name
    assert landed > 110


def test_potentials_by_hand():
    made = dealt(1, shuffle="none", **PROMPT)
    made.step(np.array([[5 * WIDTH + 8, PASS]]))  # Blue's knight of 3
    out = np.zeros((1, 2, 3), np.float32)
    made.potentials(out)
    # what it cost stands on the board
    assert out[0, :, 0].tolist() == out[0, :, 1].tolist() == [0, 0]
    assert np.abs(out[0, :, 2]).max() < 1e-6
    players = made.battles.scanned.players
    players[0, 0, P_TOWER + 1] = 0  # Blue's left princess has fallen ..
    players[0, 1, P_TOWER] //= 2  # .. and Red's king is half dead
    players[0, 1, P_TOWER - 1] = 1  # a crown of Red's
    players[0, 1, P_ELIXIR] -= 2000
    made.battles._report()
    made.potentials(out)
    assert out[0, 0] == pytest.approx([-1 / 3, -0.3 + 0.2, 0.2], abs=1e-6)
    assert np.array_equal(out[0, 1], -out[0, 0])


def test_they_are_opposite_and_bounded_in_battles_with_all_cards():
    made = dealt(3, 8, pool=[card.name for card in engine.cards()], tower_hp_share=0.1, **PROMPT)
    out, seen = np.zeros((3, 2, 3), np.float32), []
    for turn in range(200):
        made.step(uniform_actions(look(made)[2], turn, 0.5))
        made.potentials(out)
        assert np.array_equal(out[:, 1], -out[:, 0])
        assert np.abs(out).max() <= 1
        seen.append(out[:, 0].copy())
    assert (np.ptp(seen, axis=0) > 0).all()  # each of them moved in each battle
