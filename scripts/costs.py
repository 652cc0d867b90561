"""Join the benchmark files of all jobs with their price."""

from pathlib import Path

from royale.files import write_json, write_text
from royale.report import costs
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    params = snakemake.params
    results = Path(Told.read(params.told).results)
    jobs = costs.read_jobs(results, params.price, params.generations)
    found = costs.summary(jobs, params.rentals, params.profile, params.price, params.currency)
    write_text(snakemake.output.table, costs.to_csv(jobs))
    about = {"generation": snakemake.wildcards.generation}
    write_json(snakemake.output.summary, {**about, **found}, "costs")
    progress.say(
        f"{len(jobs)} jobs, {found['hours']:.2f} hours, {found['money']:.2f} {found['currency']}"
    )


with job(snakemake, f"costs {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
