"""Preflight of a generation's arms; refuses with the reason."""

import torch

from royale.files import write_json
from royale.preflight.checks import refusals, refuse
from royale.preflight.ladder import Asked, look_at_arm
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    params, names = snakemake.params, snakemake.wildcards
    told, memory = Told.read(params.told), snakemake.resources.mem_mb
    torch.set_num_threads(snakemake.threads)
    asked = Asked(params.device, snakemake.threads, told.processes, memory)
    arms, refused = {}, []
    for arm, changes in params.arms.items():
        checks = look_at_arm(params.root, changes, asked)
        for check in checks:
            progress.say(f"{arm:9} {check.line()}")
        refused += refusals(checks, arm)
        arms[arm] = [vars(check) for check in checks]
    refuse(f"config/ladders/{names.ladder}.yaml: {names.generation}", refused)
    about = {key: names[key] for key in ("profile", "ladder", "generation")}
    write_json(snakemake.output[0], {**about, "arms": arms}, "preflight_arms")


name = "doctor {ladder} {generation}".format(**snakemake.wildcards)  # noqa: F821
with job(snakemake, name) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
