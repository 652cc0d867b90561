"""Worker processes: started, asked all at once, replaced when they die, ended with the learner."""

from __future__ import annotations

import contextlib
import itertools
import json
import mmap
import os
import socket
import subprocess
import sys
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from royale.errors import RoyaleError
from royale.games.clash import shared
from royale.games.clash.messages import BEGIN, DONE, FAILED, receive, send

ALLOWANCE = 5.0  # seconds a worker is given to leave
PATIENCE = 600.0  # seconds that an order may take, which takes milliseconds; then it hangs


class WorkerError(RoyaleError):
    """Workers that cannot be had, with the reason."""


class Worker:
    """One process and the battles first .. last - 1 that it plays."""

    def __init__(self, number: int, first: int, last: int) -> None:
        self.number, self.first, self.last = number, first, last
        self.process: subprocess.Popen | None = None
        self.connection: socket.socket | None = None
        self.unproven = False  # it replaces one that died, and has done nothing yet

    def start(self, memory: int, n: int, settings: Mapping[str, Any]) -> None:
        """Start the process; `started` waits for it.

        A new program, not a fork: a fork would copy the learner's threads in the middle of
        what they do, and multiprocessing's spawn would run the caller's script again.
        """
        mine, theirs = socket.socketpair()
        numbers = (theirs.fileno(), memory, n, self.first, self.last)
        root = str(Path(__file__).parents[3])
        path = [root, *(entry for entry in sys.path if entry and entry != root)]
        one = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "royale.games.clash.worker", *map(str, numbers)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), memory),
                process_group=0,  # a terminal's Ctrl-C is the learner's alone
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path), **one},
            )
        mine.settimeout(PATIENCE)
        self.connection = mine
        with contextlib.suppress(OSError):  # `started` sees a worker that died at once
            send(mine, BEGIN, json.dumps(dict(settings)).encode())

    def started(self) -> None:
        """Wait until it can be asked; WorkerError with the reason if it never can."""
        if self.answer() is None:
            raise WorkerError(
                f"clash: worker {self.number} died while starting "
                f"(exit code {self.process.wait()}); its last words are above"
            )

    def ask(self, letter: bytes, content: bytes = b"") -> None:
        """Send an order; `answer` tells what came of it, also if the worker is dead."""
        with contextlib.suppress(OSError):
            send(self.connection, letter, content)

    def answer(self) -> bytes | None:
        """Wait for the answer; None if the worker is dead, or hung and is now. Raises the worker's
        own faults."""
        try:
            letter, content = receive(self.connection)
        except TimeoutError:
            self.process.kill()
            return None
        except (EOFError, OSError):
            return None
        if letter == FAILED:
            raise WorkerError(f"clash: worker {self.number}: {content.decode()}")
        if letter != DONE:
            raise RuntimeError(f"clash: worker {self.number}:\n{content.decode()}")
        return content

    def bury(self) -> int:
        """Clear away a dead worker; its exit code."""
        self.connection.close()
        return self.process.wait()


def end(workers: Iterable[Worker], memory: mmap.mmap | None = None) -> None:
    """End every worker and wait for it; safe to call again."""
    there = [worker for worker in workers if worker.process is not None]
    for worker in there:
        worker.connection.close()  # upon which it leaves
    for worker in there:
        try:
            worker.process.wait(ALLOWANCE)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
        worker.process = None


class Workers:
    """W processes over N battles. `arrays` is what they have in common with the caller.

    They end with this object, at `close`, and when the caller's process is gone, even killed.
    An exception in mid-round (such as Ctrl-C's) ends them all, since nobody knows what they
    have done.
    """

    def __init__(self, n: int, workers: int, settings: Mapping[str, Any]) -> None:
        self.n, self._settings = n, dict(settings)
        self._file = shared.open_memory(n)
        self.arrays = shared.arrays(mmap.mmap(self._file.fileno(), shared.size(n)), n)
        bounds = np.linspace(0, n, min(workers, n) + 1).round().astype(int).tolist()
        self.workers = [
            Worker(number, first, last)
            for number, (first, last) in enumerate(itertools.pairwise(bounds))
        ]
        self.deaths = 0
        self.close = weakref.finalize(self, end, self.workers)
        try:
            for worker in self.workers:
                worker.start(self._file.fileno(), n, self._settings)
            for worker in self.workers:
                worker.started()
        except BaseException:
            self.close()
            raise

    def of(self, games: np.ndarray) -> list[Worker]:
        """The workers that play some of `games`."""
        return [w for w in self.workers if ((games >= w.first) & (games < w.last)).any()]

    def round(
        self,
        letter: bytes,
        workers: Iterable[Worker] | None = None,
        contents: Mapping[int, bytes] | None = None,
    ) -> tuple[dict[int, bytes], np.ndarray]:
        """Give an order to workers (all), wait for all, and replace those that died.

        Returns the answers by worker and the games (N,) bool whose worker died. WorkerError if
        one dies in its first order after it was replaced.
        """
        if not self.close.alive:
            raise WorkerError("clash: the workers of these battles have ended")
        asked = list(self.workers if workers is None else workers)
        lost = np.zeros(self.n, np.bool_)
        answers = {}
        try:
            for worker in asked:
                worker.ask(letter, (contents or {}).get(worker.number, b""))
            for worker in asked:
                answer = worker.answer()
                if answer is None:
                    self._replace(worker)
                    lost[worker.first : worker.last] = True
                else:
                    answers[worker.number], worker.unproven = answer, False
        except BaseException:
            self.close()
            raise
        return answers, lost

    def _replace(self, worker: Worker) -> None:
        code = worker.bury()
        if worker.unproven:
            raise WorkerError(
                f"clash: worker {worker.number} died twice in a row (exit code {code})"
            )
        self.deaths += 1
        print(
            f"clash: worker {worker.number} died (exit code {code}); its battles "
            f"{worker.first} to {worker.last - 1} are lost, and it is started again",
            file=sys.stderr,
            flush=True,
        )
        worker.start(self._file.fileno(), self.n, self._settings)
        worker.started()
        worker.unproven = True
