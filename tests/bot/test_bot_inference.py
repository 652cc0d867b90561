"""The numpy network against slow convolutions, torch and onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from bot_helpers import COMPETITION, TINY, save_champion

from royale.bot import bundle, choose
from royale.bot.inference import Net, OutOfTime
from royale.bot.winograd import Winograd, matrices, tile_size
from royale.export import onnx_graph
from royale.export.export import bundle_of
from royale.learn.player import NetworkPlayer


def slow_convolution(x, weight, bias):
    """x (H, W, I), weight (O, I, 3, 3) -> (H*W, O), by its definition."""
    height, width, _ = x.shape
    padded = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    out = np.zeros((height, width, len(weight)))
    for row in range(height):
        for column in range(width):
            window = padded[row : row + 3, column : column + 3]
            out[row, column] = np.einsum("rci,oirc->o", window, weight) + bias
    return out.reshape(height * width, -1)


@pytest.mark.parametrize(
    ("height", "width"), [(1, 1), (2, 3), (4, 4), (5, 6), (8, 8), (9, 13), (21, 21)]
)
def test_winograd_is_the_convolution(height, width):
    rng = np.random.default_rng(height * width)
    conv = Winograd(height, width, 6)
    for n_in, n_out in ((6, 4), (3, 6)):
        x = rng.normal(size=(height, width, n_in))
        weight, bias = rng.normal(size=(n_out, n_in, 3, 3)), rng.normal(size=n_out)
        padded = conv.padded(n_in)
        padded[1 : height + 1, 1 : width + 1] = x
        got = conv.convolve(padded, conv.filter(weight), bias.astype(np.float32))
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, slow_convolution(x, weight, bias), atol=1e-4)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_minimal_filtering_in_one_dimension(m):
    output, filter_, data = matrices(m)
    g, d = np.arange(1.0, 4.0), np.arange(m + 2.0) ** 2
    expected = [g @ d[k : k + 3] for k in range(m)]
    np.testing.assert_allclose(output @ ((filter_ @ g) * (data @ d)), expected, atol=1e-9)


def test_the_tile_of_the_competitions_canvas_wastes_nothing():
    assert tile_size(21, 21) == 3
    assert tile_size(8, 8) == 4


@pytest.mark.parametrize(
    ("settings", "recipe"),
    [
        (TINY, {"encoder": "base", "channels": 8, "blocks": 1}),
        (TINY, {"encoder": "history", "channels": 40, "blocks": 3, "value_head": "hl_gauss"}),
        (COMPETITION, {"encoder": "history", "channels": 24, "blocks": 2}),
    ],
)
def test_forward_is_torchs_and_onnxruntimes(tmp_path, settings, recipe):
    champion = save_champion(tmp_path / "champion.safetensors", settings, **recipe)
    made = bundle_of(champion)
    (tmp_path / "bot.npz").write_bytes(bundle.packed(made))
    net, player = Net(bundle.read(tmp_path / "bot.npz")), NetworkPlayer(champion)
    onnx_graph.write(tmp_path / "bot.onnx", made.weights, made.meta)
    shape = (3, len(made.meta["planes"]), net.side, net.side)
    planes = np.random.default_rng(0).random(shape, np.float32)
    with torch.inference_mode():
        logits, value = (x.numpy() for x in player.network(torch.from_numpy(planes)))
    assert np.ptp(logits, axis=1).min() > 0.05  # a test of zeros would be none
    for k in range(3):
        mine = net.forward(planes[k])
        np.testing.assert_allclose(mine[0], logits[k], atol=2e-5)
        np.testing.assert_allclose(mine[1], value[k], atol=2e-5)
        assert choose.greedy(mine[0], np.ones(logits.shape[1], bool)) == logits[k].argmax()
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(
        str(tmp_path / "bot.onnx"), providers=["CPUExecutionProvider"]
    )
    theirs = session.run(None, {"planes": planes})
    np.testing.assert_allclose(theirs[0], logits, atol=2e-5)
    np.testing.assert_allclose(theirs[1], value, atol=2e-5)


def test_files_are_the_same_every_time(tmp_path):
    made = bundle_of(save_champion(tmp_path / "champion.safetensors"))
    for name in "ab":
        (tmp_path / f"{name}.npz").write_bytes(bundle.packed(made))
        onnx_graph.write(tmp_path / f"{name}.onnx", made.weights, made.meta)
    for kind in ("npz", "onnx"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_a_pass_can_be_given_up_between_stages(tiny):
    net = Net(bundle.read(tiny))
    planes = np.zeros((45, net.side, net.side), np.float32)
    asked = []
    net.forward(planes, lambda left: asked.append(left) or True)
    assert asked == [4, 3, 2, 1]
    with pytest.raises(OutOfTime):
        net.forward(planes, lambda left: left > 2)


def test_sampling_follows_the_policy():
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))
    legal = np.array([True, True, False, True])
    uniforms = (np.arange(850) + 0.5) / 850
    counts = np.bincount([choose.sample(logits, legal, u) for u in uniforms], minlength=4)
    np.testing.assert_allclose(counts, [500, 300, 0, 50], atol=1)
    assert choose.greedy(logits[::-1], legal) == 3


def edit(bundle_file, to, change):
    with np.load(bundle_file) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(to, **arrays)
    return to


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a: a.pop("meta"), "not a whole"),
        (lambda a: a.pop("stem.bias"), "stem.bias"),
        (lambda a: a.update({"stem.bias": a["stem.bias"][1:]}), "stem.bias"),
        (lambda a: a["stem.bias"].fill(np.nan), "not finite"),
        (lambda a: a.update(extra=np.zeros(3, np.float32)), "extra"),
        (lambda a: a.update(meta=np.frombuffer(b"{}", np.uint8)), "format"),
        (lambda a: a.update(meta=np.frombuffer(b"[1]", np.uint8)), "object"),
        (lambda a: a.update(policy=np.array([{}], object)), "not a whole"),
    ],
)
def test_a_bundle_that_is_not_right_is_refused_in_one_line(tiny, tmp_path, change, said):
    path = edit(tiny, tmp_path / "bad.npz", change)
    with pytest.raises(bundle.BundleError, match=said) as caught:
        bundle.read(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
