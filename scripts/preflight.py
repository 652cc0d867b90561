"""Preflight of a ladder; refuses with the reason and the next legal value."""

from pathlib import Path

import torch

from royale.files import write_json
from royale.preflight.checks import refusals, refuse
from royale.preflight.ladder import Asked, Rent, look_at_ladder
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    params, told = snakemake.params, Told.read(snakemake.params.told)
    profile, ladder = snakemake.wildcards.profile, snakemake.wildcards.ladder
    torch.set_num_threads(snakemake.threads)
    asked = Asked(params.device, snakemake.threads, told.processes, snakemake.resources.mem_mb)
    results, rent = Path(snakemake.output[0]).parents[2], None
    if told.rented:
        rent = Rent(told.price_per_hour, told.currency, told.runtime)
    checks, geometry = look_at_ladder(
        params.root, ladder, asked, params.determinism, results, rent, progress.say
    )
    for check in checks:
        progress.say(check.line())
    numbers = (f"{name.replace('_', ' ')} {number:,}" for name, number in geometry.items())
    progress.say(f"geometry: {', '.join(numbers)}")
    refuse(f"config/profiles/{profile}.yaml", refusals(checks))
    report = {
        "profile": profile,
        "ladder": ladder,
        "checks": [vars(check) for check in checks],
        "geometry": geometry,
    }
    write_json(snakemake.output[0], report, "preflight")


with job(snakemake, f"doctor {snakemake.wildcards.ladder}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
