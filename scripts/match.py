"""Play one match and write its record."""

import torch

from royale.evidence import played
from royale.files import write_json
from royale.project import roster
from royale.run.job import job


def main(snakemake, progress):
    params = snakemake.params
    torch.set_num_threads(snakemake.threads)
    sides = {}
    for side, entry in params.players.items():
        # one weights file, or none for a player that is no network
        weights = next(iter(snakemake.input.get(side)), None)
        player = roster.make_player(
            entry, weights, params.game, params.settings, params.policy, params.device
        )
        sides[side] = played.Side(
            entry["name"], entry["kind"], player, weights, entry.get("command")
        )
    record = played.record(
        snakemake.wildcards.match,
        params.game,
        params.settings,
        params.policy,
        sides,
        params.games,
        params.sequential,
        lambda done, extra: progress.update(done, params.games, "games", extra),
    )
    write_json(snakemake.output[0], record, "match")
    for line in played.lines(record):
        progress.say(line)


with job(snakemake, snakemake.wildcards.match) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
