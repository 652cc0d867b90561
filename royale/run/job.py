"""What every script of the workflow shares: its log, its progress lines, its errors."""

from __future__ import annotations

import contextlib
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from royale.errors import Preempted, RoyaleError

TERMINAL_SECONDS, LOG_SECONDS = 0.5, 10.0


@contextlib.contextmanager
def job(snakemake: Any, name: str) -> Iterator[Progress]:
    """Run a script's body: progress goes to the terminal and the log, errors end it clearly.

    An error that is the user's to mend is one line; any other leaves its
    traceback in the log and names it in one line. Both exit with 1. A segment that was
    asked to stop exits with 75: a retry goes on from what it saved.
    """
    path = Path(snakemake.log[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    # appended to, since the processes of a segment write into it, too
    with open(path, "a", encoding="utf-8", buffering=1) as log:
        progress = Progress(name, log)
        try:
            yield progress
        except Preempted as stopped:
            progress.say(str(stopped))
            sys.exit(stopped.exit_code)
        except RoyaleError as error:
            progress.say(f"error: {error}")
            sys.exit(error.exit_code)
        except KeyboardInterrupt:
            progress.say("interrupted")
            sys.exit(130)
        except Exception as error:
            traceback.print_exc(file=log)
            first_line = f"{type(error).__name__}: {error}".splitlines()[0]
            progress.say(f"error: {first_line} (traceback in {path})")
            sys.exit(1)


class Progress:
    """A progress line: rewritten in place on a terminal, a plain line now and then in the log."""

    def __init__(self, name: str, log: IO[str]) -> None:
        self.name = name
        self._log = log
        self._terminal = sys.stderr.isatty()
        self._shown = self._logged = 0.0
        self._start: tuple[float, float] | None = None

    def say(self, text: str) -> None:
        """A line that stays, on the terminal and in the log."""
        clear = "\r\x1b[K" if self._terminal else ""
        print(f"{clear}{self.name}: {text}", file=sys.stderr, flush=True)
        print(text, file=self._log)

    def update(self, done: float, total: float, unit: str, extra: str = "") -> None:
        """Show how far the work is, its rate and the time left; cheap to call often."""
        now = time.monotonic()
        if self._start is None:
            self._start = (now, done)
        finished = done >= total
        line = None
        if self._terminal and (finished or now - self._shown >= TERMINAL_SECONDS):
            self._shown = now
            line = self._line(now, done, total, unit, extra)
            print(f"\r\x1b[K{line}", end="\n" if finished else "", file=sys.stderr, flush=True)
        if finished or now - self._logged >= LOG_SECONDS:
            self._logged = now
            print(line or self._line(now, done, total, unit, extra), file=self._log)

    def _line(self, now: float, done: float, total: float, unit: str, extra: str) -> str:
        began, first = self._start
        rate = (done - first) / (now - began) if now > began else 0.0
        left = (total - done) / rate if rate > 0 else float("nan")
        eta = f"{int(left // 60)}:{int(left % 60):02d}" if left == left else "-:--"
        share = done / total if total else 1.0
        line = f"{self.name}  {share:4.0%}  {done:,.0f}/{total:,.0f} {unit}"
        if rate > 0:
            line += f"  {rate:,.0f} {unit}/s  ETA {eta}"
        return f"{line}  {extra}" if extra else line
