"""Play a segment's network against the scripted players of its game."""

import torch

from royale.evidence import watch
from royale.evidence.gate import record_text
from royale.files import sha256, write_json
from royale.learn.player import NetworkPlayer
from royale.run.job import job


def main(snakemake, progress):
    params, wildcards = snakemake.params, snakemake.wildcards
    torch.set_num_threads(snakemake.threads)
    player = NetworkPlayer(snakemake.input.checkpoint, params.policy == "greedy", params.device)
    rivals = watch.play_all(
        params.game,
        params.settings,
        player,
        params.rivals,
        params.games,
        lambda done, total: progress.update(done, total, "rivals"),
    )
    record = {
        "generation": wildcards.generation,
        "arm": wildcards.arm,
        "seed": int(wildcards.seed),
        "segment": int(wildcards.segment),
        "agent_steps": player.meta["agent_steps"],
        "checkpoint_sha256": sha256(snakemake.input.checkpoint),
        "game": params.game,
        "settings": dict(params.settings),
        "policy": params.policy,
        "rivals": rivals,
    }
    write_json(snakemake.output[0], record, "watch")
    for name, found in rivals.items():
        progress.say(f"against {name}: W-L-D {record_text(found)}")


name = "watch {generation} {arm} seed{seed} segment{segment}".format(**snakemake.wildcards)  # noqa: F821
with job(snakemake, name) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
