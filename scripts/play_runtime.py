"""Fetch what runs a network in a browser."""

from pathlib import Path

from royale.play import runtime
from royale.run.job import job


def main(snakemake, progress):
    runtime.fetch(Path(snakemake.output.module), Path(snakemake.output.wasm))
    progress.say(f"{runtime.PACKAGE} from the npm registry")


with job(snakemake, "page runtime") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
