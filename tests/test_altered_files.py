"""Files that were altered or cut off: one line that names the file and the fix."""

from __future__ import annotations

import pytest

from royale.errors import RoyaleError
from royale.files import read_json, read_rows


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b'{"win": 3', "not JSON"),
        (b"\x1f\x8b\x00\xff", "not JSON text"),
        (b"[" * 100_000, "not JSON text"),
        (b"[]", "not a match file"),
    ],
)
def test_a_bad_json_file(tmp_path, data, words):
    path = tmp_path / "m.json"
    path.write_bytes(data)
    with pytest.raises(RoyaleError) as caught:
        read_json(path, "match")
    text = str(caught.value)
    assert text.startswith(f"{path}: {words}") and text.endswith("delete it and run again")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it has no rows"),
        (b'{"a": 1}\n{"a": ', "line 2 is cut off"),
        (b'{"a": 1}\n\n{"a": 2}\n', "line 2 is cut off"),
        (b"3\n", "line 1 is cut off or no JSON object"),
        (b"\xff\n", "not text"),
    ],
)
def test_bad_rows(tmp_path, data, words):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(data)
    with pytest.raises(RoyaleError) as caught:
        read_rows(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: {words}") and text.endswith("delete it and run again")


def test_good_rows(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert read_rows(path) == [{"a": 1}, {"a": 2}]
    path.write_text("")
    assert read_rows(path, empty=True) == []
