"""What a job is told and what reruns nothing: `told.json` in the results folder.

Snakemake runs a job again when one of its inputs or params changed. These values change no
byte of a result, so they are neither; and they are no resources, which say what a job asks
of an executor.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from royale.files import read_json, write_json

WHY = (
    "Values that jobs are told. They change no result, so editing one reruns nothing; "
    "as inputs or params of a rule they would."
)


@dataclass(frozen=True)
class Told:
    """The values, by the names in workflow/schemas/files/told.schema.yaml."""

    results: str  # the folder of all results, whose benchmark files are read as they are found
    bench: str  # path of the profile's bench file, read where it is there: no ladder needs one
    note: str  # the profile's description, for people
    rented: bool
    price_per_hour: float  # of one job, in the currency
    currency: str
    runtime: int  # minutes that a training job may take
    checkpoint_seconds: float
    processes: int  # that train a segment together

    @classmethod
    def read(cls, path: str | Path) -> Told:
        """Read the file; RoyaleError as `read_json`."""
        value = read_json(path, "told")
        del value["why"]
        return cls(**value)

    def write(self, path: str | Path) -> None:
        """Write the file."""
        write_json(path, {"why": WHY, **asdict(self)}, "told")
