"""Render the report page of a ladder, and the break-even plane as a file."""

from pathlib import Path

from royale.files import write_text
from royale.report import figures
from royale.report.collect import collect
from royale.report.page import render
from royale.run.job import job


def main(snakemake):
    inputs, page = snakemake.input, Path(snakemake.output.page)
    evidence = collect(
        inputs.ladder,
        snakemake.params.games,
        inputs.target,
        inputs.bench,
        next(iter(inputs.watch), None),
        inputs.costs,
        inputs.identities,
        next(iter(inputs.panel), None),
    )
    write_text(page, render(evidence, str(page.parents[1])))
    write_text(snakemake.output.plane, figures.break_even(evidence.targets, evidence.ladder))


with job(snakemake, f"report page {snakemake.wildcards.generation}"):  # noqa: F821
    main(snakemake)  # noqa: F821
