"""Alarms: conditions on metrics rows that say a run is going wrong while it still runs.

An alarm is on when its condition has held in the last `patience` rows that could be
judged. All is computed from the rows, so an interrupted segment that reads its rows
again says the same as one that was never interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psutil
import torch

from royale.learn.precision import ON_POLICY_TOLERANCE

MB = 2**20
Row = Mapping[str, Any]
# Whether the condition holds in the last of the rows; None where that row cannot tell.
Condition = Callable[[Sequence[Row]], bool | None]

WINDOW = 10  # rows with finished games that a trend of draws is read from
UPDATE_SECONDS = 0.5  # shorter updates are too short to call slow: a busy machine does that
VRAM_MB = 128.0
# Passes of ever other sizes leave their workspaces behind: 600 MB in 30 iterations, then no more.
RSS_MB = 1000.0
BENCH_SHARE = 0.5  # of the bench's speed; an arm may do twice the root's work, hardly more


@dataclass(frozen=True)
class Alarm:
    """One line of the table: what is looked at, for how long, and what it means."""

    name: str
    condition: str  # in words, as in docs/learner.md
    patience: int  # rows in succession
    severity: str  # `warn` goes on, `halt` stops the run (the learner itself raises)
    meaning: str
    holds: Condition
    cause: Callable[[Sequence[Row]], str] | None = None  # what the rows say besides


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _numbers(part)
    elif isinstance(value, float):
        yield value


def _nonfinite(rows: Sequence[Row]) -> bool:
    return not all(math.isfinite(x) for x in _numbers(rows[-1]))


def _last(name: str, holds: Callable[[float], bool]) -> Condition:
    """`holds` of a number of the last row; an iteration may not have had it to measure."""
    return lambda rows: None if rows[-1][name] is None else holds(rows[-1][name])


def _draws_rising(rows: Sequence[Row]) -> bool | None:
    shares = [row["draw_share"] for row in rows if row["draw_share"] is not None]
    if rows[-1]["draw_share"] is None or len(shares) < 2 * WINDOW:
        return None
    means = [sum(shares[i : i + WINDOW]) / WINDOW for i in range(len(shares) - WINDOW + 1)]
    return means[-1] >= min(means) + 0.1


def _draw_equilibrium(rows: Sequence[Row]) -> bool | None:
    draws, capped = rows[-1]["draw_share"], rows[-1]["truncated_share"]
    return None if draws is None else draws > 0.5 and capped >= 0.8 * draws


def _update_slow(rows: Sequence[Row]) -> bool:
    # A game where few rows have a choice trains on twice as many samples now and then.
    each = [row["timing"]["update"] / max(1, row["samples_trained"]) for row in rows]
    free = rows[-1]["health"]["vram_free_mb"]
    slow = each[-1] >= 2 * min(each) and rows[-1]["timing"]["update"] >= UPDATE_SECONDS
    return slow and (free is None or free < VRAM_MB)


def _memory_rising(rows: Sequence[Row]) -> bool:
    used = [row["health"]["rss_mb"] for row in rows]
    # The first iteration has not yet touched everything it will need.
    least = min(used[1:]) if len(used) > 1 else used[0]
    return used[-1] >= max(1.5 * least, least + RSS_MB)


# What a log-probability may be off by, in float32, before the run stops.
TOLERANCE = ON_POLICY_TOLERANCE["fp32"]


def ratio_alarm(tolerance: float = TOLERANCE) -> Alarm:
    """The alarm that says the run is near the tolerance (nats) at which it stops."""
    return Alarm(
        "ratio_invariant",
        "ratio_max_abs_dev > half of what stops the run",
        1,
        "warn",
        "what is trained on is not what was played, as with symmetry: stored_samples",
        _last("ratio_max_abs_dev", lambda nats: nats > tolerance / 2),
    )


def dead_alarm(warmup: int = 0) -> Alarm:
    """The alarm of a policy that stands still, once `warmup` iterations held it on purpose."""
    still = _last("kl", lambda nats: nats < 1e-5)
    return Alarm(
        "kl_dead",
        "kl < 1e-5 after the warm-up",
        10,
        "warn",
        "the policy does not move; the arm is not being trained",
        lambda rows: still(rows) if rows[-1]["iteration"] > warmup else None,
    )


PROCESSOR = "other programs share the processors, or there are fewer than threads.train"
DEVICE = "the device is shared, throttled, or not the one that was measured"
CAUSES = {"inference": DEVICE, "update": DEVICE, "checkpoint": "the disk of results is slow"}


def bench_alarm(bench: Mapping[str, Any] | None = None) -> Alarm:
    """The alarm of a run far below what `bench` (a ladder of a bench file) measured here."""

    def holds(rows: Sequence[Row]) -> bool | None:
        if bench is None:
            return None
        return rows[-1]["steps_per_second"] < BENCH_SHARE * bench["steps_per_second"]

    def cause(rows: Sequence[Row]) -> str:
        now, then = rows[-1]["timing"], bench["timing"]
        part = max(then, key=lambda name: now.get(name, 0.0) - then[name])
        return (
            f"{rows[-1]['steps_per_second']:,.0f} steps/s instead of "
            f"{bench['steps_per_second']:,.0f}, {part} takes {now.get(part, 0.0):.3g} s instead of "
            f"{then[part]:.3g} s: likely {CAUSES.get(part, PROCESSOR)}"
        )

    return Alarm(
        "slower_than_bench",
        f"steps_per_second < {BENCH_SHARE:g} of the bench file's, where there is one",
        5,
        "warn",
        "the run takes and costs more than was foreseen; the log has the likely cause",
        holds,
        cause,
    )


TABLE = (
    Alarm(
        "nonfinite",
        "a number of the row is not finite",
        1,
        "halt",
        "the numbers blew up; lower learning_rate or max_grad_norm",
        _nonfinite,
    ),
    ratio_alarm(),
    Alarm(
        "kl_high",
        "kl > 0.05",
        3,
        "warn",
        "each update moves the policy too far; lower learning_rate or epochs",
        _last("kl", lambda nats: nats > 0.05),
    ),
    dead_alarm(),
    Alarm(
        "clip_pinned",
        "clip_fraction > 0.5",
        3,
        "warn",
        "most samples are clipped and teach nothing; lower learning_rate or epochs",
        _last("clip_fraction", lambda share: share > 0.5),
    ),
    Alarm(
        "entropy_collapse",
        "entropy < 0.02",
        5,
        "warn",
        "the policy has all but stopped trying anything; raise entropy_floor",
        _last("entropy", lambda share: share < 0.02),
    ),
    Alarm(
        "explained_variance_negative",
        "explained_variance < 0",
        50,
        "warn",
        "the value head predicts worse than a constant",
        _last("explained_variance", lambda share: share < 0),
    ),
    Alarm(
        "draws_rising",
        f"draw_share, mean of {WINDOW} rows, is 0.1 above its lowest",
        5,
        "warn",
        "it gets better at not losing and worse at winning, which self-play cannot see; "
        "look at watch/",
        _draws_rising,
    ),
    Alarm(
        "draw_equilibrium",
        "draw_share > 0.5, and 0.8 of the draws at the turn cap",
        5,
        "warn",
        "most games are not finished; set draw_reward, or raise max_turns",
        _draw_equilibrium,
    ),
    Alarm(
        "update_slow",
        f"timing.update a sample at least twice its best, and {UPDATE_SECONDS} s in all; "
        f"on a GPU, with vram_free_mb < {VRAM_MB:g}",
        3,
        "warn",
        "the machine is busy with other work, or GPU memory spills; lower minibatch or envs",
        _update_slow,
    ),
    Alarm(
        "memory_rising",
        f"rss_mb 1.5 times its lowest and {RSS_MB:g} MB above it",
        3,
        "warn",
        "memory leaks; the run will be killed",
        _memory_rising,
    ),
    bench_alarm(),
)


class Alarms:
    """The alarms of a run, from its rows.

    past: earlier rows, oldest first, which are judged without a word. tolerance: of
    log-probabilities, nats, at which this run stops. bench: see `bench_alarm`. warmup: the
    recipe's.
    """

    def __init__(
        self,
        past: Iterable[Row] = (),
        tolerance: float = TOLERANCE,
        table: Sequence[Alarm] = TABLE,
        bench: Mapping[str, Any] | None = None,
        warmup: int = 0,
    ) -> None:
        made = ratio_alarm(tolerance), bench_alarm(bench), dead_alarm(warmup)
        own = {alarm.name: alarm for alarm in made}
        self._table = table = [own.get(alarm.name, alarm) for alarm in table]
        self._rows: list[Row] = []
        self._streak = dict.fromkeys((alarm.name for alarm in table), 0)
        self.on: list[str] = []
        for row in past:
            self.observe(row)

    def observe(self, row: Row) -> list[str]:
        """Judge the next row: a plain line for each alarm that begins or ends with it.

        Afterwards `on` has the names of the alarms that are on, in the table's order.
        """
        self._rows.append(row)
        before, lines = self.on, []
        for alarm in self._table:
            holds = alarm.holds(self._rows)
            if holds is not None:
                self._streak[alarm.name] = self._streak[alarm.name] + 1 if holds else 0
        self.on = [a.name for a in self._table if self._streak[a.name] >= a.patience]
        for alarm in self._table:
            if alarm.name in self.on and alarm.name not in before:
                lines.append(
                    f"alarm {alarm.name} begins at iteration {row['iteration']}: "
                    f"{alarm.condition}, {alarm.patience} in succession: {alarm.meaning}"
                    + (f" ({alarm.cause(self._rows)})" if alarm.cause else "")
                )
            if alarm.name in before and alarm.name not in self.on:
                lines.append(f"alarm {alarm.name} ends at iteration {row['iteration']}")
        return lines


def health(device: str) -> dict[str, float | None]:
    """rss_mb: this process's resident memory; vram_free_mb: the GPU's free memory, or None."""
    free = torch.cuda.mem_get_info(device)[0] / MB if torch.device(device).type == "cuda" else None
    return {"rss_mb": psutil.Process().memory_info().rss / MB, "vram_free_mb": free}
