"""Collect the preflights of a profile's ladders and of their arms."""

from royale.files import read_json, write_json
from royale.run.job import job


def main(snakemake):
    reports = [read_json(path, "preflight") for path in snakemake.input.ladders]
    ladders = {report["ladder"]: report for report in reports}
    arms = [read_json(path, "preflight_arms") for path in snakemake.input.arms]
    generations = {report["generation"]: report for report in arms}
    found = {"profile": snakemake.wildcards.profile, "ladders": ladders, "generations": generations}
    write_json(snakemake.output[0], found, "doctor")


with job(snakemake, "doctor"):  # noqa: F821
    main(snakemake)  # noqa: F821
