"""Checkpoint files and identities."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from royale.errors import RoyaleError
from royale.learn import checkpoint, identity, untrusted
from royale.learn.network import build_network
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer

ARRAYS = {
    "b/x": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a": np.array([2**63], np.uint64),
    "c": np.array(True),
    "d": np.zeros((0, 3), np.int8),
}
META = {"z": 1, "a": [1.5, None, "x"], "m": {"k": True}}


def test_what_is_saved_is_loaded(tmp_path):
    checkpoint.save(tmp_path / "f", ARRAYS, META)
    arrays, meta = checkpoint.load(tmp_path / "f")
    assert meta == META
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_equal_contents_are_equal_bytes_in_any_order_and_process(tmp_path):
    checkpoint.save(tmp_path / "one", ARRAYS, META)
    reversed_ = {name: ARRAYS[name] for name in reversed(ARRAYS)}
    checkpoint.save(tmp_path / "two", reversed_, dict(reversed(META.items())))
    program = (
        "import sys; from pathlib import Path; from royale.learn import checkpoint as c;"
        "c.save(Path(sys.argv[2]), *c.load(Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", program, tmp_path / "one", tmp_path / "three"]
    root = str(identity.royale.__path__[0]) + "/.."
    subprocess.run(command, check=True, cwd=root)
    assert len({(tmp_path / n).read_bytes() for n in ("one", "two", "three")}) == 1


@pytest.mark.parametrize("name", ["a", "b/x", "c"])
def test_a_bit_that_flips_on_the_disk_is_noticed(tmp_path, name):
    path = tmp_path / "f"
    checkpoint.save(path, ARRAYS, META)
    whole, found = bytearray(path.read_bytes()), ARRAYS[name].tobytes()
    whole[whole.rindex(found)] ^= 1
    path.write_bytes(whole)
    with pytest.raises(checkpoint.FileError, match=r"f: .*its arrays are not those"):
        checkpoint.load(path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    checkpoint.save(tmp_path / "f", ARRAYS, META)
    before = (tmp_path / "f").read_bytes()

    def full(fd):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RoyaleError, match=r"f: cannot be written .no space"):
        checkpoint.save(tmp_path / "f", {}, {})
    assert (tmp_path / "f").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("cut", [0, 4, 100, -1])
def test_broken_files_are_reported_as_such(tmp_path, cut):
    checkpoint.save(tmp_path / "f", ARRAYS, META)
    data = (tmp_path / "f").read_bytes()
    (tmp_path / "f").write_bytes(data[:cut])
    with pytest.raises(checkpoint.FileError, match="not a readable"):
        checkpoint.load(tmp_path / "f")
    with pytest.raises(FileNotFoundError):
        checkpoint.load(tmp_path / "missing")


def test_safetensors_of_others_are_refused(tmp_path):
    import safetensors.numpy

    safetensors.numpy.save_file({"x": np.zeros(1)}, tmp_path / "f")
    with pytest.raises(checkpoint.FileError, match="royale"):
        checkpoint.load(tmp_path / "f")


def test_a_trainers_state_round_trip_is_exact(make_plan, tmp_path):
    plan = make_plan(optimizer="muon", symmetry="per_episode")
    one, two = Trainer(plan), Trainer(plan)
    one.start()
    one.iterate()
    checkpoint.save(tmp_path / "one", *one.state())
    two.load_state(*checkpoint.load(tmp_path / "one"), tmp_path / "one")
    checkpoint.save(tmp_path / "two", *two.state())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    names = set(one.state()[0])
    for kind in ("weights/", "ema/", "optimizer/adamw/", "optimizer/muon/", "game/", "actors/"):
        assert any(name.startswith(kind) for name in names), kind


def test_weights_files_of_another_network_show_both_layouts(make_plan, tmp_path):
    plan = make_plan()
    trainer = Trainer(plan)
    checkpoint.save_weights(tmp_path / "w", trainer.network, {"game": "toy"})
    recipe = dataclasses.replace(Recipe.from_dict(plan.recipe), channels=12)
    other = build_network(trainer.spec, recipe, 0)
    arrays, meta = checkpoint.load(tmp_path / "w")
    with pytest.raises(untrusted.LayoutError) as error:
        checkpoint.load_network(other, arrays, meta, tmp_path / "w", "ema")
    assert "stem.weight (12, 6, 3, 3) float32" in str(error.value)
    assert "stem.weight (8, 6, 3, 3) float32" in str(error.value)


def test_identity_is_what_was_asked(make_plan):
    plan = make_plan(optimizer="muon", value_head="hl_gauss", encoder="wide")
    live = identity.live_identity(Trainer(plan))
    identity.assert_identity(identity.asked_identity(plan), live)
    json.dumps(live)
    assert live["planes"] == 7 and live["encoder"] == "wide"
    assert live["value_head"] == "hl_gauss"
    assert set(live["optimizers"]) == {"AdamW", "Muon"}
    assert sum(o["parameters"] for o in live["optimizers"].values()) == live["parameters"]
    assert live["recurrent_state_shape"] is None
    assert live["action_shape"] == {"planes": 4, "global": 1, "flat": 65}
    assert live["dtype"] == "float32" and live["device"] == "cpu"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"optimizer": "muon"}, r"asked optimizer_classes: \['AdamW', 'Muon'\], found \['AdamW'\]"),
        ({"value_head": "hl_gauss"}, "asked value_head: hl_gauss, found scalar"),
        ({"blocks": 3}, "asked blocks: 3, found 1"),
        ({"encoder": "wide"}, "asked planes: 7, found 6"),
        ({"gamma": 0.5}, "asked recipe.gamma: 0.5, found 0.997"),
        ({"shaping": {"land": 1.0}}, r"asked recipe.shaping: {'land': 1.0}, found {}"),
        ({"envs": 9}, "asked envs: 9, found 8"),
    ],
)
def test_every_difference_is_refused(make_plan, change, line):
    live = identity.live_identity(Trainer(make_plan()))
    with pytest.raises(identity.IdentityError, match=line):
        identity.assert_identity(identity.asked_identity(make_plan(**change)), live)


def test_parameters_that_no_optimizer_covers_are_refused(make_plan):
    plan = make_plan()
    live = identity.live_identity(Trainer(plan))
    live["optimizers"]["AdamW"]["parameters"] -= 8
    with pytest.raises(identity.IdentityError, match="asked optimized parameters"):
        identity.assert_identity(identity.asked_identity(plan), live)


def test_the_plans_fingerprint_is_of_what_decides_the_result(make_plan, tmp_path):
    base = make_plan().fingerprint()
    assert make_plan(checkpoint_seconds=1.0, checkpoint_iterations=2).fingerprint() == base
    for change in ({"seed": 1}, {"arm": "x"}, {"steps": 1}, {"threads": 2}, {"gamma": 0.5}):
        assert make_plan(**change).fingerprint() != base
    files = [tmp_path / name for name in "abc"]
    for file, text in zip(files, ("same", "same", "other"), strict=True):
        file.write_text(text)
    one, two, three = (make_plan(start="weights", start_file=file).fingerprint() for file in files)
    assert one == two != three


def test_senseless_plans_are_refused(make_plan):
    plan = make_plan()
    assert isinstance(plan, SegmentPlan)
    with pytest.raises(ValueError, match="start:"):
        dataclasses.replace(plan, start="nowhere")
    with pytest.raises(ValueError, match="start_file"):
        dataclasses.replace(plan, start="weights")
    with pytest.raises(ValueError, match="at least 1"):
        dataclasses.replace(plan, envs=0)
    assert plan.steps_per_iteration == 192
    assert dataclasses.replace(plan, steps=193).iterations == 2
