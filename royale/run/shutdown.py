"""SIGTERM to Snakemake ends a local run soon, with all of its training saved.

Snakemake itself then starts no more jobs and waits for those that run, which with
segments of hours is no end at all. So it passes the signal on to them; a segment
saves its work and ends (royale/learn/preemption.py), and matches are over in minutes.
"""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import psutil


def pass_sigterm_on(script: str = "train_segment.py") -> None:
    """Pass a SIGTERM on to the running jobs of a script, then to where it went before."""
    before = signal.getsignal(signal.SIGTERM)

    def receive(number: int, frame: object) -> None:
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error, IndexError):
                words = process.cmdline()
                # the shell around a script has its name, too, and would not wait for it
                if Path(words[0]).name.startswith("python") and words[-1].endswith(script):
                    process.send_signal(number)
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGTERM, receive)
