"""Preflight of a ladder; refuses with the reason and the next legal value."""

from pathlib import Path

import torch

from royale.errors import RoyaleError
from royale.files import write_json
from royale.learn.plan import SegmentPlan
from royale.preflight import doctor, vram
from royale.project.ladder import scaled
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    root, wildcards = snakemake.params.root, snakemake.wildcards
    told, memory = Told.read(snakemake.params.told), snakemake.resources.mem_mb
    results = Path(snakemake.output[0]).parents[2]
    recipe = scaled(root["recipe"], root["scale"])
    checks = doctor.machine(snakemake.params.device, snakemake.threads, results, told.processes)
    if told.rented:
        checks.append(doctor.price_check(told.price_per_hour, told.currency, told.runtime))
    progress.say("looking at the game; compiling its kernels takes a minute the first time")
    more, geometry = doctor.game_checks(
        root["game"], root["settings"], root["train"], recipe, memory, told.processes
    )
    checks += more
    if not doctor.refusals(checks):
        torch.set_num_threads(snakemake.threads)
        plan = SegmentPlan(
            game=root["game"],
            settings=root["settings"],
            recipe=recipe.to_dict(),
            **{key: root["train"][key] for key in ("envs", "horizon")},
            steps=root["train"]["segment_steps"],
            arm_steps=root["train"]["segment_steps"],
            generation="doctor",
            arm=wildcards.ladder,
            seed=0,
            segment=0,
            threads=snakemake.threads,
            device=snakemake.params.device,
            determinism=snakemake.params.determinism,
        )
        checks.append(doctor.identity_check(plan))
        checks.append(doctor.reward_check(root["game"], root["settings"], recipe))
        if snakemake.params.device == "cuda":
            sizes = root["settings"], root["train"]
            checks.append(vram.vram_check(root["game"], *sizes, recipe))
    for check in checks:
        progress.say(check.line())
    numbers = (f"{name.replace('_', ' ')} {number:,}" for name, number in geometry.items())
    progress.say(f"geometry: {', '.join(numbers)}")
    refused = doctor.refusals(checks)
    if refused:
        raise RoyaleError(
            f"config/profiles/{wildcards.profile}.yaml cannot run here: {' | '.join(refused)}"
        )
    report = {
        "profile": wildcards.profile,
        "ladder": wildcards.ladder,
        "checks": [vars(check) for check in checks],
        "geometry": geometry,
    }
    write_json(snakemake.output[0], report, "preflight")


with job(snakemake, f"doctor {snakemake.wildcards.ladder}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
