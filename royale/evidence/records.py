"""What the files of evidence hold, as types: matches and what is made of them but the ladder.

Each type names its schema in `workflow/schemas/`, which says what every key means and is
what files are checked against; a test holds the two together. Records are plain dicts. The
ladder file has its types in `ladder_records.py`.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Policy = Literal["sample", "greedy"]
Mode = Literal["fixed", "sprt"]
TestVerdict = Literal["better", "not_better", "undecided"]
Sooner = Literal["treatment", "control", "tie", "open"]


class Counts(TypedDict):
    """Games won, lost and drawn, from the first player's view; many records begin with them."""

    win: int
    loss: int
    draw: int


class PlayerRecord(TypedDict):
    """A player in `files/match.schema.yaml`."""

    kind: Literal["network", "scripted", "external"]
    sha256: str | None
    command: str | list[Any] | None
    faults: dict[str, Any] | None


class MatchPlayers(TypedDict):
    """Both players in `files/match.schema.yaml`."""

    a: PlayerRecord
    b: PlayerRecord


class GameRecord(TypedDict):
    """A game in `files/match.schema.yaml`."""

    game: int
    seed: int
    seats: list[Literal[0, 1]]
    turns: int
    winner: Literal[0, 1] | None
    truncated: bool


class SequentialTest(TypedDict):
    """What a sequential test said, in `files/match.schema.yaml`."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    batch: int
    lower: float
    upper: float
    llr: float
    verdict: TestVerdict
    games_most: int
    games_saved: int


# W, L and D of the first player when it sat in seat 0 and in seat 1, in `files/match.schema.yaml`
BySeat = TypedDict("BySeat", {"0": list[int], "1": list[int]})


class MatchFile(Counts):
    """A whole `files/match.schema.yaml`."""

    a: str
    b: str
    game: str
    settings: dict[str, Any]
    policy: Policy
    mode: Mode
    sequential: SequentialTest | None
    key: int
    players: MatchPlayers
    pairs: list[int]
    by_seat: BySeat
    turns_mean: float
    seconds: float
    games: list[GameRecord]


class PairRecord(Counts):
    """The games of two scripted players, in `files/round_robin.schema.yaml`."""

    a: str
    b: str
    margin: float


class RoundRobinFile(TypedDict):
    """A whole `files/round_robin.schema.yaml`."""

    game: str
    settings: dict[str, Any]
    games: int
    pairs: list[PairRecord]


class Rating(TypedDict):
    """A player's rating in `files/panel.schema.yaml`."""

    name: str
    also: list[str]
    elo: float
    elo_low: float
    elo_high: float
    games: int


class PanelMatch(PairRecord):
    """The games of a pair in `files/panel.schema.yaml`."""

    bar: float
    clears: bool
    score: float


class PanelRatings(TypedDict):
    """What `panel.rate` says, the larger part of `files/panel.schema.yaml`."""

    anchor: str
    bar: float
    ratings: list[Rating]
    matches: list[PanelMatch]
    transitive: bool
    cycles: list[list[str]]
    triples_by_chance: float
    unexplained_share: float | None


class PanelFile(PanelRatings):
    """A whole `files/panel.schema.yaml`."""

    generation: str
    game: str
    profile: str
    champions: list[str]


class WatchRecord(Counts):
    """The games against a rival in `files/watch.schema.yaml`."""

    games: int
    win_share: float
    draw_share: float
    truncated_share: float
    turns_mean: float
    own: dict[str, float]
    rival: dict[str, float]


class WatchFile(TypedDict):
    """A whole `files/watch.schema.yaml`."""

    generation: str
    arm: str
    seed: int
    segment: int
    agent_steps: int
    checkpoint_sha256: str
    game: str
    settings: dict[str, Any]
    policy: Policy
    rivals: dict[str, WatchRecord]


class RivalPoint(Counts):
    """The games against a rival after a segment, in `files/bench_learning.schema.yaml`."""

    decided_share: float
    win_share: float
    won_of_decisive: float | None


class CurvePoint(TypedDict):
    """The end of a segment in `files/bench_learning.schema.yaml`."""

    segment: int
    agent_steps: int
    seconds: float
    rivals: dict[str, RivalPoint]


class BarRecord(TypedDict):
    """What a root was to reach, in `files/bench_learning.schema.yaml`."""

    bar: float
    reached: float | None
    met: bool


class LearningRecord(TypedDict):
    """A ladder's root in `files/bench_learning.schema.yaml`."""

    generation: str
    seeds: list[int]
    curve: list[CurvePoint]
    bars: dict[str, BarRecord]


class LearningFile(TypedDict):
    """A whole `files/bench_learning.schema.yaml`."""

    profile: str
    ladders: dict[str, LearningRecord]


class EstimateRecord(TypedDict):
    """A number with its interval in `files/target.schema.yaml`."""

    value: float | None
    low: float
    high: float | None


class CheckpointRecord(Counts):
    """The games of a checkpoint against the reference, in `files/target.schema.yaml`."""

    steps: int
    margin: float
    clears: bool


class TargetArm(TypedDict):
    """An arm in `files/target.schema.yaml`."""

    checkpoints: list[CheckpointRecord]
    steps: EstimateRecord
    steps_per_second: EstimateRecord
    seconds: EstimateRecord
    seeds_reached: int


class TargetArms(TypedDict):
    """Both arms in `files/target.schema.yaml`."""

    treatment: TargetArm
    control: TargetArm


class TimeToTarget(TypedDict):
    """What `target.measure` says, the larger part of `files/target.schema.yaml`."""

    reference: str
    arms: TargetArms
    a: EstimateRecord
    b: EstimateRecord
    time_ratio: EstimateRecord
    sooner: Sooner


class TargetFile(TimeToTarget):
    """A whole `files/target.schema.yaml`."""

    generation: str
    profile: str
    question: str
    bar: float


class SegmentEnd(TypedDict):
    """The end of an arm's segment, in `files/ladder.schema.yaml`."""

    segment: int
    steps: int
    seconds: float


class ComparedEnd(SegmentEnd):
    """The end whose weights were kept, in `files/wall_clock.schema.yaml`."""

    sha256: str


class WallClockFile(TypedDict):
    """A whole `files/wall_clock.schema.yaml`."""

    generation: str
    seed: int
    arms: dict[str, ComparedEnd]
