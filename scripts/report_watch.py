"""Collect the watch of a ladder's segments: one table and its charts."""

from royale.evidence import watch
from royale.evidence.from_files import watched_ladder
from royale.files import read_json, write_text
from royale.report import figures
from royale.report.collect import read_watch
from royale.run.job import job


def main(snakemake, progress):
    files, output = snakemake.input, snakemake.output
    ladder = read_json(files.ladder, "ladder")
    table, alarms = watched_ladder(ladder, files.segments)
    for line in alarms:
        progress.say(line)
    write_text(output.table, watch.to_csv(table))
    # drawn from the file, as the page is: its rounding is theirs
    write_text(output.plot, figures.watch(read_watch(output.table), ladder))


with job(snakemake, f"watch report {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
