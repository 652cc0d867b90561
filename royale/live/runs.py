"""The segments below a folder of results, unfinished ones too, and their rows of metrics."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from royale.errors import RoyaleError

METRICS, CHECKPOINT = "metrics.jsonl", "checkpoint.safetensors"


@dataclass
class Follower:
    """A metrics.jsonl that grows: each call reads what is new."""

    path: Path

    def __post_init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._read = 0  # bytes
        self._file = -1  # inode

    def update(self) -> list[dict[str, Any]]:
        """All rows so far. A file that was replaced or cut (a run went back) is read anew."""
        try:
            with open(self.path, "rb") as file:
                stat = self.path.stat()
                if stat.st_ino != self._file or stat.st_size < self._read:
                    self.rows, self._read, self._file = [], 0, stat.st_ino
                file.seek(self._read)
                text = file.read()
        except FileNotFoundError:
            return self.rows
        whole = text.rfind(b"\n") + 1  # the last line may not be written out yet
        for line in text[:whole].splitlines():
            self.rows.append(finite(json.loads(line)))
        self._read += whole
        return self.rows


def finite(value: Any) -> Any:
    """The value with null for NaN and infinities, at which a browser would refuse the whole row."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Runs:
    """The segments below `folder`; RoyaleError unless it is results/train or lies below it."""

    def __init__(self, folder: Path) -> None:
        parts = folder.parts
        if "train" not in parts:
            raise RoyaleError(f"{folder}: not results/train or a folder below it")
        at = len(parts) - 1 - parts[::-1].index("train")
        root = Path(*parts[:at])
        if root.name in ("partial", "kept"):
            root = root.parent
        if not root.is_dir():
            raise RoyaleError(f"{folder}: there is no folder {root} of results")
        self.results, self.below = root, Path(*parts[at:])
        self._followers: dict[Path, Follower] = {}

    def folders(self) -> dict[str, tuple[Path, bool]]:
        """Segment, as a path below train/ -> its folder, and whether it is finished."""
        found: dict[str, tuple[Path, bool]] = {}
        for root, finished in ((self.results / "partial", False), (self.results, True)):
            base = root / self.below
            for metrics in sorted(base.glob(f"**/{METRICS}")):
                name = str(metrics.parent.relative_to(root / "train"))
                found[name] = metrics.parent, finished
        return found

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a segment so far; KeyError if there is no such one."""
        return self._follow(self.folders()[name][0] / METRICS)

    def _follow(self, path: Path) -> list[dict[str, Any]]:
        return self._followers.setdefault(path, Follower(path)).update()

    def overview(self) -> list[dict[str, Any]]:
        """What the page lists: each segment with its last row, the newest first."""
        out = []
        now = time.time()
        for name, (folder, finished) in self.folders().items():
            try:
                written = (folder / METRICS).stat().st_mtime
            except FileNotFoundError:  # finished in between
                continue
            rows = self._follow(folder / METRICS)
            last = rows[-1] if rows else {}
            out.append(
                {
                    "name": name,
                    "finished": finished,
                    "seconds_ago": now - written,
                    "rows": len(rows),
                    "games": (folder / CHECKPOINT).exists(),
                    **{key: last.get(key) for key in ("iteration", "agent_steps")},
                    "alarms": last.get("alarms", []),
                }
            )
        return sorted(out, key=lambda run: (run["finished"], run["seconds_ago"]))

    def checkpoint(self, name: str) -> Path:
        """The latest checkpoint of a segment; KeyError if there is no such segment."""
        return self.folders()[name][0] / CHECKPOINT
