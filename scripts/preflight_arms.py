"""Preflight of a generation's arms; refuses with the reason."""

import torch

from royale.errors import RoyaleError
from royale.files import write_json
from royale.preflight import doctor, vram
from royale.project.arms import changes_rewards
from royale.project.ladder import scaled
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    params, wildcards = snakemake.params, snakemake.wildcards
    root, told, memory = params.root, Told.read(params.told), snakemake.resources.mem_mb
    torch.set_num_threads(snakemake.threads)
    arms, refused = {}, []
    for arm, changes in params.arms.items():
        # the parent's recipe is not known yet; what it keeps of the root's is
        recipe = scaled({**root["recipe"], **changes}, root["scale"])
        sizes = root["settings"], root["train"]
        rewards = changes_rewards(changes)
        checks = doctor.arm_checks(
            root["game"], *sizes, params.device, recipe, rewards, memory, told.processes
        )
        if params.device == "cuda" and "minibatch" in changes:
            checks.append(vram.vram_check(root["game"], *sizes, recipe))
        for check in checks:
            progress.say(f"{arm:9} {check.line()}")
        refused += [f"{arm}: {line}" for line in doctor.refusals(checks)]
        arms[arm] = [vars(check) for check in checks]
    if refused:
        raise RoyaleError(
            f"config/ladders/{wildcards.ladder}.yaml: {wildcards.generation} cannot run here: "
            f"{' | '.join(refused)}"
        )
    report = {"profile": wildcards.profile, "ladder": wildcards.ladder}
    report |= {"generation": wildcards.generation, "arms": arms}
    write_json(snakemake.output[0], report, "preflight_arms")


name = "doctor {ladder} {generation}".format(**snakemake.wildcards)  # noqa: F821
with job(snakemake, name) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
