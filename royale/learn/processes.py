"""Starting the processes that train a segment together, and being one of them.

`torchrun` starts them on this machine (see `parallel` for what they do). What they ended
with, and why, the one that fails or stops writes into the partial work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

import royale
from royale.errors import Preempted, RoyaleError
from royale.files import write_text
from royale.learn.parallel import join_group
from royale.learn.plan import SegmentPlan
from royale.learn.preemption import SIGNALS
from royale.learn.segment import train
from royale.run.job import Progress

JOB, ENDED = "job.json", "ended.json"


def starter(
    name: str, log: str | Path, bench: Mapping[str, Any] | None = None
) -> Callable[[SegmentPlan, Path, Path], None]:
    """A `start_processes` for `run_segment`; progress goes to the log and, as `name`, is shown."""

    def start(plan: SegmentPlan, out: Path, partial: Path) -> None:
        job = {
            "plan": {**asdict(plan), "start_file": plan.start_file and str(plan.start_file)},
            "out": str(out),
            "partial": str(partial),
            "name": name,
            "log": str(log),
            "bench": bench,
        }
        ended = partial / ENDED
        ended.unlink(missing_ok=True)
        write_text(partial / JOB, json.dumps(job))
        words = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        words += [f"--nproc-per-node={plan.processes}", "-m", __name__, str(partial / JOB)]
        root = str(Path(royale.__file__).resolve().parents[1])
        env = os.environ | {
            "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]),
            "OMP_NUM_THREADS": str(plan.threads),
        }
        running = subprocess.Popen(words, env=env)
        with _passing_signals(running):
            code = running.wait()
        if ended.exists():
            found = json.loads(ended.read_text())
            kind = Preempted if found["exit_code"] == Preempted.exit_code else RoyaleError
            raise kind(found["text"])
        if code:
            raise RoyaleError(f"a training process failed (torchrun ended with {code})")

    return start


@contextmanager
def _passing_signals(running: subprocess.Popen) -> Iterator[None]:
    """Give the stop signals to the training processes; torchrun itself would end them in 30 s."""

    def receive(number: int, frame: object) -> None:
        with suppress(psutil.Error):
            for process in psutil.Process(running.pid).children():
                process.send_signal(number)

    before = [signal.signal(number, receive) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)


def main(file: str) -> None:
    """Be one of the processes of the job in a file, as torchrun's environment says which."""
    job = json.loads(Path(file).read_text())
    start_file = job["plan"].pop("start_file")
    plan = SegmentPlan(**job["plan"], start_file=start_file and Path(start_file))
    out, partial = Path(job["out"]), Path(job["partial"])
    share = join_group(plan.device)
    with open(job["log"] if share.first else os.devnull, "a", buffering=1) as log:
        progress = Progress(job["name"], log)

        def report(row: Mapping[str, Any], total: int) -> None:
            progress.update(row["agent_steps"], total, "steps")

        def say(line: str) -> None:
            if share.first:
                progress.say(line)

        try:
            train(plan, out, partial, report if share.first else None, say, job["bench"], share)
        except RoyaleError as error:
            text = json.dumps({"exit_code": error.exit_code, "text": str(error)})
            write_text(partial / ENDED, text)
            if isinstance(error, Preempted):
                share.gather(None)  # all have written before torchrun sees one end
            sys.exit(error.exit_code)


if __name__ == "__main__":
    main(sys.argv[1])
