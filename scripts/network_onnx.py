"""Write a champion's network as an ONNX file, and measure that it decides as the champion does."""

from pathlib import Path

import torch

from royale.errors import RoyaleError
from royale.export import portable
from royale.files import write_json
from royale.run.job import job


def main(snakemake, progress):
    torch.set_num_threads(snakemake.threads)
    champion, path = Path(snakemake.input.champion), Path(snakemake.output.onnx)
    moves = snakemake.params.moves
    told = portable.write(champion, path)
    found = portable.compare(
        champion, path, moves, lambda done: progress.update(min(done, moves), moves, "decisions")
    )
    if not found["passed"]:
        raise RoyaleError(
            f"the ONNX file decides otherwise in {found['action_mismatches']} of {found['moves']} "
            f"decisions; logits differ by {found['logit_difference']:.1e}, values by "
            f"{found['value_difference']:.1e}, at most {portable.TOLERANCE:g} is rounding"
        )
    write_json(snakemake.output.parity, {**told, **found}, "onnx_parity")
    progress.say(f"{found['moves']} decisions alike, logits within {found['logit_difference']:.1e}")


with job(snakemake, f"onnx {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
