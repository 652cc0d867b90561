"""What the files of costs hold, and those of other rooms that the report reads, as types.

They name their schemas as the types of `royale.evidence.records` do, and the same test holds
them together.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Rental(TypedDict):
    """A whole `rentals.schema.yaml`."""

    date: str
    host: str
    profile: str
    hours: float
    asked_per_hour: float
    billed: float
    minutes_to_first_step: float | None
    success: Literal["yes", "no"]
    failure: str


class Job(TypedDict):
    """A row of results/costs/{generation}.csv: a finished job. Seconds, MB, money."""

    rule: str
    job: str
    generation: str | None
    arm: str | None
    wall_s: float
    charged_s: float
    cpu_s: float | None
    max_rss_mb: float | None
    mean_load_percent: float | None
    agent_steps: int | None
    money: float
    steps_per_money: int | None


class JobsTotal(TypedDict):
    """Some jobs together, in `files/costs.schema.yaml`."""

    jobs: int
    hours: float
    cpu_hours: float
    max_rss_mb: float | None
    money: float


class RuleCosts(JobsTotal):
    """A rule's jobs in `files/costs.schema.yaml`."""

    rule: str


class ArmTotal(JobsTotal):
    """An arm's jobs together, in `files/costs.schema.yaml`."""

    agent_steps: int
    steps_per_money: float | None


class ArmCosts(ArmTotal):
    """An arm's jobs in `files/costs.schema.yaml`."""

    generation: str
    arm: str


class RentalCosts(TypedDict):
    """The rented machines in `files/costs.schema.yaml`."""

    count: int
    hours: float
    asked: float
    billed: float
    failed: int
    failed_billed: float
    minutes_to_first_step: float | None


class Costs(TypedDict):
    """What `costs.summary` says, the larger part of `files/costs.schema.yaml`."""

    profile: str
    price_per_hour: float
    currency: str
    hours: float
    money: float
    rules: list[RuleCosts]
    arms: list[ArmCosts]
    rentals: RentalCosts


class CostsFile(Costs):
    """A whole `files/costs.schema.yaml`."""

    generation: str


class ArmBench(TypedDict):
    """An arm's training in `files/bench_arms.schema.yaml`."""

    iterations: int
    steps_an_iteration: int
    first_iteration_seconds: float
    iteration_seconds: float
    steps_per_second: float
    steps_per_second_range: list[float]
    timing: dict[str, float]
    slowest: str


class ArmsBenchFile(TypedDict):
    """A whole `files/bench_arms.schema.yaml`."""

    generation: str
    profile: str
    threads: int
    device: str
    arms: dict[str, ArmBench]


# `global` is no name for an attribute
ActionShape = TypedDict("ActionShape", {"planes": int, "global": int, "flat": int})


class OptimizerIdentity(TypedDict):
    """An optimizer in `files/identity.schema.yaml`."""

    parameters: int
    names: list[str]


class Commit(TypedDict):
    """The checkout in `files/identity.schema.yaml`."""

    commit: str
    dirty: bool


class Machine(TypedDict):
    """What a part of a segment was trained on, in `files/identity.schema.yaml`."""

    versions: dict[str, str]
    cpu_capability: str


class CodeIdentity(TypedDict):
    """What decides the bytes besides the plan, in `files/identity.schema.yaml`."""

    digest: str
    source: dict[str, str]
    versions: dict[str, str]
    cpu_capability: str
    begun: NotRequired[list[Machine]]


class IdentityFile(TypedDict):
    """A whole `files/identity.schema.yaml`."""

    game: str
    network: str
    parameters: int
    layout_fingerprint: str
    average_layout_fingerprint: str
    channels: int
    blocks: int
    planes: int
    encoder: str
    board: list[int]
    action_shape: ActionShape
    value_head: str
    recurrent_state_shape: None
    optimizers: dict[str, OptimizerIdentity]
    envs: int
    processes: NotRequired[int]
    horizon: int
    device: str
    dtype: str
    threads: int
    recipe: dict[str, Any]
    config_sha256: str
    versions: dict[str, str]
    code: NotRequired[CodeIdentity]
    engine: NotRequired[dict[str, str] | None]
    git: Commit | None
