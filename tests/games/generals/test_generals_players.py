"""Scripted players: legal, repeatable, sensible, and cheap to import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from generals_helpers import buffers

from royale.games.generals import GAME
from royale.games.generals.settings import COMPETITION, SMALL
from royale.games.protocol import View
from royale.rng import fold


def views(game, arrays, turn):
    codes, scalars, legal = arrays
    for seat in (0, 1):
        seen = (np.ascontiguousarray(a[:, seat]) for a in (codes, scalars, legal))
        yield seat, View(*seen, game.turns.copy(), fold(np.arange(game.n_games), turn, seat))


@pytest.mark.parametrize("name", GAME.scripted)
@pytest.mark.parametrize("settings", [SMALL, COMPETITION], ids=["small", "competition"])
def test_players_are_legal_and_repeatable(name, settings):
    n = 6
    game = GAME.make(n, settings, "base")
    game.reset(np.arange(n), np.arange(n, dtype=np.uint64))
    game.frames[:] = np.arange(2 * n).reshape(n, 2) % 8
    player = GAME.scripted_player(name, game.spec)
    arrays = buffers(game)
    actions = np.empty((n, 2), np.int32)
    for turn in range(150):
        game.observe(*arrays)
        for seat, view in views(game, arrays, turn):
            chosen = player.act(view)
            assert chosen.dtype == np.int32
            assert view.legal[np.arange(n), chosen].all()
            assert np.array_equal(chosen, player.act(view))
            back = View(*(getattr(view, k)[::-1].copy() for k in view.__dataclass_fields__))
            assert np.array_equal(chosen[::-1], player.act(back))
            actions[:, seat] = chosen
        game.step(actions)
    land = game.table[:, 10:12]
    assert (land > 2).all()


def test_random_is_uniform_over_legal_actions():
    spec = GAME.spec(SMALL, "base")
    rows = 20_000
    legal = np.zeros((rows, spec.n_actions), np.uint8)
    some = [3, 200, 570]
    legal[:, some] = 1
    legal[:, -1] = 1
    empty = np.zeros((rows, *spec.code_shape), np.uint8)
    scalars = np.zeros((rows, len(spec.scalars)), np.float32)
    view = View(empty, scalars, legal, np.zeros(rows, np.int32), fold(7, np.arange(rows)))
    chosen = GAME.scripted_player("random", spec).act(view)
    shares = [(chosen == a).mean() for a in [*some, spec.n_actions - 1]]
    assert np.allclose(shares, [0.95 / 3] * 3 + [0.05], atol=0.015)


def test_unknown_player():
    with pytest.raises(ValueError, match="there are"):
        GAME.scripted_player("nobody", GAME.spec(SMALL, "base"))


def test_import_is_cheap():
    code = (
        "import sys; import royale.games as g; G = g.load('generals');"
        "from royale.games.generals.settings import SMALL; G.spec(SMALL, 'base');"
        "assert not {'numba', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_settings_fit_their_schema():
    yaml = pytest.importorskip("yaml")
    jsonschema = pytest.importorskip("jsonschema")
    from royale.games import settings_schema

    schema = yaml.safe_load(settings_schema("generals").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for settings in (SMALL, COMPETITION):
        assert not list(check.iter_errors(settings))
    assert list(check.iter_errors({**SMALL, "fog": True}))
    assert list(check.iter_errors({k: v for k, v in SMALL.items() if k != "max_turns"}))
    assert all("description" in value for value in schema["properties"].values())
    with pytest.raises(ValueError, match="height"):
        GAME.spec({**SMALL, "height": [9, 8]}, "base")
