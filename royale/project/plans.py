"""Plans of segments, from what the project says of a ladder's root or of an arm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from royale.evidence.generation import inherited
from royale.files import expect_sha256, read_json
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


def arm_plan(
    sizes: Mapping[str, Any],
    changes: Mapping[str, Any],
    names: Mapping[str, str],
    start: str | None,
    parent: str | None,
    **more: Any,
) -> SegmentPlan:
    """The plan of one segment of an arm, or of a root.

    sizes: game, settings, train and scale, as for `segment_plan`; more: as there, too.
    changes: the recipe keys the arm sets; the root's, all. names: generation, arm, seed and
    segment. start: the file of the segment before's checkpoint, or for the first segment of the
    parent's champion; None for new weights. parent: its ladder file, or None. RoyaleError if the
    champion is not the one that the ladder file tells of.
    """
    segment = int(names["segment"])
    ladder = read_json(parent, "ladder") if parent else None
    base = inherited(ladder["recipe"]) if ladder else {}
    kind = "scratch" if start is None else "checkpoint" if segment else "weights"
    if parent and not segment:
        expect_sha256(start, ladder["champion"]["sha256"], parent)
    return segment_plan(
        {**sizes, "recipe": {**base, **changes}},
        names["generation"],
        names["arm"],
        seed=int(names["seed"]),
        segment=segment,
        start=kind,
        start_file=start and Path(start),
        **more,
    )
