"""Checkpoints from a stranger's host: whatever is in the file, one line names it and the file."""

from __future__ import annotations

import dataclasses
import json
import struct

import numpy as np
import pytest
from learner_parts import changed

from royale.learn import checkpoint, player
from royale.learn.trainer import Trainer


@pytest.fixture(scope="module")
def honest():
    """Arrays and metadata of a checkpoint after a step; not to be changed."""
    return {}


@pytest.fixture
def parts(honest, make_plan):
    if not honest:
        trainer = Trainer(make_plan(optimizer="muon"))
        trainer.start()
        trainer.iterate()
        honest["arrays"], honest["meta"] = trainer.state()
        honest["plan"] = trainer.plan
    return dict(honest["arrays"]), json.loads(json.dumps(honest["meta"])), honest["plan"]


def header(entries, metadata=None, data=b""):
    """A file of a header as it is given and some data."""
    text = json.dumps(entries | ({"__metadata__": metadata} if metadata else {})).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(begin, end, shape=(1,), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


OURS = {"royale": "{}"}
BROKEN = {
    "empty": b"",
    "a header longer than the file": struct.pack("<Q", 10**6) + b"{}",
    "a header of 2 ** 63 bytes": struct.pack("<Q", 2**63) + b"{}",
    "overlapping tensors": header({"a": tensor(0, 4), "b": tensor(2, 6)}, OURS, bytes(6)),
    "tensors over the same bytes": header({"a": tensor(0, 4), "b": tensor(0, 4)}, OURS, bytes(4)),
    "a hole": header({"a": tensor(0, 4), "b": tensor(8, 12)}, OURS, bytes(12)),
    "a tensor past the end": header({"a": tensor(0, 4000, (1000,))}, OURS, bytes(4)),
    "a shape of 2 ** 60 numbers": header({"a": tensor(0, 4, (2**30, 2**30))}, OURS, bytes(4)),
    "a shape that is not its bytes": header({"a": tensor(0, 8, (1,))}, OURS, bytes(8)),
    "a negative offset": header({"a": tensor(-4, 0)}, OURS, bytes(4)),
    "an unknown type": header({"a": tensor(0, 4, dtype="PICKLE")}, OURS, bytes(4)),
    "bytes after the last tensor": header({"a": tensor(0, 4)}, OURS, bytes(100)),
    "no metadata": header({"a": tensor(0, 4)}, None, bytes(4)),
    "metadata that is no mapping": header({}, {"royale": "[1]"}),
    "metadata that is no JSON": header({}, {"royale": "{"}),
    "metadata nested without end": header({}, {"royale": "[" * 100_000}),
    "a pickle": b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_broken_on_purpose_is_refused(tmp_path, name):
    path = tmp_path / "evil.safetensors"
    path.write_bytes(BROKEN[name])
    with pytest.raises(checkpoint.FileError, match=r"evil\.safetensors: not a readable"):
        checkpoint.load(path)


def test_a_header_over_the_limit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "evil.safetensors"
    with open(path, "wb") as file:  # sparse: it takes no space
        file.write(struct.pack("<Q", checkpoint.MOST_HEADER + 1) + b"{")
        file.truncate(2 * checkpoint.MOST_HEADER)
    monkeypatch.setattr(checkpoint.safetensors, "safe_open", None)
    with pytest.raises(checkpoint.FileError, match=f"header of {checkpoint.MOST_HEADER + 1}"):
        checkpoint.load(path)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", 2) + b"{}")
        file.truncate(checkpoint.MOST + 1)
    with pytest.raises(checkpoint.FileError, match=f"{checkpoint.MOST + 1} bytes"):
        checkpoint.load(path)


def told(**values):
    return lambda arrays, meta: meta.update(values)


TENSORS = {
    "another shape": (
        changed("weights/stem.weight", lambda a: a[:1]),
        r"weights/stem\.weight is float32 \(1, 6, 3, 3\), not float32 \(8, 6, 3, 3\)",
    ),
    "another type": (
        changed("ema/policy.bias", lambda a: a.astype(np.float64)),
        r"ema/policy\.bias is float64",
    ),
    "a weight that is no number": (
        changed("ema/policy.bias", lambda a: a * np.float32(np.nan)),
        r"ema/policy\.bias is not finite",
    ),
    "an infinite momentum": (
        changed("optimizer/muon/blocks.0.conv.weight/momentum_buffer", lambda a: a + np.inf),
        "momentum_buffer is not finite",
    ),
    "a momentum of another shape": (
        changed("optimizer/adamw/stem.bias/exp_avg", lambda a: a[:1]),
        r"stem\.bias/exp_avg is float32 \(1,\)",
    ),
    "a missing weight": (
        lambda arrays, meta: arrays.pop("ema/stem.bias"),
        r"ema/stem\.bias is missing",
    ),
    "a tensor too many": (
        lambda arrays, meta: arrays.update({"ema/backdoor": np.zeros(1, np.float32)}),
        "ema/backdoor belongs to nothing",
    ),
    "a tensor of no part": (
        lambda arrays, meta: arrays.update(loader=np.zeros(1, np.uint8)),
        "loader belongs to nothing",
    ),
    "games of another number": (
        changed("game/owner", lambda a: np.concatenate([a, a])),
        r"game/owner is int8 \(16, 16\), not int8 \(8, 16\)",
    ),
    "games of another type": (
        changed("game/turns", lambda a: a.astype(np.int64)),
        "game/turns is int64",
    ),
    "a past self too many": (
        lambda arrays, meta: arrays.update({"opponents/past/9/x": np.zeros(1, np.float32)}),
        r"past selves \['9'\]",
    ),
    "an iteration before the first": (told(first_iteration=2), r"iterations are .* 1, 2"),
    "an entropy coefficient that is no number": (
        told(entropy_coef=float("nan")),
        "entropy_coef and iterations are .nan",
    ),
    "a layout that is no layout": (told(layout=[7]), "layout cannot be read"),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_checkpoint_whose_parts_do_not_fit_is_refused(tmp_path, parts, name):
    arrays, meta, plan = parts
    change, line = TENSORS[name]
    change(arrays, meta)
    path = tmp_path / "evil.safetensors"
    checkpoint.save(path, arrays, meta)
    with pytest.raises(checkpoint.FileError, match=rf"evil\.safetensors: .*{line}"):
        Trainer(plan).load_state(*checkpoint.load(path), path)


def test_an_honest_checkpoint_is_taken(tmp_path, parts):
    arrays, meta, plan = parts
    path = tmp_path / "honest.safetensors"
    checkpoint.save(path, arrays, meta)
    trainer = Trainer(dataclasses.replace(plan))
    trainer.load_state(*checkpoint.load(path), path)
    assert trainer.iteration == 1


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda arrays, meta: meta["recipe"].update(channels=10**6), "1000000 channels"),
        (lambda arrays, meta: meta["recipe"].update(blocks=10**6), "1000000 blocks"),
        (lambda arrays, meta: meta.pop("recipe"), "no recipe with its weights: 'recipe'"),
        (lambda arrays, meta: meta.update(game="os"), "no game that is known"),
        (lambda arrays, meta: meta.update(settings=None), "no game that is known"),
        (changed("ema/stem.weight", lambda a: a * np.float32(np.inf)), "is not finite"),
    ],
)
def test_a_player_of_a_stranger_is_checked_before_its_network_is_made(
    tmp_path, parts, change, line, monkeypatch
):
    arrays, meta, _ = parts
    change(arrays, meta)
    path = tmp_path / "evil.safetensors"
    checkpoint.save(path, arrays, meta)
    if "finite" not in line:
        monkeypatch.setattr(player, "build_network", None)
    with pytest.raises(checkpoint.FileError, match=rf"evil\.safetensors: .*{line}"):
        player.NetworkPlayer(path)
