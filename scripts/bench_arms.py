"""Measure training iterations of both arms of a generation."""

from pathlib import Path

from royale.bench.measure import ITERATIONS, bench, root_plan
from royale.files import read_json, write_json
from royale.run.job import job

KEPT = (
    "iterations",
    "steps_an_iteration",
    "first_iteration_seconds",
    "iteration_seconds",
    "steps_per_second",
    "steps_per_second_range",
    "timing",
    "slowest",
)


def main(snakemake, progress):
    params = snakemake.params
    base = read_json(snakemake.input.parent, "ladder")["recipe"]
    arms = {}
    for arm, changes in params.changes.items():
        described = {
            "game": params.game,
            "recipe": {**base, **changes},
            "settings": dict(params.settings),
            "train": params.train,
            "scale": params.scale,
        }
        setting = snakemake.threads, params.device, params.determinism
        plan = root_plan(described, arm, *setting)
        found = bench(
            plan,
            Path(params.scratch) / arm,
            lambda done, seconds: progress.update(done, ITERATIONS, "iterations"),
        )
        arms[arm] = {key: found[key] for key in KEPT}
        progress.say(f"{arm}: {arms[arm]['steps_per_second']:,.0f} agent steps/s")
    Path(params.scratch).rmdir()
    result = {
        "generation": snakemake.wildcards.generation,
        "profile": params.profile,
        "threads": snakemake.threads,
        "device": params.device,
        "arms": arms,
    }
    write_json(snakemake.output[0], result, "bench_arms")


with job(snakemake, f"bench {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
