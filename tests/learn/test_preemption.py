"""Killed at random moments, whichever way: nothing is lost and nothing broken is read."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from royale.errors import Preempted
from royale.files import read_rows
from royale.learn import checkpoint
from royale.learn.preemption import limit_runtime
from royale.learn.segment import run_segment

NAME = "checkpoint.safetensors"
EVERY = 3  # iterations between partial checkpoints


def child(plan, folder: Path) -> None:
    """A process that trains; it tells its finished iterations and all it says in files."""
    import toy_game

    toy_game.register()
    with open(folder / "said.txt", "a", buffering=1) as said:
        report = open(folder / "done.txt", "a", buffering=1)  # noqa: SIM115
        try:
            run_segment(
                plan,
                folder / "out",
                folder / "partial",
                lambda row, total: print(row["iteration"], file=report),
                lambda line: print(line, file=said),
            )
        except Preempted as stopped:
            print(stopped, file=said)
            sys.exit(stopped.exit_code)


@pytest.fixture(scope="module")
def processes():
    """Children forked from a server that has imported everything, so they start at once."""
    context = multiprocessing.get_context("forkserver")
    # torch's optimizers import the last one when the first is made: two seconds
    context.set_forkserver_preload(["royale.learn.segment", "toy_game", "torch._dynamo"])
    return context


def finished(folder: Path) -> int:
    path = folder / "done.txt"
    return int(path.read_text().split()[-1]) if path.exists() and path.read_text() else 0


def saved(folder: Path) -> int:
    path = folder / "partial" / NAME
    return checkpoint.load(path)[1]["iteration"] if path.exists() else 0


def test_a_stopped_segment_saves_what_it_has_done(make_plan, tmp_path):
    plan = make_plan(steps=6 * 192)
    run_segment(plan, tmp_path / "whole", tmp_path / "w", say=lambda line: None)
    out, partial = tmp_path / "out", tmp_path / "partial"
    for number, at, why in (
        (signal.SIGTERM, 2, "SIGTERM"),
        (signal.SIGUSR1, 4, "SIGUSR1"),
        (signal.SIGALRM, 5, "resources.runtime is used up"),
    ):

        def ask(row, total, number=number, at=at):
            if row["iteration"] == at:
                os.kill(os.getpid(), number)

        before = signal.getsignal(number)
        with pytest.raises(Preempted, match=f"{why}: stopped after iteration {at} of 6"):
            run_segment(plan, out, partial, ask)
        assert signal.getsignal(number) == before
        assert checkpoint.load(partial / NAME)[1]["iteration"] == at
        assert len(read_rows(partial / "metrics.jsonl")) == at
        assert not out.exists()
    run_segment(plan, out, partial)
    assert (out / NAME).read_bytes() == (tmp_path / "whole" / NAME).read_bytes()


def test_the_runtime_of_a_rented_job_ends_a_minute_early():
    for minutes, seconds in ((10, 540), (1, 1)):
        limit_runtime(minutes)
        assert signal.alarm(0) in (seconds, seconds - 1)


def test_asked_to_stop_in_the_last_iteration_it_finishes(make_plan, tmp_path):
    plan = make_plan(steps=2 * 192)

    def ask(row, total):
        if row["iteration"] == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    run_segment(plan, tmp_path / "out", tmp_path / "partial", ask)
    assert checkpoint.load(tmp_path / "out" / NAME)[1]["iteration"] == 2


def run_killed(plan, folder: Path, processes, chance: random.Random) -> str | None:
    """Go on with the plan and kill it at a random moment; the signal, or None if it was over."""
    before, known = finished(folder), saved(folder)
    process = processes.Process(target=child, args=(plan, folder))
    process.start()
    if chance.random() < 0.8:  # else while it still starts
        while finished(folder) == before and process.is_alive():
            time.sleep(0.001)
    time.sleep(chance.uniform(0.0, 0.1))
    number = chance.choice([signal.SIGKILL, signal.SIGTERM])
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, number)
    process.join()
    if process.exitcode == 0:
        return None
    assert not (folder / "out").exists()
    assert saved(folder) >= known
    if process.exitcode == Preempted.exit_code:
        assert number == signal.SIGTERM
        assert saved(folder) >= finished(folder)
    else:
        assert process.exitcode == -number
        assert saved(folder) >= finished(folder) - EVERY
    return number.name


def check_kills(make_plan, folder, processes, kills: int) -> None:
    """Run a plan killed so many times, as often as it takes; compare with it undisturbed."""
    iterations, chance, counts = 60, random.Random(kills), Counter()
    plan = make_plan(steps=iterations * 192, checkpoint_iterations=EVERY)
    run_segment(plan, folder / "whole", folder / "w", say=lambda line: None)
    number = 0
    while counts.total() < kills:
        number += 1
        killed = folder / f"killed{number}"
        killed.mkdir()
        while counts.total() < kills:
            name = run_killed(plan, killed, processes, chance)
            if name is None:
                break
            counts[name] += 1
        process = processes.Process(target=child, args=(plan, killed))
        process.start()
        process.join()
        assert process.exitcode == 0
        assert (killed / "out" / NAME).read_bytes() == (folder / "whole" / NAME).read_bytes()
        rows = read_rows(killed / "out" / "metrics.jsonl")
        assert [row["iteration"] for row in rows] == list(range(1, iterations + 1))
        assert "not usable" not in (killed / "said.txt").read_text()
    assert counts.keys() == {"SIGKILL", "SIGTERM"}
    print(dict(counts), "in", number, "segments")


def test_six_kills_at_random_moments_lose_nothing(make_plan, tmp_path, processes):
    check_kills(make_plan, tmp_path, processes, 6)


@pytest.mark.nightly
def test_thirty_kills_at_random_moments_lose_nothing(make_plan, tmp_path, processes):
    check_kills(make_plan, tmp_path, processes, 30)
