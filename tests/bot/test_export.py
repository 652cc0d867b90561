"""The export of a champion and its proof of parity."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bot_helpers import COMPETITION, TINY, save_champion

from royale.bot import bundle
from royale.errors import RoyaleError
from royale.export.export import bundle_of, export
from royale.export.parity import play_process
from royale.files import sha256, write_json
from royale.learn import checkpoint

pytest.importorskip("onnxruntime")
MISMATCHES = ("legal_mismatches", "code_mismatches", "plane_mismatches")


def check(report, turns):
    assert report["turns"] >= turns and report["moves"] == 2 * report["turns"]
    assert report["action_mismatches"] == {"numpy": 0, "onnx": 0}
    assert [report[key] for key in MISMATCHES] == [0, 0, 0]
    assert max(report["logit_difference"].values()) < 1e-4
    assert report["process"]["faults"] == 0 == report["process"]["fallbacks"]
    assert report["passed"]


@pytest.mark.parametrize("encoder", ["base", "history"])
def test_an_exported_champion_plays_as_it_did(tmp_path, encoder):
    champion = save_champion(tmp_path / "champion.safetensors", encoder=encoder)
    files = tmp_path / "out" / "bot.npz", tmp_path / "out" / "bot.onnx"
    seen = []
    report = export(champion, *files, 120, seen.append)
    check(report, 120)
    assert seen == list(range(2, report["turns"] + 1, 2))
    write_json(tmp_path / "parity.json", report, "parity")
    assert report["bytes"] == {"npz": files[0].stat().st_size, "onnx": files[1].stat().st_size}
    assert sorted(path.name for path in files[0].parent.iterdir()) == ["bot.npz", "bot.onnx"]
    meta = bundle.read(files[0]).meta
    assert meta["champion_sha256"] == sha256(champion)
    assert (meta["encoder"], meta["canvas"], meta["castle_cap"]) == (encoder, 7, 3)
    assert meta["layout_fingerprint"] == checkpoint.load(champion)[1]["layout_fingerprint"]


@pytest.mark.nightly
def test_a_champion_of_the_competitions_boards(tmp_path):
    champion = save_champion(tmp_path / "c.safetensors", COMPETITION, channels=32, blocks=2)
    check(export(champion, tmp_path / "bot.npz", tmp_path / "bot.onnx"), 663)


def test_a_wrong_reply_of_the_process_is_found(tmp_path, tiny):
    rows = ["0 1 1 1 1", *["0 0 0 0 0 0"] * 15]
    frame = "\n".join(rows).encode() + b"\n"
    found = play_process(tiny, (5, 6), [frame, frame], [b"1 0 0 0 0\n", b"0 0 0 0 0\n"])
    assert (found["moves"], found["faults"]) == (2, 1)
    assert found["peak_memory_mb"] > 5
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no")
    with pytest.raises(RoyaleError, match="not a whole"):
        play_process(broken, (5, 6), [frame], [b"1 0 0 0 0\n"])


def test_what_is_no_champion_is_refused(tmp_path):
    with pytest.raises(RoyaleError, match="No such file"):
        bundle_of(tmp_path / "no.safetensors")
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"xxxx")
    with pytest.raises(RoyaleError, match="not a readable"):
        bundle_of(bad)
    other = tmp_path / "other.safetensors"
    checkpoint.save(other, {"ema/x": np.zeros(1)}, {"game": "toy"})
    with pytest.raises(RoyaleError, match="only generals"):
        bundle_of(other)


def test_a_bundle_keeps_the_champions_numbers(tmp_path):
    champion = save_champion(tmp_path / "champion.safetensors")
    arrays, _ = checkpoint.load(champion)
    made = bundle_of(champion)
    assert json.loads(json.dumps(made.meta)) == made.meta
    assert made.meta["build_base"] == TINY["build_base"]
    assert set(made.weights) == {name.removeprefix("ema/") for name in arrays}
    assert all(np.array_equal(made.weights[name[4:]], a) for name, a in arrays.items())
    assert bundle.shapes(made.meta) == {name: a.shape for name, a in made.weights.items()}
