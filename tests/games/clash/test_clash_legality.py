"""What is legal is what the engine's own check says, on every tile, in every frame."""

from __future__ import annotations

import numpy as np
import pytest
from clash_helpers import PROMPT, choose, dealt, look, uniform_actions

from royale.games.clash import engine
from royale.games.clash.layout import P_HAND, P_TOWER, PASS, TILES
from royale.games.clash.legality import POINTS, Legality


def engines_own(made, game, seat):
    """(4, 576): the engine's answer for each slot and tile of the seat's frame, asked anew."""
    check = made.battles.engines[game].check_deploy
    out = np.array(
        [[check(seat, slot, x, y) == engine.OK for x, y in POINTS[seat]] for slot in range(4)]
    )
    if made.frames[game, seat]:
        out = out.reshape(4, 32, 18)[:, :, ::-1].reshape(4, TILES)
    return out


@pytest.mark.parametrize("delay", [0, 22])
def test_the_mask_is_the_engines_check_on_every_tile(delay):
    """Battles with all 145 cards, both seats, both frames, all 2,304 cells."""
    pool = [card.name for card in engine.cards()]
    made = dealt(4, 3 + delay, pool=pool, start_tick=90, command_delay_ticks=delay)
    made.frames[:] = [[0, 0], [0, 1], [1, 0], [1, 1]]
    compared, fallen, played = 0, 0, set()
    for turn in range(330):
        legal = look(made)[2]
        assert (legal[..., PASS] == 1).all()
        for game, seat in np.ndindex(4, 2):
            tiles = legal[game, seat, :PASS].reshape(4, TILES)
            # a board of which nothing is known, and now and then one where nothing can be paid
            if (tiles.any() and turn % 5 == 0) or turn % 40 == game:
                assert np.array_equal(tiles, engines_own(made, game, seat)), (turn, game, seat)
                compared += 1
                towers = made.battles.scanned.players[game, 1 - seat, P_TOWER : P_TOWER + 3]
                fallen += bool(tiles.any() and (towers == 0).any())
                played.update(made.battles.scanned.players[game, seat, P_HAND : P_HAND + 4])
        made.step(uniform_actions(legal, (delay, turn), 0.35))
    assert compared > 150 and len(played) > 40 and fallen > 10
    legality = made.battles.legality
    assert legality.wrong == 0 and legality.filled < legality.asked / 4


COUNTS = {
    # legal tiles of 576 with all towers, and with the enemy's left princess down
    "Knight": (247, 284),
    "Minions": (247, 284),
    "Log": (240, 277),
    "Miner": (530, 535),
    "GoblinBarrel": (544, None),
    "Cannon": (240, None),
    "Fireball": (576, 576),
}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("down", [False, True])
def test_counts_of_legal_tiles(seat, down):
    made = engine.battle()
    full = engine.started(made)["players"][0]["tower_max_hp"]
    towers = [list(full), list(full)]
    towers[1 - seat][1] *= not down
    rest = [
        engine.ids()[name] for name in ("Archer", "Giant", "Zap", "Musketeer", "Pekka", "Witch")
    ]
    for name, counts in COUNTS.items():
        if counts[down] is None:
            continue
        deck = [engine.ids()[name], *rest, engine.ids()["Prince"]]
        made.reset(0, [deck, deck], 0, 90, [10000, 10000], towers, [])
        grid = Legality().grid(made.check_deploy, seat, 0, deck[0], 1, 0)
        assert grid.sum() == counts[down], name
        # nothing here depends on the side: mirrored, the grid has as many
        assert Legality().grid(made.check_deploy, seat, 0, deck[0], 1, 1).sum() == counts[down]


def test_a_grid_that_the_engine_contradicts_is_made_anew():
    made = dealt(1, **PROMPT)
    legality, check = made.battles.legality, made.battles.engines[0].check_deploy
    right = legality.grid(check, 0, 0, 0, 99, 0).copy()
    key = next(iter(legality._grids))
    wrong = np.zeros(TILES, np.uint8)
    legality._grids[key] = (wrong, wrong, int(np.flatnonzero(right == 0)[0]))
    assert np.array_equal(legality.grid(check, 0, 0, 0, 99, 0), right)
    assert legality.wrong == 1


def test_nothing_but_a_pass_where_no_card_can_be_paid_or_the_opening_lasts():
    made = dealt(2)
    for _ in range(9):  # ticks 0 to 80
        assert (look(made)[2].sum(2) == 1).all()
        made.step(np.full((2, 2), PASS))
    assert (look(made)[2].sum(2) > 1).all()
    asked = made.battles.legality.asked
    for turn in range(200):
        seen = look(made)
        before = made.battles.legality.asked
        if not made.battles._playable.any():
            assert before == asked and (seen[2].sum(2) == 1).all()
        asked = before
        made.step(choose("cycle", made, seen, turn))


def test_abilities_are_legal_only_where_the_card_has_one():
    deck = [
        "ArcherQueen",
        "Skeletons",
        "IceSpirits",
        "FireSpirits",
        "Bats",
        "Goblins",
        "Zap",
        "Log",
    ]
    made = dealt(1, decks=[deck], shuffle="none", **PROMPT)
    pressed = False
    for _ in range(60):
        legal = look(made)[2]
        assert not legal[0, 1, PASS + 1 :].any()  # Red never plays the queen
        actions = np.full((1, 2), PASS)
        queen = legal[0, 0, :TILES]
        if legal[0, 0, PASS + 1]:
            assert made.battles.engines[0].check_deploy(0, 4, 0, 0) == engine.OK
            actions[0, 0], pressed = PASS + 1, True
        elif queen.any() and not pressed:
            actions[0, 0] = queen.argmax()
        made.step(actions)
    assert pressed
    starter = dealt(1, **PROMPT)
    assert not look(starter)[2][..., PASS + 1 :].any()


def test_an_illegal_action_is_a_pass():
    made, other = dealt(1, **PROMPT), dealt(1, **PROMPT)
    legal = look(made)[2]
    look(other)
    illegal = np.flatnonzero(legal[0, 0] == 0)[5]
    made.step(np.array([[illegal, -1]]))
    other.step(np.array([[PASS, PASS]]))
    hashes = [b.battles.engines[0].state_hash() for b in (made, other)]
    assert hashes[0] == hashes[1]
