"""What the report is made from: the files that are there, read and checked."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from royale.evidence.generation import pooled
from royale.evidence.ladder_records import LadderFile
from royale.evidence.records import PanelFile, TargetFile
from royale.evidence.watch import WatchRow
from royale.files import read_json
from royale.report.records import ArmsBenchFile, CostsFile, IdentityFile

COUNTS = ("position", "seed", "segment", "agent_steps", "games", "win", "loss", "draw")
TEXTS = ("generation", "arm", "rival")


@dataclass(frozen=True)
class Evidence:
    """Files of a ladder up to a generation; what was not measured is empty or None."""

    ladder: LadderFile
    games: int  # a match
    targets: Sequence[TargetFile]  # a generation each, in the ladder's order
    benches: Mapping[str, ArmsBenchFile]  # generation -> microbenchmark of its arms
    watch: Sequence[WatchRow]
    costs: CostsFile
    identities: Mapping[str, IdentityFile]  # g05.control.seed0.segment0 -> identity
    panel: PanelFile | None = None

    @property
    def draw_share(self) -> float:
        """Share of draws in the direct matches; 0 without one."""
        direct = [entry["direct"] for entry in self.ladder["lineage"] if entry["direct"]]
        record = pooled(direct)
        return record.draw / record.games if record.games else 0.0


def collect(
    ladder: str,
    games: int,
    targets: Sequence[str],
    benches: Sequence[str],
    watch: str | None,
    costs: str,
    identities: Sequence[str],
    panel: str | None,
) -> Evidence:
    """Read all files; RoyaleError names one that is not what it should be."""
    arms = [read_json(path, "bench_arms") for path in benches]
    return Evidence(
        ladder=read_json(ladder, "ladder"),
        games=games,
        targets=[read_json(path, "target") for path in targets],
        benches={bench["generation"]: bench for bench in arms},
        watch=read_watch(watch) if watch else [],
        costs=read_json(costs, "costs"),
        identities={
            ".".join(Path(path).parts[-5:-1]): read_json(path, "identity") for path in identities
        },
        panel=read_json(panel, "panel") if panel else None,
    )


def read_watch(path: str | Path) -> list[WatchRow]:
    """The rows of results/watch/{generation}.csv, typed."""
    with open(path, newline="", encoding="utf-8") as file:
        return [
            {key: _typed(key, text) for key, text in row.items()} for row in csv.DictReader(file)
        ]


def _typed(key: str, text: str) -> Any:
    if key in TEXTS:
        return text
    if key == "promoted":
        return text == "True"
    return int(text) if key in COUNTS else float(text)
