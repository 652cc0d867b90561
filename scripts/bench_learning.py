"""State whether each ladder's root learns to beat players that do not, with its curve."""

from royale.evidence.from_files import learned, learned_lines
from royale.files import read_json, write_json, write_text
from royale.report import figures
from royale.run.job import job


def main(snakemake, progress):
    profile, ladders = snakemake.wildcards.profile, {}
    watches = [read_json(path, "watch") for path in snakemake.input.watches]
    for ladder, runs in snakemake.params.roots.items():
        ladders[ladder] = learned(runs["generation"], watches, runs["metrics"])
        for line in learned_lines(ladders[ladder]):
            progress.say(f"{ladder} {line}")
    record = {"profile": profile, "ladders": ladders}
    write_json(snakemake.output.record, record, "bench_learning")
    write_text(snakemake.output.plot, figures.learning(record))


with job(snakemake, "bench learning") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
