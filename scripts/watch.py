"""Play a segment's network against the scripted players of its game."""

import torch

from royale.evidence.from_files import watched
from royale.evidence.gate import record_text
from royale.evidence.names import PlayerName
from royale.files import write_json
from royale.learn.player import NetworkPlayer
from royale.run.job import job


def main(snakemake, progress):
    params, wildcards = snakemake.params, snakemake.wildcards
    checkpoint = snakemake.input.checkpoint
    torch.set_num_threads(snakemake.threads)
    player = NetworkPlayer(checkpoint, params.policy == "greedy", params.device)
    record = watched(
        PlayerName.of_arm(
            wildcards.generation, wildcards.arm, int(wildcards.seed), int(wildcards.segment)
        ),
        player.meta["agent_steps"],
        player,
        checkpoint,
        params.game,
        params.settings,
        params.policy,
        params.rivals,
        params.games,
        lambda done, total: progress.update(done, total, "rivals"),
    )
    write_json(snakemake.output[0], record, "watch")
    for rival, found in record["rivals"].items():
        progress.say(f"against {rival}: W-L-D {record_text(found)}")


name = "watch {generation} {arm} seed{seed} segment{segment}".format(**snakemake.wildcards)  # noqa: F821
with job(snakemake, name) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
