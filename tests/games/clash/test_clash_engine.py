"""The engine is the expected one; cards land after the delay; battles last what they should."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from clash_helpers import GAME, STARTER, batch, dealt, look, scalar

from royale.errors import RoyaleError
from royale.games.clash import decks, engine
from royale.games.clash.layout import (
    P_DECK,
    P_ELIXIR,
    P_PENDINGS,
    P_TOWER,
    PASS,
    RATE,
    TICK,
    WIDTH,
)


@pytest.fixture
def fresh():
    """The engine looked at anew, and again after the test."""
    engine.engine.cache_clear()
    yield
    engine.engine.cache_clear()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("__version__", "0.1.43", "pip install royalesim==0.1.42"),
        ("ENTITY_FIELDS", [*engine.EXPECTED["ENTITY_FIELDS"], "mood"], "ENTITY_FIELDS is"),
        ("SPELL_FIELDS", ["team"], "SPELL_FIELDS is"),
        ("STATUS_BITS", [], "STATUS_BITS is"),
        ("DEPLOY_REASONS", ["OK"], "DEPLOY_REASONS is"),
        ("ABILITY_BUTTONS", 4, "ABILITY_BUTTONS is 4, not 3"),
    ],
)
def test_another_engine_is_refused_in_one_line(fresh, monkeypatch, name, value, words):
    import royalesim

    monkeypatch.setattr(royalesim, name, value)
    with pytest.raises(RoyaleError, match=words) as caught:
        engine.engine()
    assert "\n" not in str(caught.value)


def test_facts_are_read_from_the_running_engine():
    facts = GAME.facts({"command_delay_ticks": 21})
    assert facts["engine"] == "royalesim 0.1.42"
    assert facts["decision"] == "every 500 ms (10 ticks of 50 ms)"
    assert facts["command delay"] == "21 ticks (1050 ms)"
    assert "145 cards" in facts["card table"]


@pytest.mark.parametrize(("delay", "lands"), [(0, 1), (10, 2), (22, 3), (35, 4)])
def test_a_card_lands_after_the_delay(delay, lands):
    """Played when the clock shows 90, it stands on the board `delay` ticks later."""
    made = dealt(1, start_tick=90, command_delay_ticks=delay, shuffle="none")
    codes, _, legal = look(made)
    knight = 5 * WIDTH + 8  # slot 0, well inside the own half
    assert legal[0, 0, knight]
    actions = np.full((1, 2), PASS)
    for turn in range(1, 6):
        actions[0, 0] = knight if turn == 1 else PASS
        made.step(actions)
        codes, scalars, _ = look(made)
        state = made.battles.scanned
        landed = state.head[0, TICK] > 90 + delay
        assert (turn >= lands) == landed  # a decision is 10 ticks
        assert (state.players[0, 0, P_PENDINGS] == 0) == landed
        knights = [row for row in codes[0, 0, :40] if row[0] == 1 and row[3] == 1]
        assert len(knights) == landed
        assert scalars[0, 0, scalar(made, "pending_cost")] == np.float32(0 if landed else 0.3)
        # only who played it sees it coming
        assert (codes[0, 0, :40, 0] == 6).sum() == (not landed)
        assert (codes[0, 1, :40, 0] == 6).sum() == 0


def test_the_delay_is_that_of_the_next_battle_too():
    made = dealt(1, start_tick=90)
    assert made.battles.engines[0].command_delay_ticks() == (22, 22)
    made.reset(np.array([0]), np.array([3], np.uint64))
    _, _, legal = look(made)
    actions = np.full((1, 2), PASS)
    actions[0, 1] = legal[0, 1].argmax()
    made.step(actions)
    assert made.battles.scanned.players[0, 1, P_PENDINGS] == 1


def test_a_battle_without_plays_is_drawn_after_615_decisions():
    made = dealt(1, max_turns=1000)
    actions = np.full((1, 2), PASS)
    for _ in range(614):
        assert not made.step(actions).done[0]
    result = made.step(actions)
    assert (result.done[0], result.truncated[0], result.winner[0]) == (True, False, -1)
    assert made.turns[0] == 615  # tick 6148, and ten ticks a decision
    after = made.step(actions)
    assert after.done[0] and made.turns[0] == 615


def test_settings_shorten_a_battle():
    made = dealt(1, overtime_s=0, start_tick=3500, tower_hp_share=0.1)
    towers = made.battles.scanned.players[0, 0, P_TOWER : P_TOWER + 3]
    assert towers.tolist() == [482, 305, 305]  # a tenth of 4824 and 3052
    turns = 0
    while not made.step(np.full((1, 2), PASS)).done[0]:
        turns += 1
    assert turns < 30
    capped = dealt(2, max_turns=2)
    assert not capped.step(np.full((2, 2), PASS)).done.any()
    result = capped.step(np.full((2, 2), PASS))
    assert result.done.all() and result.truncated.all() and (result.winner == -1).all()


def test_the_same_seed_is_the_same_battle_whatever_the_batch():
    a, b = (
        batch(3, pool=[c.name for c in engine.cards()]),
        batch(1, pool=[c.name for c in engine.cards()]),
    )
    a.reset(np.array([2, 0]), np.array([7, 8], np.uint64))
    b.reset(np.array([0]), np.array([7], np.uint64))
    hashes = [a.battles.engines[2].state_hash(), b.battles.engines[0].state_hash()]
    assert hashes[0] == hashes[1] != a.battles.engines[0].state_hash()


def test_decks_are_dealt_from_the_seed():
    pool = [card.name for card in engine.cards()]
    made = dealt(4, pool=pool)
    hands = made.battles.scanned.players[:, :, P_DECK : P_DECK + 8].reshape(8, 8)
    assert all(len(set(hand.tolist())) == 8 for hand in hands)
    assert len({tuple(sorted(hand)) for hand in hands.tolist()}) == 8
    champions = [sum(engine.cards()[card].champion for card in hand) for hand in hands]
    assert max(champions) <= 1
    same = dealt(2, shuffle="mirrored")
    both = same.battles.scanned.players[:, :, P_DECK : P_DECK + 8]
    wanted = sorted(engine.ids()[name] for name in STARTER)
    assert sorted(both[0, 0]) == sorted(both[1, 1]) == wanted
    assert np.array_equal(look(same)[0][:, 0, 40, :5], look(same)[0][:, 1, 40, :5])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"decks": ["strater"]}, "no deck 'strater'"),
        ({"decks": [STARTER[:7]]}, "7 cards, a deck has 8"),
        ({"decks": [[*STARTER[:7], "Knight"]]}, "a card twice"),
        ({"decks": [[*STARTER[:7], "Archers"]]}, "no card 'Archers'"),
        ({"decks": [[*STARTER[:6], "Monk", "ArcherQueen"]]}, "at most one champion"),
        ({"pool": [*STARTER[:6], "Monk", "ArcherQueen"]}, "7 cards that fit in one deck"),
        ({"speed": 2}, "no settings"),
    ],
)
def test_bad_settings_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        GAME.spec(settings, "base")


def test_named_decks_are_decks():
    for name in decks.DECKS:
        assert len(decks.deck_ids(name, "decks")) == 8


def test_there_is_no_door_for_programs():
    with pytest.raises(RoyaleError, match="no door for external programs"):
        GAME.external_player("bash run.sh", 100)


def test_importing_the_game_loads_neither_engine_nor_numba():
    words = (
        "import sys, royale.games.clash; print({'royalesim', 'numba', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("delay", [0, 22])
# in the whole battle; over the start of double elixir; over that of triple
@pytest.mark.parametrize("tick", [90, 2300, 4700])
@pytest.mark.parametrize("deck", ["hog_cycle", "queen_giant"])
def test_bars_start_at_six_and_are_counted_exactly(deck, tick, delay):
    """Both sides' elixir, counted from what landed, is what the engine says."""
    made = dealt(4, decks=[deck], start_tick=tick, command_delay_ticks=delay)
    assert (made.battles.scanned.players[..., P_ELIXIR] == 6000).all()
    estimate = scalar(made, "enemy_elixir")
    plays, rates = 0, set()
    for turn in range(40 if tick > 90 else 150):
        seen = look(made)
        truth = made.battles.scanned.players[:, ::-1, P_ELIXIR] / 10000
        assert np.abs(seen[1][..., estimate] - truth).max() < 0.001, turn
        actions = np.array([[row.nonzero()[0][0] for row in game] for game in seen[2]], np.int32)
        # an ability where it can be pressed, and a bar that fills now and then
        button = seen[2][..., PASS + 1] > 0
        actions[button] = PASS + 1
        actions[turn % 4] = PASS
        plays += (actions != PASS).sum()
        rates.add(int(made.battles.scanned.head[0, RATE]))
        made.step(actions)
    assert plays > 15 and len(rates) == (1 if tick == 90 else 2)
