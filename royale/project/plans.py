"""Plans of segments, from what the project says of a ladder's root or of an arm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from royale.files import expect_sha256
from royale.learn.plan import SegmentPlan
from royale.project.ladder import scaled


def segment_plan(
    described: Mapping[str, Any], generation: str, arm: str, **more: Any
) -> SegmentPlan:
    """The plan of a segment of what is trained, the first of seed 0 unless `more` says otherwise.

    described: game, recipe (whole, paper scale), settings, train and scale, as `Project.roots`
    has them. more: fields of `SegmentPlan`. ConfigError where the recipe does not scale.
    """
    train = described["train"]
    whole = {
        "game": described["game"],
        "settings": dict(described["settings"]),
        "recipe": scaled(described["recipe"], described["scale"]).to_dict(),
        "envs": train["envs"],
        "horizon": train["horizon"],
        "steps": train["segment_steps"],
        "arm_steps": train.get("arm_steps"),
        "generation": generation,
        "arm": arm,
        "seed": 0,
        "segment": 0,
    }
    return SegmentPlan(**whole | more)


def start_of(
    segment: int,
    start: str | Path | None,
    ladder: Mapping[str, Any] | None,
    ladder_file: str | Path | None,
) -> dict[str, Any]:
    """`start` and `start_file` of a segment's plan.

    start: the segment before's checkpoint, or for the first segment the parent's champion;
    None for new weights. ladder: the parent's, read from `ladder_file`; None for a root.
    RoyaleError if the champion is not the one that the ladder file tells of.
    """
    if start is None:
        return {"start": "scratch", "start_file": None}
    if segment:
        return {"start": "checkpoint", "start_file": Path(start)}
    if ladder:
        expect_sha256(start, ladder["champion"]["sha256"], ladder_file)
    return {"start": "weights", "start_file": Path(start)}
