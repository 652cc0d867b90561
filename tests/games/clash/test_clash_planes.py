"""From codes to planes: by hand, and mirrored exactly."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from clash_helpers import (
    GAME,
    PROMPT,
    board,
    buffers,
    choose,
    dealt,
    encoded,
    look,
    played_states,
)

from royale.games.clash import engine, planes
from royale.games.clash.layout import SCALARS


@pytest.fixture(scope="module")
def states():
    """States of battles with all cards, as JSON objects."""
    return played_states()


def expanded(codes, scalars):
    rows = codes.reshape(-1, *codes.shape[2:]), scalars.reshape(-1, scalars.shape[2])
    return GAME.expand(*map(torch.from_numpy, rows), "base")


def test_planes_of_a_thing_by_hand():
    """A knight between four tiles: each gets the share that its distance leaves."""
    codes, scalars = encoded([board(attack_phase=1)])
    picture, vector = expanded(codes, scalars)
    spec = GAME.spec({}, "base")
    assert picture.shape == (2, len(spec.planes), 32, 18) and vector.shape == (2, len(spec.vector))
    plane = dict(zip(spec.planes, picture[0], strict=True))
    # at 3.75, 9.5 tiles: the middles of tiles are at halves
    ground = plane["own_ground_troop"]
    assert ground[9, 3] == 0.75 and ground[9, 4] == 0.25 and ground.sum() == 1
    assert plane["own_troop_hp"].sum() == pytest.approx(900 / 2000)
    assert plane["own_hurt"].sum() == pytest.approx(1 - 128 / 255, abs=1e-6)
    assert plane["own_value"].sum() == pytest.approx(3 / 4 * 128 / 255)
    assert plane["own_speed"].sum() == pytest.approx(60 / 120)
    assert plane["own_range"].sum() == pytest.approx(1.2 / 8 + 7 / 8 + 2 * 7.5 / 8)
    assert plane["own_damage"][9, 3] == pytest.approx(0.75 * 79 / 1.2 / 100)
    assert plane["own_attacking"].sum() == 1 and plane["own_forward"].sum() == 1
    assert plane["own_tower"].sum() == plane["enemy_tower"].sum() == 3
    assert plane["own_tower"][2:4, 8:10].sum() == 1  # the king, between four tiles
    assert plane["enemy_ground_troop"].sum() == 0
    red = dict(zip(spec.planes, picture[1], strict=True))
    assert red["enemy_ground_troop"][22, 14] == 0.75 and red["own_ground_troop"].sum() == 0
    assert red["enemy_forward"].sum() == -1


def test_the_fixed_planes_are_the_arena():
    fixed = dict(zip(planes.FIXED, np.moveaxis(planes.fixed_planes(), 2, 0), strict=True))
    # two rows, and in each the middles of two tiles lie on bridges
    assert fixed["water"].sum() == fixed["water"][15:17].sum() == 2 * (18 - 2)
    # as many as the engine allows a troop, but for the three tiles that it allows on one side
    assert fixed["own_side"].sum() == 247 - 3
    assert fixed["behind_left"].sum() == 284 - 247
    assert fixed["behind_left"][:, 9:].sum() == 0 and fixed["behind_right"][:, :9].sum() == 0
    for name in ("water", "no_troops", "own_side", "middle"):
        assert np.array_equal(fixed[name], fixed[name][:, ::-1]), name
    assert np.array_equal(fixed["behind_left"], fixed["behind_right"][:, ::-1])
    assert fixed["no_troops"][0, 0] == 1 and (fixed["no_troops"] * fixed["own_side"]).sum() == 0


def test_mirrored_codes_give_mirrored_planes(states):
    codes, scalars = encoded(states[40:80])
    picture, vector = expanded(codes, scalars)
    rows = [codes.reshape(-1, *codes.shape[2:]), scalars.reshape(-1, len(SCALARS))]
    rows += [np.zeros((len(rows[0]), 2308), np.uint8), np.zeros(len(rows[0]), np.int32)]
    turned = GAME.transform(*rows, np.ones(len(rows[0]), np.int8))
    other, same = GAME.expand(torch.from_numpy(turned[0]), torch.from_numpy(turned[1]), "base")
    mirrored = picture.flip(3).clone()
    names = list(planes.PLANES)
    for side in ("own", "enemy"):
        mirrored[:, names.index(f"{side}_sideways")] *= -1
    left, right = names.index("behind_left"), names.index("behind_right")
    mirrored[:, [left, right]] = mirrored[:, [right, left]]
    torch.testing.assert_close(other, mirrored, atol=1e-5, rtol=0)
    kept = [
        i for i, name in enumerate(planes.vector_names()) if not name.endswith(("left", "right"))
    ]
    assert torch.equal(same[:, kept], vector[:, kept])


def test_the_vector_says_which_cards():
    made = dealt(1, decks=["hog_cycle"], **PROMPT)
    for turn in range(60):
        seen = look(made)
        made.step(choose("cycle", made, seen, turn))
    codes, scalars, _ = look(made)
    _, vector = expanded(codes, scalars)
    vector = dict(zip(planes.vector_names(), vector[0].tolist(), strict=True))
    player = json.loads(made.battles.engines[0].state_json())["players"][0]
    names = [card.name for card in engine.cards()]
    for slot, card in enumerate(player["hand"]):
        assert [n for n in names if vector[f"slot_{slot}: {n}"]] == [names[card]] * (card >= 0)
    held = {names[c] for c in [*player["hand"], player["next_card"]] if c >= 0}
    deck = {names[c] for c in player["deck"]}
    assert [n for n in names if vector[f"next: {n}"]] == [names[player["next_card"]]]
    assert {n for n in names if vector[f"out of hand: {n}"]} == deck - held
    landed = made.battles.public.plays[0, 1]
    assert landed > 8
    assert {n for n in names if vector[f"enemy has: {n}"]} <= deck
    assert sum(vector[f"enemy just played: {n}"] for n in names) == 4
    red = json.loads(made.battles.engines[0].state_json())["players"][1]["hand"]
    assert not any(vector[f"enemy just played: {names[c]}"] for c in red if c >= 0)


def test_empty_rows_expand_to_the_arena():
    out = buffers(dealt(1))
    picture, _ = expanded(out[0], out[1])
    moving = len(planes.PLANES) - len(planes.FIXED)
    assert not picture[:, :moving].any() and torch.isfinite(picture).all()
