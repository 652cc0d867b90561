"""Write the page where a champion is played."""

from pathlib import Path

from royale.files import read_json
from royale.play import site
from royale.run.job import job


def main(snakemake, progress):
    files = {name: Path(snakemake.input[name]) for name in ("champion", "onnx", "module", "wasm")}
    page = Path(snakemake.output.page)
    site.write(
        page.parent,
        files["champion"],
        files["onnx"],
        read_json(snakemake.input.parity, "parity"),
        {"module": files["module"], "wasm": files["wasm"]},
        f"the champion of {snakemake.wildcards.generation}, profile {snakemake.params.profile}",
    )
    progress.say(f"python -m http.server --directory {page.parent}, then http://localhost:8000")


with job(snakemake, f"play {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
