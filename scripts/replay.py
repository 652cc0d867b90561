"""Play a game of a match again and write its record, its page and a picture of its end."""

from pathlib import Path

import torch

from royale.files import expect_sha256, read_json
from royale.play import replay
from royale.project import roster
from royale.run.job import job


def main(snakemake, progress):
    params = snakemake.params
    torch.set_num_threads(snakemake.threads)
    path = snakemake.input.match
    record = read_json(path, "match")
    players = []
    for side in "ab":
        weights = next(iter(snakemake.input.get(side)), None)
        if weights:
            expect_sha256(weights, record["players"][side]["sha256"], path)
        entry = params.players[side]
        players.append(
            roster.make_player(
                entry,
                weights,
                record["game"],
                record["settings"],
                record["policy"],
                params.device,
            )
        )
    number = int(snakemake.wildcards.number)
    kept = replay.of_match(record, number, players, path, progress.say)
    output = snakemake.output
    shown = replay.write(Path(output.record), Path(output.page), Path(output.picture), kept)
    progress.say(f"{shown['turns']} turns, as recorded; state hash {shown['state']}")


with job(snakemake, f"replay {snakemake.wildcards.number}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
