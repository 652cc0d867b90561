"""Scripted players: legal always, as described, and worth playing against."""

from __future__ import annotations

import numpy as np
import pytest
from clash_helpers import GAME, PROMPT, choose, dealt, look

from royale.evidence import match
from royale.games.clash import engine
from royale.games.clash.layout import PASS, TILES, WIDTH
from royale.games.protocol import View


@pytest.mark.parametrize("name", GAME.scripted)
def test_every_choice_is_legal(name):
    made = dealt(3, 2, pool=[card.name for card in engine.cards()], **PROMPT)
    played = 0
    for turn in range(120):
        seen = look(made)
        actions = choose(name, made, seen, turn)
        assert np.take_along_axis(seen[2], actions[..., None], 2).all()
        played += (actions != PASS).sum()
        made.step(actions)
    assert (played == 0) == (name == "noop")


def test_styles_on_an_opening_hand():
    """The starter deck unshuffled with six elixir: knight, archers, giant, minions."""
    made = dealt(1, shuffle="none", **PROMPT)
    seen = look(made)

    def tile(name):
        action = int(choose(name, made, seen, 0)[0, 0])
        return action // TILES, action % TILES // WIDTH, action % WIDTH

    first = np.flatnonzero(seen[2][0, 0, :TILES])[0]
    assert tile("first_affordable") == (0, first // WIDTH, first % WIDTH)
    assert tile("push") == (0, 14, 16)  # the river's near bank, less its blocked corner
    slot, row, column = tile("defend")
    assert slot == 0 and abs(row - 7.5) <= 1 and abs(column - 8.5) <= 1
    assert tile("cycle")[1:] == (14, 16)
    # four slots may be played at once, so the patient player pushes
    assert tile("patient") == tile("push")
    made.step(choose("push", made, seen, 0))
    seen = look(made)
    assert (choose("patient", made, seen, 1) == PASS).all()


def with_troops(seen, *troops):
    """What Blue sees, and troops put in by hand: enemy, forward, right, hitpoints / 20."""
    codes, scalars, legal = (a[:, 0].copy() for a in seen)
    free = np.flatnonzero(codes[0, :40, 0] == 0)
    for row, (enemy, forward, right, hp) in zip(free, troops, strict=False):
        codes[0, row, [0, 1, 4, 5, 7]] = 1, enemy, right, forward, hp
        codes[0, row, 6] = 8 + 16 * 8  # in the middle of the tile
    return View(codes, scalars, legal, np.zeros(1, np.int32), np.zeros(1, np.uint64))


def chosen(name, made, view):
    """Slot, row and column that a player chooses; None for a pass."""
    action = int(GAME.scripted_player(name, made.spec).act(view)[0])
    return None if action == PASS else (action // TILES, *divmod(action % TILES, WIDTH))


def test_the_counter_player_defends_then_counters_then_waits():
    made = dealt(1, shuffle="none", **PROMPT)
    seen = look(made)
    assert chosen("counter", made, with_troops(seen)) is None  # six of elixir are not full enough
    seen[1][..., made.spec.scalars.index("elixir")] = 0.95
    assert chosen("counter", made, with_troops(seen))[1:] == (14, 16)
    # the knight (slot 0) is the first of the cheapest; an own troop is joined ..
    ally = (0, 9, 4, 50)
    assert chosen("counter", made, with_troops(seen, ally, (0, 6, 12, 50))) == (0, 9, 4)
    # .. unless an enemy has crossed the river: the one nearest to the own back line
    crossed = (1, 12, 13, 50)
    assert chosen("counter", made, with_troops(seen, ally, crossed)) == (0, 12, 13)
    assert chosen("counter", made, with_troops(seen, crossed, (1, 8, 3, 9), ally)) == (0, 8, 3)
    assert chosen("counter", made, with_troops(seen, ally, (1, 20, 13, 50))) == (0, 9, 4)


def test_the_spell_player_hits_the_greatest_crowd_and_cycles_without_a_spell():
    deck = ["Zap", "Fireball", "Knight", "Giant", "Archer", "Minions", "Cannon", "Musketeer"]
    made = dealt(1, decks=[deck], shuffle="none", **PROMPT)
    seen = look(made)
    crowd = [(1, 20, 4, 50), (1, 21, 4, 50), (1, 20, 5, 50)]
    slot, row, column = chosen("spells", made, with_troops(seen, (1, 10, 14, 120), *crowd))
    assert slot == 0  # the cheaper spell
    for _, forward, right, _ in crowd:
        assert np.hypot(row - forward, column - right) <= 2.5
    # own troops are no target; without enemies it is a tower
    slot, row, column = chosen("spells", made, with_troops(seen, (0, 10, 9, 200)))
    assert slot == 0 and row > 20
    made = dealt(1, shuffle="none", **PROMPT)  # knight, archers, giant, minions
    assert chosen("spells", made, with_troops(look(made), *crowd)) == (0, 14, 16)


def test_the_random_player_passes_in_nine_of_ten():
    made = dealt(1, **PROMPT)
    seen = [np.repeat(a, 400, 0) for a in look(made)]

    class Wide:
        spec, n_games, turns = made.spec, 400, np.zeros(400, np.int32)

    actions = choose("random", Wide, seen, 0).reshape(-1)
    share = (actions == PASS).mean()
    assert abs(share - 0.9) < 0.035  # three standard deviations
    slots = np.bincount(actions[actions != PASS] // TILES, minlength=4)
    assert (slots > 5).all()


def test_matches_can_be_played_and_pushing_beats_doing_nothing():
    settings = {**PROMPT, "tower_hp_share": 0.1, "max_turns": 200}
    spec = GAME.spec(settings, "base")
    players = [GAME.scripted_player(name, spec) for name in ("push", "noop")]
    records = match.play("clash", settings, players, 4, 9, statistics=True)
    assert match.count(records)[0] == 4
    mine, theirs = np.array(records[0]["statistics"])
    names = spec.statistics
    assert mine[names.index("cards")] >= 1 and theirs[names.index("cards")] == 0
    assert theirs[names.index("pass_share")] == 1 and theirs[names.index("elixir")] > 6
    assert mine[names.index("crowns")] >= 1
