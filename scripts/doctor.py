"""Preflight of a machine profile; refuses with the reason and the next legal value."""

from pathlib import Path

from royale import doctor
from royale.errors import RoyaleError
from royale.files import write_json
from royale.job import job
from royale.ladder import scaled


def main(snakemake, progress):
    profile, name = snakemake.params.profile, snakemake.wildcards.profile
    folder = Path(snakemake.output[0]).parent.parent
    found = {"machine": doctor.machine(profile["device"], snakemake.threads, folder)}
    geometry = {}
    for ladder, root in snakemake.params.roots.items():
        sizes = profile["per_game"][root["game"]]
        recipe = scaled(root["recipe"], sizes["scale"])
        found[ladder], geometry[ladder] = doctor.game_checks(
            root["game"], sizes["settings"], sizes["train"], recipe
        )
    refused = []
    for where, checks in found.items():
        for check in checks:
            line = f"{check.status:8} {where:10} {check.name:10} {check.found}"
            progress.say(line + (f"; {check.fix}" if check.fix else ""))
            if check.status == "refused":
                refused.append(f"{check.name}: {check.found}; {check.fix}")
    if refused:
        raise RoyaleError(f"config/profiles/{name}.yaml cannot run here: {' | '.join(refused)}")
    checks = [{"where": where, **vars(check)} for where, some in found.items() for check in some]
    write_json(
        snakemake.output[0], {"profile": name, "checks": checks, "geometry": geometry}, "doctor"
    )


with job(snakemake, "doctor") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
