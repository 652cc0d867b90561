"""The file of what jobs are told: written whole, read with a clear error."""

from __future__ import annotations

import json

import pytest

from royale.errors import RoyaleError
from royale.run.told import Told

TOLD = Told(
    results="results/smoke",
    bench="results/smoke/bench/smoke.json",
    note="For tests.",
    rented=True,
    price_per_hour=0.5,
    currency="EUR",
    runtime=10,
    checkpoint_seconds=0.1,
    processes=2,
)


def test_what_is_written_is_read_and_says_why_it_is_there(tmp_path):
    TOLD.write(tmp_path / "told.json")
    assert Told.read(tmp_path / "told.json") == TOLD
    assert "reruns nothing" in json.loads((tmp_path / "told.json").read_text())["why"]


def test_a_missing_or_foreign_file_is_named(tmp_path):
    path = tmp_path / "told.json"
    with pytest.raises(RoyaleError, match=r"told\.json: cannot be read"):
        Told.read(path)
    path.write_text('{"note": "half"}')
    with pytest.raises(RoyaleError, match=r"told\.json: not a told file: "):
        Told.read(path)
