"""The batch engine against the slow twin, on random positions and any actions at all."""

from __future__ import annotations

import numpy as np
import pytest
from generals_helpers import buffers, random_position, twin_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from royale.games.generals.layout import ARMY, BUILDS, CASTLE, CASTLES, LAND

GAMES, TURNS = 8, 25
ODD = np.array([-(2**31), -77, -5, -4, -3, -2, -1, 3, 4, 5, 8, 99, 2**31 - 1])


def random_orders(rng, game, height, width):
    """Raw actions: mostly on own cells, often towards each other, some nonsense."""
    n, side = game.n_games, game.side
    orders = np.empty((n, 2, 5), np.int32)
    orders[..., 0] = rng.choice([0, 0, 0, 0, 0, 1, 2, 2, 3], (n, 2))
    orders[..., 1] = rng.integers(0, height, (n, 2))
    orders[..., 2] = rng.integers(0, width, (n, 2))
    orders[..., 3] = rng.integers(0, 4, (n, 2))
    orders[..., 4] = rng.integers(0, 2, (n, 2))
    for k in range(n):
        for seat in (0, 1):
            own = np.flatnonzero((game.owner[k] == seat) & (game.army[k] > 1))
            if len(own) and rng.random() < 0.8:
                orders[k, seat, 1:3] = divmod(int(rng.choice(own)), side)
            if rng.random() < 0.1:  # next to, or onto, the enemy general
                cell = divmod(int(game.table[k, 8 + 1 - seat]), side)
                orders[k, seat, 1:3] = np.array(cell) + rng.integers(-1, 2, 2)
    odd = rng.random(orders.shape) < 0.02
    orders[odd] = rng.choice(ODD, odd.sum())
    return orders


def same_state(game, twins, result, height, width):
    """Assert that state, totals and prices are those of the twins."""
    side = game.side
    for n, twin in enumerate(twins):

        def cut(flat):
            return flat.reshape(side, side)[:height, :width]

        owner, army, kind = cut(game.owner[n]), cut(game.army[n]), cut(game.kind[n])
        assert owner.ravel().tolist() == [twin.owner[x] for x in twin.cells]
        assert army.ravel().tolist() == [twin.army[x] for x in twin.cells]
        castles = kind & CASTLE != 0
        assert castles.ravel().tolist() == [x in twin.castles for x in twin.cells]
        row = game.table[n]
        assert game.turns[n] == twin.time
        assert (result.done[n], result.truncated[n]) == (twin.done, twin.truncated)
        assert result.winner[n] == twin.winner
        for seat in (0, 1):
            assert row[LAND + seat] == twin.land(seat)
            assert row[ARMY + seat] == twin.total(seat)
            assert row[CASTLES + seat] == twin.castles_of(seat)
            assert row[BUILDS + seat] == twin.builds[seat]


def same_prices_and_legal(game, twins, height, width):
    spec, side = game.spec, game.side
    codes, scalars, legal = buffers(game)
    game.observe(codes, scalars, legal)
    for n, twin in enumerate(twins):
        for seat in (0, 1):
            price = game.price[n, seat].reshape(side, side)[:height, :width]
            assert price.ravel().tolist() == [twin.price(seat, x) for x in twin.cells]
            got = set()
            for a in np.flatnonzero(legal[n, seat]):
                plane, cell = divmod(int(a), side * side)
                got.add("pass" if a == spec.n_actions - 1 else (plane, *divmod(cell, side)))
            assert got == twin.legal(seat)


def play(seed, height, width, rules):
    rng = np.random.default_rng(seed)
    game = random_position(rng, GAMES, height, width, **rules)
    twins = [twin_of(game, n, **rules) for n in range(GAMES)]
    for turn in range(TURNS):
        orders = random_orders(rng, game, height, width)
        result = game.step_orders(orders)
        for twin, order in zip(twins, orders, strict=True):
            twin.step(order)
        same_state(game, twins, result, height, width)
        if turn % 12 == 0:
            same_prices_and_legal(game, twins, height, width)


CASES = {
    "seed": st.integers(0, 2**32 - 1),
    "height": st.integers(2, 7),
    "width": st.integers(2, 7),
    "rules": st.fixed_dictionaries(
        {
            "deathtouch_turn": st.sampled_from([0, 100, 800]),
            "max_turns": st.sampled_from([1200, 1195, 60]),
            "build_base": st.sampled_from([1, 3, 35]),
            "build_surcharge": st.sampled_from([0, 1, 3, 14]),
            "castle_cap": st.sampled_from([None, 0, 2]),
        }
    ),
}
SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


# 110 examples of 8 games and 25 turns: 22,000 turns.
@settings(max_examples=110, derandomize=True, **SLOW)
@given(**CASES)
def test_engine_matches_twin(seed, height, width, rules):
    play(seed, height, width, rules)


@pytest.mark.nightly
@settings(max_examples=5100, **SLOW)
@given(**CASES)
def test_engine_matches_twin_for_a_million_turns(seed, height, width, rules):
    play(seed, height, width, rules)
