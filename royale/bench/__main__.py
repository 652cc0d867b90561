"""Measure this machine's training from the shell, as `snakemake results/bench/...` does."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from royale.bench.markdown import bench_text, scaling_text, sweep_text
from royale.bench.measure import ITERATIONS, bench, root_plan
from royale.bench.scaling import scaling
from royale.bench.sweep import sweep
from royale.errors import ConfigError, RoyaleError
from royale.files import write_json, write_text
from royale.project.config import names, read_yaml
from royale.project.project import Project, load_project


class Parser(argparse.ArgumentParser):
    """A command line whose errors are one line on stderr; exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and exit."""
        self.exit(2, f"{self.prog}: {message}\n")


def positive(text: str) -> float:
    """A number that is not negative."""
    with contextlib.suppress(ValueError):
        if 0 <= float(text) < 1e6:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r}; allowed: a number from 0")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write results/bench/{profile}.json, .sweep.json or .scaling.json.

    Exit code 2 for a command line or a configuration that will not do.
    """
    parser = Parser(prog="python -m royale.bench", description=__doc__)
    parser.add_argument("--profile", help="a file of config/profiles; else config.yaml's")
    parser.add_argument("--ladder", help="a file of config/ladders; else config.yaml's ladders")
    parser.add_argument("--seconds", type=positive, default=0.0, help="measure at least so long")
    parser.add_argument("--iterations", type=int, default=None, help="and so many iterations")
    parser.add_argument("--sweep", action="store_true", help="try other settings, three times each")
    parser.add_argument(
        "--scaling", type=int, metavar="N", help="train with 1, 2, 4, ... and N processes"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    asked = parser.parse_args(arguments)
    if asked.iterations is not None and asked.iterations < 2:
        parser.error("--iterations: allowed: 2 or more, since the first is told apart")
    if asked.scaling is not None and not 2 <= asked.scaling <= 64:
        parser.error("--scaling: allowed: 2 to 64 processes")
    if asked.scaling and (asked.sweep or asked.seconds):
        parser.error("--scaling: allowed without --sweep and --seconds")
    if not Path("config/config.yaml").exists():
        parser.error("no config/config.yaml here; run it in the project's folder")
    try:
        config = read_yaml(Path(), Path("config/config.yaml"))
        if asked.profile:
            config["profile"] = asked.profile
        if asked.ladder:
            there = names(Path(), "ladders")
            if asked.ladder not in there:
                raise ConfigError(f"--ladder {asked.ladder}; allowed: {', '.join(there)}")
            config["ladders"] = [asked.ladder]
        project = load_project(config, Path())
        roots = project.roots()
    except ConfigError as error:
        parser.error(str(error))
    try:
        result = measure(project, roots, asked)
    except RoyaleError as error:
        parser.error(str(error))
    kind, text, ending = "bench", bench_text, ""
    if asked.sweep:
        kind, text, ending = "bench_sweep", sweep_text, ".sweep"
    elif asked.scaling:
        kind, text, ending = "bench_scaling", scaling_text, ".scaling"
    block = text(result, datetime.date.today().isoformat())
    path = Path(project.results) / "bench" / f"{project.profile_name}{ending}.json"
    write_json(path, result, kind)
    write_text(path.with_suffix(".md"), block)
    print(json.dumps(result, indent=2) if asked.json else block, end="\n" if asked.json else "")
    return 0


def measure(project: Project, roots: dict[str, dict[str, Any]], asked: Any) -> dict[str, Any]:
    """Measure each ladder's root; what is written: the profile, and each ladder's numbers."""
    profile = project.profile
    result = {
        "profile": project.profile_name,
        "threads": profile["threads"]["train"],
        "device": profile["device"],
        "determinism": profile["determinism"],
        "ladders": {},
    }

    def tell(text: str) -> None:
        print(f"{ladder}: {text}", file=sys.stderr, flush=True)

    for ladder, root in roots.items():
        plan = root_plan(
            root, ladder, profile["threads"]["train"], profile["device"], profile["determinism"]
        )
        if asked.sweep:
            result["ladders"][ladder] = sweep(
                plan,
                lambda done, total: tell(f"{done} of {total} measured"),
                asked.iterations or 3,
                asked.seconds,
            )
        elif asked.scaling:
            if plan.envs % asked.scaling:
                raise RoyaleError(
                    f"--scaling {asked.scaling}: {ladder} has {plan.envs} envs in "
                    f"config/profiles/{project.profile_name}.yaml, which must be a multiple"
                )
            result["ladders"][ladder] = scaling(
                plan,
                asked.scaling,
                Path(project.results) / "partial" / "bench" / f"scaling.{ladder}",
                tell,
                asked.iterations or ITERATIONS,
            )
        else:
            scratch = Path(project.results) / "partial" / "bench" / f"shell.{ladder}"
            result["ladders"][ladder] = bench(
                plan,
                scratch,
                lambda done, seconds: tell(f"iteration {done}, {seconds:.1f} s"),
                asked.seconds,
                asked.iterations or ITERATIONS,
            )
    return result


if __name__ == "__main__":
    sys.exit(main())
