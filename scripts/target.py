"""Measure the time to target of a generation's two arms."""

from royale.evidence.from_files import reached
from royale.files import write_json
from royale.run.job import job


def main(snakemake, progress):
    params, files = snakemake.params, snakemake.input
    about = {
        "generation": snakemake.wildcards.generation,
        "profile": params.profile,
        "question": params.question,
        "bar": params.bar,
    }
    found = reached(
        about,
        params.points,
        files.matches,
        files.checkpoints,
        files.metrics,
        params.reference,
        next(iter(files.reference), None),
    )
    write_json(snakemake.output[0], found, "target")
    progress.say(f"sooner to beat {params.reference}: {found['sooner']}")


with job(snakemake, f"target {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
