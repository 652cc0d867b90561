"""A network as an ONNX file: of both games, the same decisions, and a wrong weight is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from royale.export import portable
from royale.files import sha256
from royale.games import load
from royale.learn import checkpoint
from royale.learn.network import build_network
from royale.learn.recipe import Recipe
from royale.project.config import load_profile
from royale.schemas import schema

ROOT = Path(__file__).resolve().parents[1]
SIZES = load_profile("smoke", ROOT)["per_game"]
SETTINGS = {game: sizes["settings"] for game, sizes in SIZES.items()}


@pytest.fixture(params=SETTINGS)
def champion(request, tmp_path):
    torch.set_num_threads(1)
    recipe = Recipe(channels=8, blocks=2)
    spec = load(request.param).spec(SETTINGS[request.param], recipe.encoder)
    network = build_network(spec, recipe, 7)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith(".last.weight") or name in ("policy.weight", "value.weight"):
                parameter.mul_(50)
    meta = {"game": request.param, "settings": SETTINGS[request.param]}
    meta |= {"recipe": recipe.to_dict(), "lineage": None}
    checkpoint.save_weights(tmp_path / "champion.safetensors", network, meta)
    return tmp_path / "champion.safetensors"


def test_both_decide_alike_and_a_wrong_weight_is_found(champion, tmp_path):
    path = tmp_path / "net.onnx"
    told = portable.write(champion, path)
    assert told["champion_sha256"] == sha256(champion)
    found = portable.compare(champion, path, 40)
    assert found["passed"] and found["moves"] >= 40 and found["logit_difference"] < 1e-3
    assert set(schema("files/onnx_parity")["required"]) == {*told, *found}
    again = tmp_path / "again.onnx"
    portable.write(champion, again)
    assert again.read_bytes() == path.read_bytes()

    model = onnx.load(path)
    names = {weight.name: weight for weight in model.graph.initializer}
    spoilt = "vector.weight" if told["game"] == "clash" else "stem.weight"
    wrong = numpy_helper.to_array(names[spoilt]) * np.float32(-1)
    names[spoilt].CopyFrom(numpy_helper.from_array(wrong, spoilt))
    onnx.save(model, path)
    assert not portable.compare(champion, path, 40)["passed"]
