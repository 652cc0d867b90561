"""Measure training iterations of each ladder's root."""

import datetime
from pathlib import Path

from royale.bench.markdown import bench_text
from royale.bench.measure import ITERATIONS, bench, root_plan
from royale.files import write_json, write_text
from royale.run.job import job


def main(snakemake, progress):
    params, profile = snakemake.params, snakemake.wildcards.profile
    setting = {"threads": snakemake.threads, "device": params.device}
    setting["determinism"] = params.determinism
    ladders = {}
    for ladder, root in params.roots.items():
        found = ladders[ladder] = bench(
            root_plan(root, ladder, **setting),
            Path(params.scratch) / ladder,
            lambda done, seconds: progress.update(done, ITERATIONS, "iterations"),
        )
        progress.say(
            f"{ladder}: {found['steps_per_second']:,.0f} agent steps/s, a segment takes about "
            f"{found['segment_minutes']:.1f} minutes; {found['verdict']}"
        )
    result = {"profile": profile, **setting, "ladders": ladders}
    write_json(snakemake.output.record, result, "bench")
    write_text(snakemake.output.block, bench_text(result, datetime.date.today().isoformat()))


with job(snakemake, "bench") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
