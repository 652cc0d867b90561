"""Export a champion and measure that the exported bot plays as it does."""

# ruff: noqa: E402
import os

# The speeds are of one core; numpy reads these when it is first imported.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

from pathlib import Path

import torch

from royale.errors import RoyaleError
from royale.export.export import export
from royale.files import write_json
from royale.run.job import job


def main(snakemake, progress):
    torch.set_num_threads(1)
    turns = snakemake.params.turns
    report = export(
        Path(snakemake.input.champion),
        Path(snakemake.output.bundle),
        Path(snakemake.output.onnx),
        turns,
        lambda done: progress.update(min(done, turns), turns, "turns"),
    )
    if not report["passed"]:
        counts = {key: value for key, value in report.items() if "mismatches" in key}
        raise RoyaleError(f"the exported bot does not play as the champion does: {counts}")
    write_json(snakemake.output.parity, report, "parity")
    ms = report["process"]["ms"]
    progress.say(
        f"{report['turns']} turns alike; {ms['median']:.1f} ms a move, p99 {ms['p99']:.1f}, "
        f"{report['ratio_to_onnx']:.2f} times onnxruntime's time"
    )


with job(snakemake, f"export {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
