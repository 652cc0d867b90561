"""Collect the preflights of a profile's ladders."""

from royale.files import read_json, write_json
from royale.job import job


def main(snakemake):
    reports = [read_json(path, "preflight") for path in snakemake.input]
    ladders = {report["ladder"]: report for report in reports}
    write_json(
        snakemake.output[0], {"profile": snakemake.wildcards.profile, "ladders": ladders}, "doctor"
    )


with job(snakemake, "doctor"):  # noqa: F821
    main(snakemake)  # noqa: F821
