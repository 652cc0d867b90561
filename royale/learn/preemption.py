"""Ending a segment when its host is taken away: between two iterations, nothing lost.

Slurm, spot machines and `kill` say so with SIGTERM; SIGUSR1 is what Slurm is often told
to send some time before a job's end (`--signal=USR1@120`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = {
    signal.SIGTERM: "SIGTERM",
    signal.SIGUSR1: "SIGUSR1",
    signal.SIGALRM: "resources.runtime is used up",
}


def limit_runtime(minutes: int) -> None:
    """Stop this process a minute before `minutes` are over, counted from now, whoever runs it."""
    signal.alarm(max(60 * minutes - 60, 1))


class StopRequest:
    """Whether the process was asked to stop, and why."""

    reason: str | None = None

    def _receive(self, number: int, frame: object) -> None:
        self.reason = SIGNALS[signal.Signals(number)]


@contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Take the stop signals as requests while inside; in a side thread, nothing is taken.

    Outside of it they end the process at once: there is nothing to save then.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = [signal.signal(number, request._receive) for number in SIGNALS]
    try:
        yield request
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)
