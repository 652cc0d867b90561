"""Decide a generation and write its ladder file and champion."""

import shutil
from pathlib import Path

from royale.evidence.decide import Files, decide
from royale.files import sha256, write_json
from royale.learn.checkpoint import champion_from_checkpoint
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    params, files = snakemake.params, snakemake.input
    about = {
        "generation": snakemake.wildcards.generation,
        "ladder": params.ladder,
        "game": params.game,
        "profile": params.profile,
        "note": Told.read(params.told).note,
        "scale": dict(params.scale),
        "question": params.question,
        "parent": params.parent,
        "seeds": params.seeds,
    }
    lists = {name: files[name] for name in ("direct", "wall_clock", "compared", "sanity")}
    checkpoints = dict(zip(params.players, files.checkpoints, strict=True))
    parents = {name: files.get(name) for name in ("parent", "parent_champion")}
    read = Files(**lists, **parents, checkpoints=checkpoints, metrics=files.metrics)
    found = decide(about, params.changes, read, params.evidence, progress.say)
    champion = Path(snakemake.output.champion)
    champion.parent.mkdir(parents=True, exist_ok=True)
    if found.carried:
        shutil.copyfile(found.file, champion)
    else:
        champion_from_checkpoint(Path(found.file), champion, {"player": found.player})
    record = {**found.record, "champion": {"player": found.player, "sha256": sha256(champion)}}
    write_json(snakemake.output.ladder, record, "ladder")
    progress.say("promoted {promoted}: {why}".format(**record["promotion"]))


with job(snakemake, f"ladder {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
