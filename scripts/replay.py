"""Play a game of a match again and write its record, its page and a picture of its end."""

from pathlib import Path

import torch

from royale.play import replay
from royale.project import roster
from royale.run.job import job


def main(snakemake, progress):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    torch.set_num_threads(snakemake.threads)
    weights = {side: next(iter(files.get(side)), None) for side in "ab"}

    def make(side, record):
        what = record["game"], record["settings"], record["policy"], params.device
        return roster.make_player(params.players[side], weights[side], *what)

    number = int(snakemake.wildcards.number)
    kept = replay.from_match(files.match, number, weights, make, progress.say)
    shown = replay.write(Path(output.record), Path(output.page), Path(output.picture), kept)
    progress.say(f"{shown['turns']} turns, as recorded; state hash {shown['state']}")


with job(snakemake, f"replay {snakemake.wildcards.number}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
