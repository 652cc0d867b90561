"""Rate the permanent panel: every champion of a lineage and the players that never change."""

from royale.evidence import panel
from royale.evidence.from_files import rated
from royale.files import write_json, write_text
from royale.report import figures
from royale.run.job import job


def main(snakemake, progress):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    result = rated(
        {
            "generation": snakemake.wildcards.generation,
            "game": params.game,
            "profile": params.profile,
        },
        files.ladders,
        files.matches,
        files.round_robin,
        params.members,
        params.anchor,
        params.bar,
    )
    write_json(output.record, result, "panel")
    write_text(output.table, panel.to_csv(result))
    write_text(output.markdown, panel.markdown(result))
    write_text(output.plot, figures.panel(result))
    progress.say(panel.reading(result))


with job(snakemake, f"panel {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
