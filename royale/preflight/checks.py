"""What was looked at before training, what of it is refused, and whether a rented job may start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from royale.errors import RoyaleError

MB = 2**20


@dataclass(frozen=True)
class Check:
    """One thing looked at: `ok`, `warning` or `refused`, and what was found."""

    name: str
    status: str
    found: str
    fix: str = ""

    def line(self) -> str:
        """As people read it."""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{self.status:8} {self.name:10} {self.found}{fix}"


def refusals(checks: Iterable[Check], arm: str | None = None) -> list[str]:
    """What was refused, each with its fix; of an arm, with its name before it."""
    lines = [f"{c.name}: {c.found}; {c.fix}" for c in checks if c.status == "refused"]
    return [f"{arm}: {line}" for line in lines] if arm else lines


def refuse(where: str, refused: Sequence[str]) -> None:
    """RoyaleError with all that was refused, if anything was. where: the file to be edited."""
    if refused:
        raise RoyaleError(f"{where} cannot run here: {' | '.join(refused)}")


def expect_cleared(preflight: Mapping[str, Any], path: str | Path) -> None:
    """RoyaleError unless a preflight file says that identity and rewards were looked at and right.

    A rented machine trains only then: a file of an earlier version has less in it.
    """
    passed = {check["name"] for check in preflight["checks"] if check["status"] == "ok"}
    for name in ("identity", "rewards"):
        if name not in passed:
            raise RoyaleError(
                f"{path}: check {name!r} has not passed, and this machine is rented; "
                f"run snakemake --force {path}"
            )
