"""Measure training iterations of both arms of a generation."""

from pathlib import Path

from royale.bench.measure import ARM_KEYS, ITERATIONS, bench, root_plan
from royale.files import read_json, write_json
from royale.run.job import job


def main(snakemake, progress):
    params, scratch, arms = snakemake.params, Path(snakemake.params.scratch), {}
    setting = snakemake.threads, params.device, params.determinism
    base = read_json(snakemake.input.parent, "ladder")["recipe"]
    sizes = {name: getattr(params, name) for name in ("game", "settings", "train", "scale")}

    def report(done, seconds):
        progress.update(done, ITERATIONS, "iterations")

    for arm, changes in params.changes.items():
        plan = root_plan({**sizes, "recipe": {**base, **changes}}, arm, *setting)
        found = bench(plan, scratch / arm, report)
        arms[arm] = {key: found[key] for key in ARM_KEYS}
        progress.say(f"{arm}: {found['steps_per_second']:,.0f} agent steps/s")
    scratch.rmdir()
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
