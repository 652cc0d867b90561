"""Where an iteration's seconds go."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch


class Clock:
    """Seconds by part: `with clock("env"): ...` counts those spent within.

    A part within a part suspends the outer one, so no second is counted twice. On a GPU its
    work is waited for whenever the part changes, or it would count for a later one. A clock
    is one thread's.
    """

    def __init__(self, parts: Iterable[str], device: str = "cpu") -> None:
        self.seconds = dict.fromkeys(parts, 0.0)
        self._gpu = torch.device(device).type == "cuda"
        self._open: list[str] = []
        self._since = 0.0

    def reset(self) -> None:
        """Count from 0 again; not within a part."""
        self.seconds = dict.fromkeys(self.seconds, 0.0)

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Count what is done within for `part`, however it ends."""
        self._turn()
        self._open.append(part)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def _turn(self) -> None:
        """Book the seconds since the last change of part."""
        if self._gpu:
            torch.cuda.synchronize()
        now = time.perf_counter()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now
