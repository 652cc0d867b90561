"""What a ladder costs: Snakemake's benchmark files, a price an hour, and a table of rentals."""

from __future__ import annotations

import csv
import datetime
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from royale.errors import ConfigError, RoyaleError
from royale.evidence.names import VERSUS, MatchName, PlayerName
from royale.evidence.segments import trained
from royale.project.config import names
from royale.report.records import ArmTotal, Costs, Job, JobsTotal, Rental
from royale.schemas import check, schema

RENTALS = Path("config/rentals.csv")
COLUMNS = tuple(Job.__annotations__)


def read_rentals(root: Path) -> list[Rental]:
    """The rows of `config/rentals.csv` below `root`, typed; none if there is no such file.

    ConfigError names file, row (the header is row 1), column, value and what is allowed.
    """
    path = root / RENTALS
    if not path.exists():
        return []
    rules = schema("rentals")
    columns = list(rules["properties"])
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(
            f"{RENTALS}: cannot be read ({error}); allowed: a CSV file in UTF-8"
        ) from None
    if not lines or lines[0] != columns:
        found = ",".join(lines[0]) if lines else "nothing"
        raise ConfigError(f"{RENTALS}: row 1 is {found:.80}; allowed: {','.join(columns)}")
    profiles = names(root, "profiles")
    rentals = []
    for number, line in enumerate(lines[1:], 2):
        if not line:
            continue
        where = f"{RENTALS}: row {number}"
        if len(line) != len(columns):
            raise ConfigError(f"{where} has {len(line)} columns; allowed: {len(columns)}")
        row = {
            name: _typed(text.strip(), rules["properties"][name]["type"])
            for name, text in zip(columns, line, strict=True)
        }
        try:
            check(row, rules, where)
        except ConfigError as error:
            raise ConfigError(str(error).replace(": key '", ", column '", 1)) from None
        if row["profile"] not in profiles:  # its money would be counted nowhere
            raise ConfigError(
                f"{where}, column 'profile' = {row['profile']!r}; allowed: {', '.join(profiles)}"
            )
        try:
            datetime.date.fromisoformat(row["date"])
        except ValueError as error:
            raise ConfigError(f"{where}, column 'date' = {row['date']!r}; {error}") from None
        if (row["success"] == "yes") == bool(row["failure"]):
            wanted = "empty, as success is yes" if row["failure"] else "a word, as success is no"
            raise ConfigError(f"{where}, column 'failure' = {row['failure']!r}; allowed: {wanted}")
        rentals.append(row)
    return rentals


def _typed(text: str, kind: str | Sequence[str]) -> Any:
    """A cell as its schema wants it; one that cannot be stays text, for `check` to refuse."""
    if "null" in kind and not text:
        return None
    if "number" in kind:
        try:
            return text if "_" in text else float(text)
        except ValueError:
            return text
    return text


def read_jobs(results: Path, price: float, generations: Iterable[str]) -> list[Job]:
    """One row, with `COLUMNS`, for each finished job of a results folder.

    Jobs of an arm whose generation is not among `generations` are left out. A job is
    charged its wall time; a segment is charged all seconds that its iterations took, which is
    more if its training was interrupted, or was kept from an earlier run.
    """
    chosen, jobs = set(generations), []
    for path in sorted((results / "benchmarks").rglob("*.tsv")):
        rule, name = path.parts[len(results.parts) + 1], path.stem
        players = _players(rule, name)
        generation = players[0].generation if players else name if name in chosen else None
        if players and generation not in chosen:
            continue
        measured = _benchmark(path)
        wall = measured["s"] or 0.0
        steps, spent = None, 0.0
        if rule == "train_segment" and players:
            steps, spent = _training(results, players[0])
        charged = max(wall, spent)
        money = charged / 3600 * price
        arms = {player.arm for player in players if player.generation == generation}
        jobs.append(
            {
                "rule": rule,
                "job": name,
                "generation": generation,
                # a match of the two arms belongs to both, so to neither alone
                "arm": arms.pop() if len(arms) == 1 else None,
                "wall_s": wall,
                "charged_s": round(charged, 2),
                "cpu_s": measured["cpu_time"],
                "max_rss_mb": measured["max_rss"],
                "mean_load_percent": measured["mean_load"],
                "agent_steps": steps,
                "money": round(money, 6),
                "steps_per_money": round(steps / money) if steps and money else None,
            }
        )
    return jobs


def _players(rule: str, job: str) -> list[PlayerName]:
    """The arms' networks that a job is of: `g05.control.seed0.segment1`, or those of a match."""
    name = job.rpartition(".")[0] if rule == "replay" else job  # a match, and a game's number
    try:
        players = MatchName.parse(name).players if VERSUS in name else (PlayerName.parse(name),)
    except ValueError:  # such as `laptop.generals` of preflight
        return []
    return [player for player in players if player.arm is not None]


def _benchmark(path: Path) -> dict[str, float | None]:
    """The numbers of a benchmark file, by Snakemake's names; what it could not measure is None."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    if not rows or rows[0].get("s") is None:
        raise RoyaleError(f"{path}: not a benchmark file of Snakemake; delete it")
    out: dict[str, float | None] = {}
    for key in ("s", "cpu_time", "max_rss", "mean_load"):
        try:
            value = float(rows[0][key])
        except (KeyError, TypeError, ValueError):
            value = math.nan
        out[key] = value if math.isfinite(value) else None
    return out


def _training(results: Path, player: PlayerName) -> tuple[int | None, float]:
    """Agent steps and seconds of the iterations of the segment that a network is of."""
    run = results / "train" / player.generation / player.arm / f"seed{player.seed}"
    path = run / f"segment{player.segment}" / "metrics.jsonl"
    return trained(path) if path.exists() else (None, 0.0)


def summary(
    jobs: Sequence[Job], rentals: Sequence[Rental], profile: str, price: float, currency: str
) -> Costs:
    """What the jobs cost by rule and by arm, and what the rentals of the profile cost."""
    rules: dict[str, list[Job]] = {}
    arms: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        rules.setdefault(job["rule"], []).append(job)
        if job["arm"]:
            arms.setdefault((job["generation"], job["arm"]), []).append(job)
    own = [rental for rental in rentals if rental["profile"] == profile]
    failed = [rental for rental in own if rental["success"] == "no"]
    waits = [r["minutes_to_first_step"] for r in own if r["minutes_to_first_step"] is not None]
    return {
        "profile": profile,
        "price_per_hour": price,
        "currency": currency,
        "hours": round(sum(job["charged_s"] for job in jobs) / 3600, 4),
        "money": round(sum(job["money"] for job in jobs), 4),
        "rules": [{"rule": rule, **_total(some)} for rule, some in sorted(rules.items())],
        "arms": [
            {"generation": generation, "arm": arm, **_arm_total(some)}
            for (generation, arm), some in arms.items()
        ],
        "rentals": {
            "count": len(own),
            "hours": round(sum(rental["hours"] for rental in own), 4),
            "asked": round(sum(r["asked_per_hour"] * r["hours"] for r in own), 4),
            "billed": round(sum(rental["billed"] for rental in own), 4),
            "failed": len(failed),
            "failed_billed": round(sum(rental["billed"] for rental in failed), 4),
            "minutes_to_first_step": round(sum(waits) / len(waits), 2) if waits else None,
        },
    }


def _total(jobs: Sequence[Job]) -> JobsTotal:
    memory = [job["max_rss_mb"] for job in jobs if job["max_rss_mb"] is not None]
    return {
        "jobs": len(jobs),
        "hours": round(sum(job["charged_s"] for job in jobs) / 3600, 4),
        "cpu_hours": round(sum(job["cpu_s"] or 0.0 for job in jobs) / 3600, 4),
        "max_rss_mb": max(memory, default=None),
        "money": round(sum(job["money"] for job in jobs), 4),
    }


def _arm_total(jobs: Sequence[Job]) -> ArmTotal:
    total = _total(jobs)
    steps = sum(job["agent_steps"] or 0 for job in jobs)
    training = sum(job["money"] for job in jobs if job["agent_steps"])
    return {
        **total,
        "agent_steps": steps,
        "steps_per_money": round(steps / training) if training else None,
    }


def to_csv(jobs: Sequence[Job]) -> str:
    """The rows of the jobs as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(jobs)
    return text.getvalue()
