"""External players in matches: every kind of fault, and the exported bot against one."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from bot_helpers import GAME, ROOT, TINY, buffers, random_actions

from royale.errors import RoyaleError
from royale.evidence import match
from royale.export.parity import wire_frame
from royale.games.generals import external
from royale.games.generals.external import external_player
from royale.games.generals.layout import OVER
from royale.games.generals.settings import COMPETITION

SETTINGS = {**TINY, "max_turns": 30, "deathtouch_turn": 100}
SCRIPT = Path(__file__).parent / "external_bots.py"


class Idle:
    """Always passes."""

    def act(self, view):
        return np.full(len(view.keys), view.legal.shape[1] - 1, np.int32)


def scripted(name, **options):
    command = [sys.executable, "-I", "-S", str(SCRIPT), name]
    return external_player(command, **{"limit_ms": 2000, **options})


def play(player, games=2, settings=SETTINGS, other=None):
    return match.play("generals", settings, [player, other or Idle()], games, 5)


@pytest.mark.parametrize("settings", [TINY, COMPETITION])
def test_frames_from_observations_are_the_engines(settings):
    rng = np.random.default_rng(2)
    batch = GAME.make(4, settings, "base")
    batch.reset(np.arange(4), np.arange(4).astype(np.uint64))
    codes, scalars, legal = buffers(batch)
    for _ in range(60):
        batch.observe(codes, scalars, legal)
        for seat in range(2):
            texts = external.frames(codes[:, seat], scalars[:, seat], batch.turns)
            for n in np.flatnonzero(batch.table[:, OVER] == 0):
                assert texts[n] == b"\n".join(wire_frame(batch, n, seat)) + b"\n"
        batch.step(random_actions(rng, legal))


def test_totals_come_back_exactly_from_their_float32_logarithms():
    totals = np.arange(external.EXACT_TOTAL + 1)
    scalars = (np.log1p(totals) / 8).astype(np.float32)
    assert np.array_equal(np.rint(np.expm1(8 * scalars.astype(np.float64))), totals)
    area = 64 * 64
    shares = (np.arange(area + 1) / area).astype(np.float32)
    assert np.array_equal(np.rint(shares.astype(np.float64) * area), np.arange(area + 1))


def test_orders_become_actions_only_if_legal():
    legal = np.zeros(9 * 49 + 1, np.uint8)
    legal[[5 * 49 + 2 * 7 + 3, 8 * 49 + 4, 9 * 49]] = 1
    assert external.to_action((0, 2, 3, 1, 1), legal) == 5 * 49 + 2 * 7 + 3
    assert external.to_action((2, 0, 4, 9, 9), legal) == 8 * 49 + 4
    assert external.to_action((1, 99, 99, 99, 99), legal) == 9 * 49
    for order in (
        (0, 2, 3, 1, 0),
        (0, 2, 3, 5, 0),
        (3, 2, 3, 1, 1),
        (0, -5, 3, 1, 1),
        (2, 0, 7, 0, 0),
    ):
        assert external.to_action(order, legal) is None


def test_a_well_behaved_player_has_no_faults_and_plays():
    player = scripted("good")
    chosen = []
    act = player.act

    def watched(view, games):
        chosen.append(act(view, games))
        assert view.legal[np.arange(len(games)), chosen[-1]].all()
        return chosen[-1]

    player.act = watched
    played = play(player, 6)
    assert not any(player.faults.values())
    assert len(player.faults) == 6
    first = np.concatenate(chosen)
    assert (first < 9 * 49).mean() > 0.5  # moves, not passes
    chosen.clear()
    assert played == play(player, 6)  # the same player, a second match
    assert np.array_equal(np.concatenate(chosen), first)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("crashing", {"crash": 25}),  # turns 5 to 29
        ("illegal", {"illegal": 15}),  # every other turn
        ("off_board", {"illegal": 15}),
        ("words", {"malformed": 15}),
        ("short", {"malformed": 15}),
    ],
)
def test_faults_are_counted_by_kind(name, expected):
    player = scripted(name)
    played = play(player)
    assert [record["turns"] for record in played] == [30, 30]
    assert {game: dict(counts) for game, counts in player.faults.items()} == dict.fromkeys(
        (0, 1), expected
    )


@pytest.mark.parametrize("name", ["chatty", "trailing"])
def test_lines_nobody_asked_for_are_faults_and_do_not_shift_the_answers(name):
    player = scripted(name)
    play(player)
    for counts in player.faults.values():
        assert counts["extra"] >= 14  # what comes after the last turn is not read
        assert counts["illegal"] == counts["crash"] == counts["late"] == 0
        assert counts["malformed"] == (15 if name == "chatty" else 0)


def test_a_late_reply_is_a_pass_and_is_thrown_away_when_it_comes():
    player = scripted("late", limit_ms=300, parallel=2)
    settings = {**SETTINGS, "max_turns": 14}
    played = play(player, settings=settings)
    assert [record["turns"] for record in played] == [14, 14]
    for counts in player.faults.values():
        assert set(counts) == {"late"}  # no answer was taken for another turn's
        assert 2 <= counts["late"] <= 8


def test_fifty_faults_forfeit_the_game_and_only_that():
    player = scripted("hanging", limit_ms=20, max_faults=10)
    played = play(player)
    assert [record["winner"] for record in played] == [1, 1]
    assert [record["turns"] for record in played] == [13, 13]
    assert not any(record["truncated"] for record in played)
    both = [scripted("crashing", max_faults=5), scripted("crashing", max_faults=5)]
    played = play(both[0], other=both[1])
    assert [record["winner"] for record in played] == [None, None]
    assert external.MAX_FAULTS == 50


def test_a_command_line_is_split_as_a_shell_would_and_may_not_exist():
    line = shlex.join([sys.executable, "-I", "-S", str(SCRIPT), "good"])
    player = external_player(line, folder="/", limit_ms=2000)
    play(player)
    assert not any(player.faults.values())
    with pytest.raises(RoyaleError, match="cannot start"):
        play(external_player("/no/such/program"))
    with pytest.raises(RoyaleError, match="empty"):
        external_player("")


def test_no_process_is_left_behind():
    player = scripted("good")
    begun = []
    ask = player._ask

    def keep(*words):
        asked = ask(*words)
        begun.append(asked[0].popen)
        return asked

    player._ask = keep
    play(player, 4)
    assert len(set(begun)) == 4
    assert all(popen.returncode is not None for popen in begun)


def test_the_exported_bot_plays_twenty_games_without_a_fault(tiny):
    # A limit for the loaded machines that tests run on.
    bot = [sys.executable, "-m", "royale.bot", "--weights", str(tiny), "--limit-ms", "4000"]
    bot = external_player(bot, limit_ms=5000, startup_ms=60_000, folder=ROOT)
    other = scripted("good", limit_ms=5000)
    played = match.play("generals", {**SETTINGS, "max_turns": 20}, [bot, other], 20, 9)
    assert len(played) == 20
    assert not any(bot.faults.values()) and not any(other.faults.values())
