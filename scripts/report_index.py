"""The page and the costs of one generation under the names that stay."""

from pathlib import Path

from royale.files import write_bytes
from royale.run.job import job

with job(snakemake, "report index"):  # noqa: F821
    for name in ("page", "costs"):
        source = Path(getattr(snakemake.input, name))  # noqa: F821
        write_bytes(getattr(snakemake.output, name), source.read_bytes())  # noqa: F821
