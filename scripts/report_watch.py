"""Collect the watch of a ladder's segments: one table and its charts."""

from royale.evidence import watch
from royale.files import read_json, write_text
from royale.report import figures
from royale.report.collect import read_watch
from royale.run.job import job


def main(snakemake, progress):
    ladder = read_json(snakemake.input.ladder, "ladder")
    promoted = {e["generation"]: e["promotion"]["promoted"] for e in ladder["lineage"]}
    segments = [read_json(path, "watch") for path in snakemake.input.segments]
    table = watch.rows(segments, promoted)
    for line in watch.draws_rising(table, watch.margins_over_parent(ladder)):
        progress.say(line)
    write_text(snakemake.output.table, watch.to_csv(table))
    # drawn from the file, as the page is: its rounding is theirs
    write_text(snakemake.output.plot, figures.watch(read_watch(snakemake.output.table), ladder))


with job(snakemake, f"watch report {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
