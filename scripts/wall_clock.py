"""Find what each arm had when the first of the two finished, and keep those weights."""

from pathlib import Path

from royale.evidence.names import ARMS
from royale.evidence.wall_clock import choose, segment_ends
from royale.files import sha256, write_json
from royale.learn.checkpoint import champion_from_checkpoint
from royale.run.job import job


def main(snakemake, progress):
    generation, seed = snakemake.wildcards.generation, snakemake.wildcards.seed
    ends = {arm: segment_ends(snakemake.input[f"{arm}_metrics"]) for arm in ARMS}
    compared = {}
    for arm, end in choose(ends).items():
        checkpoint = Path(snakemake.input[f"{arm}_checkpoints"][end["segment"]])
        weights = Path(snakemake.output[arm])
        weights.parent.mkdir(parents=True, exist_ok=True)
        player = f"{generation}.{arm}.seed{seed}"
        champion_from_checkpoint(checkpoint, weights, {"player": player, **end})
        compared[arm] = {**end, "sha256": sha256(weights)}
        progress.say(f"{arm}: segment {end['segment']}, ended after {end['seconds']:.0f} s")
    record = {"generation": generation, "seed": int(seed), "arms": compared}
    write_json(snakemake.output.compared, record, "wall_clock")


name = "wall clock {generation} seed{seed}".format(**snakemake.wildcards)  # noqa: F821
with job(snakemake, name) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
