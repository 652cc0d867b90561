"""Training one segment, however often it is killed on the way."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import torch

from royale.errors import Preempted, RoyaleError
from royale.files import read_rows, write_bytes
from royale.learn import checkpoint, determinism
from royale.learn.alarms import Alarms, health
from royale.learn.code import begun_by, changes, code_of, machine_changes, source_changes
from royale.learn.identity import asked_identity, assert_identity, live_identity
from royale.learn.parallel import ALONE, Share
from royale.learn.plan import SegmentPlan
from royale.learn.preemption import StopRequest, stop_request
from royale.learn.timing import Clock
from royale.learn.trainer import Trainer

CHECKPOINT = "checkpoint.safetensors"
METRICS = "metrics.jsonl"
IDENTITY = "identity.json"


def _stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def locked(folder: Path, say: Callable[[str], None] = _stderr) -> Iterator[None]:
    """Hold folder/lock, which the kernel frees whatever becomes of the process."""
    path = folder / "lock"
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = open(path, "w")  # noqa: SIM115
        except FileNotFoundError:  # the holder removed the folder in between
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{folder}: another process is at this segment; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        # The holder before may have removed the folder, and this lock with it.
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            break
        file.close()
    try:
        yield
    finally:
        file.close()


def settle(plan: SegmentPlan) -> None:
    """Give this process the plan's threads, rounding and determinism."""
    # numba first: starting its OpenMP pool resets torch's number of threads.
    numba.set_num_threads(min(plan.threads, numba.config.NUMBA_NUM_THREADS))
    torch.set_num_threads(plan.threads)
    torch.set_flush_denormal(True)
    determinism.settle(plan.determinism, plan.device)


def run_segment(
    plan: SegmentPlan,
    out: Path,
    partial: Path,
    report: Callable[[dict[str, Any], int], None] | None = None,
    say: Callable[[str], None] = _stderr,
    kept: Path | None = None,
    bench: Mapping[str, Any] | None = None,
    start_processes: Callable[[SegmentPlan, Path, Path], None] | None = None,
) -> None:
    """Train the plan's segment into out/: identity.json, metrics.jsonl, checkpoint.safetensors.

    partial/ holds unfinished work and is removed at the end; a killed segment that is
    run again continues from it, and its checkpoint comes out bit-identical (on a CPU). It
    starts anew if the source has changed; other versions or another CPU are told.
    report(row, total) is called after each iteration with its row of metrics and the
    arm's agent steps at the end of this segment; say(line) tells what else matters.
    kept/, where given, holds on to the finished files (as hard links): a segment that is
    asked for again with the same plan and the same bytes to start from, after a decision
    before it was made anew, is not trained twice. Where the code that trains, or what it runs
    on, is another (see `code`), what is finished is not used, and a line tells why.
    bench, where given, is what this machine did when it was measured (`steps_per_second`
    and `timing` of a bench file's ladder); a run much slower than that is told.
    start_processes(plan, out, partial) trains a plan of several processes, which then
    report, say and read the bench themselves; see `processes`.
    Errors: IdentityError before training; TrainingError when training has gone bad
    (the last good partial work stays); LayoutError or FileError of the start file;
    Preempted after SIGTERM or SIGUSR1, once the iteration at hand is done and saved.
    """
    out, partial = Path(out), Path(partial)
    with locked(partial, say):
        if _finished(plan, out, say):
            say(f"{out}: this segment is finished already")
        elif kept is not None and _finished(plan, kept, say):
            say(f"{kept}: this very segment was trained before, and is used again")
            _link(kept, out)
        elif plan.processes > 1:
            start_processes(plan, out, partial)
        else:
            train(plan, out, partial, report, say, bench)
        if kept is not None:
            _link(out, kept)
        shutil.rmtree(partial, ignore_errors=True)


def _finished(plan: SegmentPlan, out: Path, say: Callable[[str], None]) -> bool:
    """Whether `out` has the finished segment of this very plan, trained by this very code."""
    try:
        meta = checkpoint.load(out / CHECKPOINT)[1]
        # a kept file is the same file as the one someone may have cut off
        rows = read_rows(out / METRICS)
    except (FileNotFoundError, RoyaleError):
        return False
    there = (out / IDENTITY).exists() and len(rows) == plan.iterations
    if not there or meta.get("plan") != plan.fingerprint():
        return False
    why = changes(meta.get("code"), code_of(plan.game))
    if why:
        say(f"{out}: not used again: {why}")
    return not why


def _link(source: Path, target: Path) -> None:
    """Give a finished segment's files a second name, the checkpoint last."""
    target.mkdir(parents=True, exist_ok=True)
    for name in (IDENTITY, METRICS, CHECKPOINT):
        temporary = target / f".{name}.tmp"
        temporary.unlink(missing_ok=True)
        try:
            os.link(source / name, temporary)
        except OSError:  # a file system without hard links
            shutil.copyfile(source / name, temporary)
        os.utime(temporary)  # as new as what Snakemake made it from
        # rename does nothing between two names of one file
        (target / name).unlink(missing_ok=True)
        os.replace(temporary, target / name)


def train(
    plan: SegmentPlan,
    out: Path,
    partial: Path,
    report: Callable[[dict[str, Any], int], None] | None,
    say: Callable[[str], None],
    bench: Mapping[str, Any] | None,
    share: Share = ALONE,
) -> None:
    """Train in this process, which is one of several where `share` says so; see `run_segment`."""
    settle(plan)
    trainer, identity = _begin(plan, partial, say, share)
    warnings = trainer.recipe.negative_controls()
    if trainer.recipe.symmetry != "none" and trainer.spec.symmetry_note:
        warnings.append(f"symmetry: {trainer.recipe.symmetry}: {trainer.spec.symmetry_note}")
    for line in warnings:
        say(f"warning: {line}")
    with stop_request() as stop:
        _iterate(trainer, partial, report, say, stop, bench)
        state = trainer.state()
        if share.first:
            out.mkdir(parents=True, exist_ok=True)
            text = json.dumps(identity, indent=2) + "\n"
            write_bytes(out / IDENTITY, text.encode())
            write_bytes(out / METRICS, (partial / METRICS).read_bytes())
            checkpoint.save(out / CHECKPOINT, *state)


def _iterate(
    trainer: Trainer,
    partial: Path,
    report: Callable[[dict[str, Any], int], None] | None,
    say: Callable[[str], None],
    stop: StopRequest,
    bench: Mapping[str, Any] | None,
) -> None:
    """The segment's iterations, saved in partial/ now and then, and at once when asked to stop."""
    plan, share = trainer.plan, trainer.share
    end = trainer.first_iteration + plan.iterations
    total = end * plan.steps_per_iteration
    saved, clock = time.monotonic(), Clock(("checkpoint",))
    with open(partial / METRICS if share.first else os.devnull, "a") as metrics:
        before = _rows_before(plan, trainer.first_iteration, partial) if share.first else []
        tolerance, warmup = trainer.updater.precision.tolerance, trainer.recipe.warmup
        alarms = Alarms(before, tolerance, bench=bench, warmup=warmup)
        while trainer.iteration < end:
            row = trainer.iterate()
            # The save lies after the row it belongs to, so its time is the next row's.
            row["timing"] |= clock.seconds
            clock.reset()
            row["seconds"] += row["timing"]["checkpoint"]
            row["steps_per_second"] = plan.steps_per_iteration / row["seconds"]
            row["health"] = health(plan.device)
            for line in alarms.observe(row):
                say(line)
            row["alarms"] = alarms.on
            metrics.write(json.dumps(row) + "\n")
            metrics.flush()
            if report is not None:
                report(row, total)
            if trainer.iteration == end:
                break
            done, every = trainer.iteration - trainer.first_iteration, plan.checkpoint_iterations
            # asked once: a signal that comes after this is the next iteration's
            votes = share.gather((stop.reason, time.monotonic() - saved >= plan.checkpoint_seconds))
            asked = next((reason for reason, _ in votes if reason), None)
            due = any(due for _, due in votes)
            if asked or due or (every and done % every == 0):
                with clock("checkpoint"):
                    state = trainer.state()
                    if share.first:
                        os.fsync(metrics.fileno())
                        checkpoint.save(partial / CHECKPOINT, *state)
                saved = time.monotonic()
            if asked:
                raise Preempted(
                    f"{asked}: stopped after iteration {trainer.iteration} of {end}, "
                    f"which is saved in {partial}; the same command goes on from there"
                )


def _begin(
    plan: SegmentPlan, partial: Path, say: Callable[[str], None], share: Share
) -> tuple[Trainer, dict[str, Any]]:
    """A trainer of the partial work if it is this plan's and whole, else a new one."""
    trainer = Trainer(plan, share)
    identity = live_identity(trainer)
    assert_identity(asked_identity(plan), identity)
    path = partial / CHECKPOINT
    if path.exists():
        fault = None
        try:
            arrays, meta = checkpoint.load(path)
            if meta.get("plan") != plan.fingerprint():
                raise ValueError("it is another plan's")
            then = meta.get("code")
            why = source_changes(then, trainer.code)
            if why:  # half a segment of one learner and half of another is a run of neither
                raise ValueError(why)
            trainer.load_state(arrays, meta, path)
            if share.first:
                _cut_metrics(partial / METRICS, meta["first_iteration"], meta["iteration"])
        except (ValueError, KeyError, OSError) as error:
            fault = error
        if not any(share.gather(fault is not None)):
            say(f"{partial}: continuing after iteration {trainer.iteration}")
            why = machine_changes(then, trainer.code)
            if why:
                say(f"{partial}: begun on another machine, so no single one gives its bytes: {why}")
                trainer.code = identity["code"] = begun_by(then, trainer.code)
            return trainer, identity
        say(f"{partial}: partial work not usable, starting the segment anew: {fault}")
        trainer = Trainer(plan, share)  # the failed load may have changed the first one
    if share.first:
        path.unlink(missing_ok=True)
        (partial / METRICS).unlink(missing_ok=True)
    trainer.start()
    return trainer, identity


def _rows_before(plan: SegmentPlan, first: int, partial: Path) -> list[dict[str, Any]]:
    """The rows that alarms look back on: the segment before, and this one's up to now."""
    rows = _rows(partial / METRICS)
    if plan.start == "checkpoint":
        # The segment before's lie beside its checkpoint, unless someone moved that alone.
        before = Path(plan.start_file).with_name(METRICS)
        earlier = _rows(before) if before.exists() else []
        if earlier and earlier[-1]["iteration"] == first:
            return earlier + rows
    return rows


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = read_rows(path, empty=True)
    return [row for row in rows if "health" in row]  # earlier versions wrote none


def _cut_metrics(path: Path, first: int, last: int) -> None:
    """Drop rows after iteration `last`; ValueError unless all from `first` are there."""
    lines = path.read_text().splitlines(keepends=True)[: last - first]
    if [json.loads(line)["iteration"] for line in lines] != list(range(first + 1, last + 1)):
        raise ValueError("its metrics have gaps")
    write_bytes(path, "".join(lines).encode())
