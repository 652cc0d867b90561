"""What the ladder file holds, as types; see `records.py`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from royale.evidence.records import Counts, Mode, SegmentEnd, TestVerdict

GateLabel = Literal["strong", "moderate", "tie", "rejected"]
Label = Literal[GateLabel, TestVerdict]
Promoted = Literal["treatment", "control", "parent", "root"]
Rule = Literal["direct", "only_arm_over_parent", "tie_break", "carried_forward", "root"]


class Gate(TypedDict):
    """The thresholds in `files/ladder.schema.yaml`."""

    bar: float
    strong: float
    tie_break: str
    mode: Mode


class GateRecord(Counts):
    """Counts by the gate: what every `MatchSummary` of `files/ladder.schema.yaml` has."""

    margin: float
    bar: float
    clears: bool


class MatchSummary(GateRecord):
    """Matches by the gate, in `files/ladder.schema.yaml`."""

    llr: NotRequired[float]
    games_saved: NotRequired[int]
    evidence: NotRequired[Label]


class EffectRecord(TypedDict):
    """The effect of a change in `files/ladder.schema.yaml`."""

    seeds: int
    unit: Literal["seeds", "games"]
    score: float
    score_low: float
    score_high: float
    elo: float
    elo_low: float
    elo_high: float
    p: float
    p_holm: NotRequired[float]
    tried: NotRequired[int]
    evidence: Label
    note: str


class EqualTime(TypedDict):
    """The comparison at equal wall clock in `files/ladder.schema.yaml`."""

    direct: MatchSummary
    effect: EffectRecord
    compared: dict[str, dict[str, SegmentEnd]]


class PromotionRecord(TypedDict):
    """What was promoted and why, in `files/ladder.schema.yaml`."""

    promoted: Promoted
    rule: Rule
    why: str


class Champion(TypedDict):
    """The champion in `files/ladder.schema.yaml`."""

    player: str
    sha256: str


class TrainedArm(TypedDict):
    """An arm as it was trained, the larger part of `ArmRecord`: `files/ladder.schema.yaml`."""

    changes: dict[str, Any]
    recipe: dict[str, Any]
    steps: int
    seconds: float
    checkpoints: dict[str, str]


class ArmRecord(TrainedArm):
    """An arm in `files/ladder.schema.yaml`."""

    steps_per_second: float


class ArmSpeed(TypedDict):
    """An arm of the lineage in `files/ladder.schema.yaml`."""

    steps: int
    seconds: float
    steps_per_second: float


class LineageEntry(TypedDict):
    """A generation of the lineage in `files/ladder.schema.yaml`."""

    generation: str
    question: str
    seeds: int
    direct: MatchSummary | None
    effect: EffectRecord | None
    wall_clock: EqualTime | None
    sanity: dict[str, dict[str, MatchSummary]]
    promotion: PromotionRecord
    arms: dict[str, ArmSpeed]


class AboutGeneration(TypedDict):
    """What is known of a generation before its matches, in `files/ladder.schema.yaml`."""

    generation: str
    ladder: str
    game: str
    profile: str
    note: str
    scale: dict[str, float]
    question: str
    parent: str | None
    seeds: list[int]


class Judged(AboutGeneration):
    """What `generation.judge` says, all of `files/ladder.schema.yaml` but the champion."""

    gate: Gate
    direct: MatchSummary | None
    direct_by_seed: dict[str, MatchSummary]
    effect: EffectRecord | None
    wall_clock: EqualTime | None
    sanity: dict[str, dict[str, MatchSummary]]
    arms: dict[str, ArmRecord]
    promotion: PromotionRecord
    recipe: dict[str, Any]
    lineage: list[LineageEntry]


class LadderFile(Judged):
    """A whole `files/ladder.schema.yaml`."""

    champion: Champion
