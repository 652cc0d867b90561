"""Let a game's scripted players play each other."""

from pathlib import Path

from royale.evidence.round_robin import play_all, table
from royale.files import write_json, write_text
from royale.run.job import job


def main(snakemake, progress):
    game, params = snakemake.wildcards.game, snakemake.params
    records = play_all(
        game,
        params.settings,
        params.games,
        lambda done, total: progress.update(done, total, "pairs"),
    )
    result = {"game": game, "settings": params.settings, "games": params.games, "pairs": records}
    write_json(snakemake.output.record, result, "round_robin")
    write_text(Path(snakemake.output.table), table(records))


with job(snakemake, f"round robin {snakemake.wildcards.game}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
