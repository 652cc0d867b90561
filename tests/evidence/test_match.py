"""Matches between scripted players on small boards."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_parts import SETTINGS

from royale import games, rng
from royale.errors import RoyaleError
from royale.evidence import match

GAME = games.load("generals")


def scripted(name):
    return GAME.scripted_player(name, GAME.spec(SETTINGS, GAME.encoders[0]))


def play(first, second, n_games, key=7):
    return match.play("generals", SETTINGS, [scripted(first), scripted(second)], n_games, key)


def test_maps_are_shared_and_seats_exchanged():
    played = play("random", "random", 16)
    assert [record["game"] for record in played] == list(range(16))
    for first, second in zip(played[::2], played[1::2], strict=True):
        assert first["seed"] == second["seed"]
        assert (first["seats"], second["seats"]) == ([0, 1], [1, 0])
    assert len({record["seed"] for record in played}) == 8
    assert all(0 <= record["seed"] < 2**53 for record in played)


def test_a_game_does_not_depend_on_the_batch_it_is_in():
    assert play("random", "expander", 40)[:8] == play("random", "expander", 8)


def test_a_match_may_be_played_in_batches():
    whole = play("random", "expander", 24)
    players = [scripted("random"), scripted("expander")]
    parts = [
        match.play("generals", SETTINGS, players, n, 7, first=first)
        for first, n in ((0, 8), (8, 14), (22, 2))
    ]
    assert [*parts[0], *parts[1], *parts[2]] == whole
    with pytest.raises(ValueError, match="even"):
        match.play("generals", SETTINGS, players, 8, 7, first=3)


def test_key_decides_the_match():
    assert play("random", "random", 16) == play("random", "random", 16)
    assert play("random", "random", 16) != play("random", "random", 16, key=8)


def test_stronger_player_wins_from_both_seats_and_either_side():
    played = play("expander", "random", 60)
    win, loss, draw = match.count(played)
    assert win + loss + draw == 60
    assert win > 2 * loss
    for seat in (0, 1):
        here = match.count([record for record in played if record["seats"][seat] == 0])
        assert here[0] > here[1]
    back = match.count(play("random", "expander", 60))
    assert back[1] > 2 * back[0]


class Idle:
    """Always passes (the last action), and counts the rows it was asked for."""

    def __init__(self):
        self.rows = []

    def act(self, view):
        self.rows.append(len(view.keys))
        assert view.legal[:, -1].all()
        return np.full(len(view.keys), view.legal.shape[1] - 1, np.int32)


def test_nobody_moves_nobody_wins():
    idle = Idle()
    played = match.play("generals", SETTINGS, [idle, Idle()], 6, 1)
    assert match.count(played) == (0, 0, 6)
    assert all(record["truncated"] and record["turns"] == 80 for record in played)
    assert idle.rows == [6] * 80


def test_finished_games_are_not_asked_again():
    idle = Idle()
    played = match.play("generals", SETTINGS, [idle, scripted("expander")], 20, 3)
    assert sum(idle.rows) == sum(record["turns"] for record in played)


def test_a_match_file_must_say_what_its_games_say():
    games = [{"winner": 0}, {"winner": 1}, {"winner": 0}, {"winner": None}]
    players = {"a": {"sha256": "aa"}, "b": {"sha256": None}}
    record = {"a": "x", "b": "y", "win": 2, "loss": 1, "draw": 1, "games": games}
    record |= {"players": players, "pairs": [0, 0, 1, 1, 0]}
    match.check_match("m/x-vs-y.json", record, {"x": "aa"})
    for change, path, words in (
        ({"win": 300}, "m/x-vs-y.json", "its games count"),
        ({"pairs": [0, 0, 0, 2, 0]}, "m/x-vs-y.json", "its pairs count"),
        ({}, "m/y-vs-x.json", "is the match x-vs-y"),
        ({"players": {**players, "a": {"sha256": "bb"}}}, "m/x-vs-y.json", "other weights"),
    ):
        with pytest.raises(RoyaleError, match=words):
            match.check_match(path, {**record, **change}, {"x": "aa"})


class Losing:
    """A batch whose games are lost in some steps, as if their process had died."""

    def __init__(self, batch, lose):
        self.batch, self.lose, self.steps = batch, lose, 0

    def __getattr__(self, name):
        return getattr(self.batch, name)

    def step(self, actions):
        result = self.batch.step(actions)
        result.lost = np.zeros(self.batch.n_games, bool)
        result.lost[self.lose(self.steps)] = True
        result.done = result.done | result.lost
        result.winner = np.where(result.lost, -1, result.winner)
        self.steps += 1
        return result


def losing(monkeypatch, lose):
    make = GAME.make
    monkeypatch.setattr(GAME, "make", lambda *rest: Losing(make(*rest), lose), raising=False)


def test_a_lost_game_is_played_again_and_becomes_the_same(monkeypatch):
    whole = play("random", "expander", 8)
    losing(monkeypatch, lambda step: {4: [0, 5], 11: [5], 500: []}.get(step, []))
    assert play("random", "expander", 8) == whole


def test_a_game_lost_again_and_again_ends_the_match(monkeypatch):
    losing(monkeypatch, lambda step: [3] if step % 2 else [])
    with pytest.raises(RoyaleError, match=r"game 3 \(seed \d+\) was lost 4 times"):
        play("random", "random", 8)


def test_a_program_cannot_play_a_lost_game_again(monkeypatch):
    idle = Idle()
    idle.begin = idle.end = lambda *seats: None
    idle.act = lambda view, games: Idle().act(view)
    losing(monkeypatch, lambda step: [2] if step == 3 else [])
    with pytest.raises(RoyaleError, match=r"game 2 was lost .* ask for the match again"):
        match.play("generals", SETTINGS, [idle, scripted("random")], 8, 7)


@pytest.mark.parametrize("n_games", [0, 3, -2])
def test_odd_or_no_games_are_refused(n_games):
    with pytest.raises(ValueError, match="even"):
        play("random", "random", n_games)


def test_random_numbers_are_named_and_uniform():
    keys = rng.fold(rng.key_of("x"), np.arange(20000))
    assert len(np.unique(keys)) == 20000
    values = rng.uniform(keys)
    assert values.min() >= 0 and values.max() < 1
    # mean of 20000 uniforms: 0.5 +- 0.002 (one sigma)
    assert abs(values.mean() - 0.5) < 0.01
    assert rng.key_of("a", "bc") != rng.key_of("ab", "c")
    assert int(rng.fold(5, 3)) == int(rng.fold(np.array([5, 5]), np.array([3, 4]))[0])
