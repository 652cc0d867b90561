"""Show a ladder: a plot of its margins, its table as Markdown and CSV."""

from royale.files import read_json, write_text
from royale.report import figures, table
from royale.run.job import job


def main(snakemake):
    ladder = read_json(snakemake.input[0], "ladder")
    write_text(snakemake.output.plot, figures.margins(ladder))
    write_text(snakemake.output.table, table.to_csv(ladder))
    write_text(snakemake.output.markdown, table.markdown(ladder))


with job(snakemake, f"report {snakemake.wildcards.generation}"):  # noqa: F821
    main(snakemake)  # noqa: F821
