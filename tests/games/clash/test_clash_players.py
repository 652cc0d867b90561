"""Scripted players: legal always, as described, and worth playing against."""

from __future__ import annotations

import numpy as np
import pytest
from clash_helpers import GAME, PROMPT, choose, dealt, look

from royale.evidence import match
from royale.games.clash import engine
from royale.games.clash.layout import PASS, TILES, WIDTH


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
