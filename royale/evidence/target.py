"""Time to target: T = N / R, what a change costs or saves in wall clock.

N is the agent steps an arm trains until it beats a fixed reference by the gate, R its
agent steps a second. With a = N_treatment / N_control and b = R_treatment / R_control,

    T_treatment / T_control = a / b,

so the treatment reaches the target sooner if and only if a < b: a change that halves the
speed must also halve the steps. `a = b` is the diagonal of the break-even plane.

N is seen only at checkpoints: it lies in a bracket, above the checkpoint before and at
most the one where the target was seen (interval-censored), or above the last checkpoint
if it was not reached (right-censored). R's interval is by batch means of the iterations,
since neighbouring iterations are alike; it shows the spread within a run, not what else
may have kept the machine busy beside one arm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from royale.evidence.gate import Record, clears, margin
from royale.evidence.names import ARMS
from royale.evidence.records import EstimateRecord, Sooner, TargetArm, TimeToTarget

BATCHES = 10  # of consecutive iterations, for the spread of the speed
CONFIDENCE = 0.95
TIE = 0.02  # times that differ by less than this share are a tie, however narrow the intervals


@dataclass(frozen=True)
class Estimate:
    """A positive number with its interval; value None if not measured, high inf if unbounded."""

    value: float | None
    low: float
    high: float

    def to_dict(self) -> EstimateRecord:
        """As it is written to files: five digits, null for what is unbounded or not measured."""
        return {
            "value": None if self.value is None else _digits(self.value),
            "low": _digits(self.low),
            "high": None if math.isinf(self.high) else _digits(self.high),
        }


@dataclass(frozen=True)
class Speed:
    """Agent steps a second: the whole run's, and the standard error of its logarithm."""

    value: float
    error: float  # inf with fewer than two batches
    freedom: int  # degrees of freedom of `error`

    @property
    def estimate(self) -> Estimate:
        """With its 95 % interval."""
        return _log_interval(self.value, self.error, self.freedom)


def steps_to_target(steps: Sequence[int], records: Sequence[Record], bar: float) -> Estimate:
    """N from an arm's checkpoints: agent steps at each, and its record against the reference.

    The target is reached at the first checkpoint from which on every record clears the
    gate; so an arm that is no better is called there no more often than at its last
    checkpoint alone, however many there are. ValueError without a checkpoint.
    """
    if not steps or len(steps) != len(records):
        raise ValueError(f"{len(steps)} checkpoints with {len(records)} records")
    first = len(steps)
    while first and clears(records[first - 1], bar):
        first -= 1
    if first == len(steps):
        return Estimate(None, steps[-1], math.inf)
    return Estimate(steps[first], steps[first - 1] if first else 0, steps[first])


def speed(iterations: Sequence[tuple[int, float]]) -> Speed:
    """R from an arm's iterations (agent steps, seconds), in the order they ran."""
    counts = np.array(iterations, float)
    total = counts.sum(0)
    batches = np.array_split(counts, min(BATCHES, len(counts)))
    if len(batches) < 2:
        return Speed(total[0] / total[1], math.inf, 1)
    logs = np.log([batch[:, 0].sum() / batch[:, 1].sum() for batch in batches])
    error = logs.std(ddof=1) / math.sqrt(len(logs))
    return Speed(total[0] / total[1], float(error), len(logs) - 1)


def steps_ratio(treatment: Estimate, control: Estimate) -> Estimate:
    """a = N_treatment / N_control, from 0 to without limit if neither arm reached the target."""
    reached = treatment.value is not None and control.value is not None
    low = 0.0 if math.isinf(control.high) else treatment.low / control.high
    high = treatment.high / control.low if control.low else math.inf
    return Estimate(treatment.value / control.value if reached else None, low, high)


def speed_ratio(treatment: Speed, control: Speed) -> Estimate:
    """b = R_treatment / R_control; Welch's interval of the difference of logarithms."""
    squares = treatment.error**2, control.error**2
    error = math.sqrt(sum(squares))
    parts = [s**2 / arm.freedom for s, arm in zip(squares, (treatment, control), strict=True)]
    freedom = sum(squares) ** 2 / sum(parts) if 0 < error < math.inf else 1
    return _log_interval(treatment.value / control.value, error, freedom)


def over(top: Estimate, bottom: Estimate) -> Estimate:
    """The ratio of two estimates, with the widest interval both allow."""
    both = top.value is not None and bottom.value is not None
    low = 0.0 if math.isinf(bottom.high) else top.low / bottom.high
    high = top.high / bottom.low if bottom.low else math.inf
    return Estimate(top.value / bottom.value if both else None, low, high)


def verdict(a: Estimate, b: Estimate) -> Sooner:
    """Which arm is there sooner: `treatment`, `control`, `tie`, or `open` (cannot be told).

    A tie if the point is on the diagonal within `TIE`; an arm's only if the whole
    rectangle of the two intervals lies on its side of the diagonal.
    """
    if a.value is not None and b.value is not None and abs(math.log(a.value / b.value)) <= TIE:
        return "tie"
    if a.high < b.low:
        return "treatment"
    return "control" if a.low > b.high else "open"


def measure(
    reference: str,
    bar: float,
    checkpoints: Mapping[str, Sequence[tuple[int, Sequence[Record]]]],
    iterations: Mapping[str, Sequence[tuple[int, float]]],
) -> TimeToTarget:
    """Time to target of the two arms of a generation, as the target file has it.

    checkpoints: arm -> (agent steps a seed, the record of each seed), in order.
    iterations: arm -> (agent steps, seconds) of all its iterations, seed after seed.
    The pooled records of all seeds give N; its bracket also holds every seed's own.
    """
    steps: dict[str, Estimate] = {}
    speeds: dict[str, Speed] = {}
    arms: dict[str, TargetArm] = {}
    for arm, points in checkpoints.items():
        at = [point[0] for point in points]
        by_seed = [
            steps_to_target(at, list(records), bar)
            for records in zip(*(point[1] for point in points), strict=True)
        ]
        pooled = [sum(records, Record(0, 0, 0)) for _, records in points]
        whole = steps_to_target(at, pooled, bar)
        steps[arm] = Estimate(
            whole.value,
            min(one.low for one in [whole, *by_seed]),
            max(one.high for one in [whole, *by_seed]),
        )
        speeds[arm] = speed(iterations[arm])
        arms[arm] = {
            "checkpoints": [
                {
                    "steps": count,
                    **vars(record),
                    "margin": round(margin(record), 4),
                    "clears": clears(record, bar),
                }
                for count, record in zip(at, pooled, strict=True)
            ],
            "steps": steps[arm].to_dict(),
            "steps_per_second": speeds[arm].estimate.to_dict(),
            "seconds": over(steps[arm], speeds[arm].estimate).to_dict(),
            "seeds_reached": sum(one.value is not None for one in by_seed),
        }
    a = steps_ratio(*(steps[arm] for arm in ARMS))
    b = speed_ratio(*(speeds[arm] for arm in ARMS))
    return {
        "reference": reference,
        "arms": arms,
        "a": a.to_dict(),
        "b": b.to_dict(),
        "time_ratio": over(a, b).to_dict(),
        "sooner": verdict(a, b),
    }


def _log_interval(value: float, error: float, freedom: float) -> Estimate:
    if math.isinf(error):
        return Estimate(value, 0.0, math.inf)
    factor = math.exp(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * error)
    return Estimate(value, value / factor, value * factor)


def _digits(value: float) -> float:
    """Counts whole, other numbers with five digits."""
    return round(value) if value >= 1e5 else float(f"{value:.5g}")
