"""Worker processes: the same battles, restored exactly, replaced when killed, never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from clash_helpers import GAME, buffers, choose, dealt, look

from royale import rng
from royale.errors import RoyaleError
from royale.evidence import match
from royale.games.clash import shared
from royale.games.clash.layout import PASS

SETTINGS = {"start_tick": 90}
N, TURNS, SAVED = 4, 60, 35


def play(made, first, last, log):
    """Random decisions of turns first .. last - 1; what was seen and what came of it."""
    for turn in range(first, last):
        seen = look(made)
        result = made.step(choose("random", made, seen, turn))
        log.append([*(a.copy() for a in seen), result.done, result.winner, made.turns.copy()])


@pytest.fixture(scope="module")
def workers():
    """A batch on two workers, used by all tests that leave it whole."""
    made = GAME.make(N, {**SETTINGS, "workers": 2}, "base")
    yield made
    made.close()


@pytest.fixture(scope="module")
def alone():
    """A batch in this process: what it saw, and its state in between."""
    made, log = dealt(N, **SETTINGS), []
    made.frames[:] = [[0, 1], [1, 0], [0, 0], [1, 1]]
    play(made, 0, SAVED, log)
    state = made.state_arrays()
    play(made, SAVED, TURNS, log)
    return log, state


def same(log, other):
    assert len(log) == len(other)
    for turn, (a, b) in enumerate(zip(log, other, strict=True)):
        for x, y in zip(a, b, strict=True):
            assert np.array_equal(x, y), turn


def test_workers_play_the_very_same_battles(workers, alone):
    log, state = alone
    mine = []
    workers.reset(np.arange(N), rng.fold(0, np.arange(N)))
    workers.frames[:] = [[0, 1], [1, 0], [0, 0], [1, 1]]
    play(workers, 0, SAVED, mine)
    for name, array in workers.state_arrays().items():
        assert np.array_equal(array, state[name]), name
    play(workers, SAVED, TURNS, mine)
    same(mine, log)


def test_a_restored_state_has_the_same_future(workers, alone):
    log, state = alone
    for made in (workers, GAME.make(N, SETTINGS, "base")):
        made.load_state_arrays(state)
        mine = []
        play(made, SAVED, TURNS, mine)
        same(mine, log[SAVED:])
    with pytest.raises(ValueError, match="4 battles, this batch has 2"):
        GAME.make(2, SETTINGS, "base").load_state_arrays(state)


def changed(name, to):
    """A change of one state array: `to` everywhere, or what it gives for the array."""

    def change(state):
        array = state[name].copy()
        array[...] = to(array) if callable(to) else to
        return {**state, name: array}

    return change


UNTRUE = {
    "a frame that is none": (changed("frames", 2), "frames: want 4 battles of 0 to 1"),
    "a card that is none": (changed("last", 145), "last: want 4 battles of -1 to 144"),
    "another that is none": (changed("seen", -2), "seen: "),
    "a snapshot longer than its room": (changed("snapshot_bytes", 10**12), "snapshot_bytes: "),
    "no snapshot of a battle that goes on": (changed("snapshot_bytes", 0), "snapshot_bytes: "),
    "no number": (changed("estimate", np.nan), "estimate: "),
    "a snapshot that is none": (changed("snapshot", lambda a: a[:, ::-1]), "battle 0: snapshot"),
}


@pytest.mark.parametrize("name", UNTRUE)
def test_a_state_from_a_stranger_is_refused(alone, name):
    change, fault = UNTRUE[name]
    with pytest.raises(ValueError, match=fault):
        GAME.make(N, SETTINGS, "base").load_state_arrays(change(alone[1]))


def test_workers_refuse_a_snapshot_as_this_process_does(alone):
    change, fault = UNTRUE["a snapshot that is none"]
    made = GAME.make(N, {**SETTINGS, "workers": 1}, "base")
    with pytest.raises(ValueError, match=fault):
        made.load_state_arrays(change(alone[1]))


def test_a_worker_may_die_at_its_first_order_or_while_it_restores(alone):
    log, state = alone
    made = GAME.make(1, {**SETTINGS, "workers": 1}, "base")
    kill(made, 0)
    made.reset(np.arange(1), np.arange(1, dtype=np.uint64))
    assert made.lost.all()
    kill(made, 0)  # the new one, before it did anything: it may be the settings' fault
    with pytest.raises(RoyaleError, match="died twice in a row"):
        look(made)
    made = GAME.make(N, {**SETTINGS, "workers": 2}, "base")
    kill(made, 1)
    made.load_state_arrays(state)
    assert made.deaths == 1 and not made.lost.any()
    mine = []
    play(made, SAVED, TURNS, mine)
    same(mine, log[SAVED:])


def kill(made, number):
    """Kill a worker, and wait until it is dead."""
    os.kill(made.workers.workers[number].process.pid, signal.SIGKILL)
    made.workers.workers[number].process.wait()


def test_a_worker_killed_in_mid_round_is_replaced_and_counted(workers, capfd):
    workers.reset(np.arange(N), np.arange(N, dtype=np.uint64))
    deaths = workers.deaths
    look(workers)
    victim = workers.workers.workers[1].process
    os.kill(victim.pid, signal.SIGSTOP)  # so that it dies with the order in hand
    os.kill(victim.pid, signal.SIGKILL)
    result = workers.step(np.full((N, 2), PASS))
    assert result.lost.tolist() == [False, False, True, True]
    assert result.done.tolist() == [False, False, True, True]
    assert not result.truncated.any() and (result.winner == -1).all()
    assert workers.deaths == deaths + 1
    assert "worker 1 died (exit code -9)" in capfd.readouterr().err
    # not dealt again yet: there is nothing to see, and one thing to do
    codes, _, legal = look(workers)
    assert not codes[2:].any() and codes[:2].any()
    assert (legal[2:].sum(2) == 1).all() and legal[2:, :, PASS].all()
    games = np.flatnonzero(result.lost)
    workers.reset(games, games.astype(np.uint64))
    # a new battle of a new worker is as good as any
    other = dealt(1, **SETTINGS)
    other.reset(np.array([0]), np.array([2], np.uint64))
    for mine, its in zip(look(workers), look(other), strict=True):
        assert np.array_equal(mine[2], its[0])
    assert workers.step(np.full((N, 2), PASS)).lost is None


def test_a_worker_that_hangs_is_replaced_like_a_dead_one(workers):
    workers.reset(np.arange(N), np.arange(N, dtype=np.uint64))
    look(workers)
    deaths, hung = workers.deaths, workers.workers.workers[0]
    hung.connection.settimeout(0.5)
    os.kill(hung.process.pid, signal.SIGSTOP)
    result = workers.step(np.full((N, 2), PASS))
    assert result.lost.tolist() == [True, True, False, False]
    assert workers.deaths == deaths + 1
    assert hung.connection.gettimeout() > 60  # of its replacement


def test_a_death_outside_a_step_is_told_at_the_next_one(workers):
    workers.reset(np.arange(N), np.arange(N, dtype=np.uint64))
    look(workers)
    os.kill(workers.workers.workers[0].process.pid, signal.SIGKILL)
    _, _, legal = look(workers)
    assert (legal[:2].sum(2) == 1).all()
    state = workers.state_arrays()
    assert state["lost"].tolist() == [True, True, False, False]
    result = workers.step(np.full((N, 2), PASS))
    assert result.lost.tolist() == result.done.tolist() == [True, True, False, False]
    workers.load_state_arrays(state)
    assert workers.step(np.full((N, 2), PASS)).lost.tolist() == [True, True, False, False]
    workers.reset(np.arange(2), np.arange(2, dtype=np.uint64))
    assert workers.step(np.full((N, 2), PASS)).lost is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
def test_workers_go_on_when_a_job_is_asked_to_stop(workers, number):
    """Such a signal reaches all of a job's processes; the learner ends its iteration first."""
    workers.reset(np.arange(N), np.arange(N, dtype=np.uint64))
    deaths = workers.deaths
    for worker in workers.workers.workers:
        os.kill(worker.process.pid, number)
    assert workers.step(np.full((N, 2), PASS)).lost is None
    assert workers.deaths == deaths


def test_a_match_plays_lost_games_again(monkeypatch):
    settings = {**SETTINGS, "max_turns": 30}
    spec = GAME.spec(settings, "base")
    players = [GAME.scripted_player(name, spec) for name in ("random", "cycle")]
    expected = match.play("clash", settings, players, N, 3, statistics=True)
    made = []
    real = GAME.make
    monkeypatch.setattr(GAME, "make", lambda *words: made.append(real(*words)) or made[0])

    def killing(turn, running):
        if turn == 12 and made[0].deaths == 0:
            os.kill(made[0].workers.workers[0].process.pid, signal.SIGKILL)

    mine = match.play("clash", {**settings, "workers": 2}, players, N, 3, killing, True)
    assert made[0].deaths == 1
    assert mine == expected


# What starts the tests may ignore SIGINT (a shell's background does), and that is inherited.
PARENT = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from royale import games
made = games.load("clash").make(2, {"workers": 2}, "base")
made.reset(np.arange(2), np.arange(2, dtype=np.uint64))
print(*[w.process.pid for w in made.workers.workers], flush=True)
try:
    while True:
        made.step(np.full((2, 2), 2304))
except KeyboardInterrupt:
    try:
        made.step(np.full((2, 2), 2304))
    except Exception as error:
        print(type(error).__name__, error, flush=True)
    print("left", flush=True)
"""


def gone(pids, seconds=20):
    deadline = time.monotonic() + seconds
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(how):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    time.sleep(0.05)
    os.killpg(parent.pid, how)  # as a terminal's Ctrl-C: to the whole group
    said = parent.stdout.read()
    parent.wait(30)
    assert gone(pids)
    if how == signal.SIGINT:
        assert said.splitlines()[-1] == "left" and parent.returncode == 0


def test_closed_workers_are_gone_and_say_so():
    made = GAME.make(2, {**SETTINGS, "workers": 1}, "base")
    pids = [worker.process.pid for worker in made.workers.workers]
    made.close()
    made.close()
    assert gone(pids)
    with pytest.raises(RoyaleError, match="have ended"):
        made.step(np.full((2, 2), PASS))
    made = GAME.make(2, {**SETTINGS, "workers": 3}, "base")  # no more workers than battles
    pids = [worker.process.pid for worker in made.workers.workers]
    assert len(pids) == 2
    del made
    assert gone(pids)


def test_a_worker_that_cannot_start_is_an_error_not_a_wait(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RoyaleError, match="died while starting"):
        GAME.make(2, {**SETTINGS, "workers": 1}, "base")


@pytest.mark.parametrize("full", [1, 2])
def test_full_shared_memory_is_noticed_before_a_write_is_fatal(monkeypatch, full):
    asked = []

    def some_are_full(dir, buffering):
        asked.append(dir)
        if len(asked) <= full:
            return open("/dev/full", "r+b", buffering)
        return tempfile.TemporaryFile(dir=dir, buffering=buffering)

    mine = SimpleNamespace(TemporaryFile=some_are_full, gettempdir=tempfile.gettempdir)
    monkeypatch.setattr(shared, "tempfile", mine)
    if full == 2:
        with pytest.raises(RoyaleError, match=r"/dev/shm: No space left on device; .*workers: 0"):
            GAME.make(2, {**SETTINGS, "workers": 1}, "base")
        return
    made = GAME.make(2, {**SETTINGS, "workers": 1}, "base")
    assert asked == ["/dev/shm", tempfile.gettempdir()]
    made.reset(np.arange(2), np.arange(2, dtype=np.uint64))
    assert look(made)[0].any() and made.deaths == 0
    made.close()


def test_wrong_buffers_are_refused():
    made = dealt(1)
    codes, scalars, legal = buffers(made)
    with pytest.raises(ValueError, match="legal"):
        made.observe(codes, scalars, legal[:, :, :-1])
    with pytest.raises(ValueError, match="one seed a game"):
        made.reset(np.arange(1), np.arange(2, dtype=np.uint64))
    with pytest.raises(IndexError):
        made.reset(np.array([1]), np.array([1], np.uint64))
