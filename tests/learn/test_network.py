"""The network, its optimizers and its moving average."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
import toy_game

from royale.learn.network import (
    Network,
    build_network,
    initialise,
    layout_fingerprint,
    parameter_count,
)
from royale.learn.optimizer import NetworkOptimizer
from royale.learn.recipe import Recipe

SMALL = dataclasses.replace(Recipe(), channels=8, blocks=2)
SPEC = toy_game.GAME.spec(toy_game.SETTINGS, "base")


def test_the_paper_scale_network_has_its_size():
    count = parameter_count(Network(31, 192, 6, 9, 1, 1))
    assert count == pytest.approx(2.72e6, rel=0.005)


def test_shapes_on_any_board():
    network = Network(5, 8, 1, 4, 2, 1)
    for h, w in ((4, 4), (3, 7), (21, 21)):
        logits, value = network(torch.zeros(2, 5, h, w))
        assert logits.shape == (2, 4 * h * w + 2)
        assert value.shape == (2, 1)


def test_flat_actions_are_plane_major():
    """A head that reads only plane p must move only the logits p*H*W ... (p+1)*H*W - 1."""
    network = Network(2, 8, 1, 3, 1, 1)
    planes = torch.randn(1, 2, 4, 5, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        before = network(planes)[0]
        network.policy.bias[1] += 1.0
        change = (network(planes)[0] - before)[0]
        assert torch.allclose(change[20:40], torch.ones(20), atol=1e-5)
        assert change[:20].abs().max() < 1e-6 and change[40:].abs().max() < 1e-6
        network.policy.bias[3] += 1.0
        assert (network(planes)[0] - before)[0, -1].item() == pytest.approx(1.0, abs=1e-5)


def test_the_start_is_near_uniform_and_depth_is_harmless():
    planes = torch.randn(16, len(SPEC.planes), 4, 4, generator=torch.Generator().manual_seed(0))
    logits, value = build_network(SPEC, SMALL, 1)(planes)
    assert logits.std() < 0.1
    assert value.abs().max() < 0.1
    shallow = build_network(SPEC, SMALL, 1)
    deep = build_network(SPEC, dataclasses.replace(SMALL, blocks=12), 1)
    x = torch.randn(4, 8, 4, 4, generator=torch.Generator().manual_seed(1))
    for network in (shallow, deep):
        y = x
        for block in network.blocks:
            y = block(y)
        assert (y - x).std() < 0.1


def test_initialisation_depends_on_the_seed_alone():
    torch.manual_seed(5)
    one = build_network(SPEC, SMALL, 7)
    torch.manual_seed(6)
    two, three = build_network(SPEC, SMALL, 7), build_network(SPEC, SMALL, 8)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(one.stem.weight, three.stem.weight)
    initialise(three, 7)
    assert torch.equal(one.stem.weight, three.stem.weight)


def test_the_context_sees_the_whole_board():
    network = build_network(SPEC, SMALL, 0)
    with torch.no_grad():
        for block in network.blocks:
            block.last.weight *= 100
        planes = torch.zeros(2, len(SPEC.planes), 16, 16)
        planes[1, :, 0, 0] = 5.0
        logits = network(planes)[0][:, :256].view(2, 16, 16)
    assert logits[0, 15, 15] != logits[1, 15, 15]


def test_the_layout_fingerprint_tells_layouts_apart():
    base = layout_fingerprint(build_network(SPEC, SMALL, 0))
    assert base == layout_fingerprint(build_network(SPEC, SMALL, 1))
    for change in ({"channels": 12}, {"blocks": 3}, {"value_head": "hl_gauss"}):
        other = build_network(SPEC, dataclasses.replace(SMALL, **change), 0)
        assert layout_fingerprint(other) != base
    assert layout_fingerprint(build_network(SPEC, SMALL, 0).double()) != base


def with_gradients(recipe, seed=0):
    network = build_network(SPEC, recipe, 0)
    optimizer = NetworkOptimizer(network, recipe)
    generator = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    return network, optimizer


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_every_parameter_is_stepped_by_exactly_one_optimizer(kind):
    network, optimizer = with_gradients(dataclasses.replace(SMALL, optimizer=kind))
    before = [p.detach().clone() for p in network.parameters()]
    coverage = optimizer.coverage()
    names = [name for part in coverage.values() for name in part["names"]]
    assert sorted(names) == sorted(n for n, _ in network.named_parameters())
    assert sum(part["parameters"] for part in coverage.values()) == parameter_count(network)
    assert set(coverage) == ({"AdamW"} if kind == "adamw" else {"AdamW", "Muon"})
    optimizer.step()
    assert all(p.grad is None for p in network.parameters())
    for old, parameter in zip(before, network.parameters(), strict=True):
        assert not torch.equal(old, parameter)


def test_muon_covers_the_inner_matrices():
    recipe = dataclasses.replace(SMALL, optimizer="muon")
    _, optimizer = with_gradients(recipe)
    inner = ("conv.weight", "context.weight", "last.weight")
    expected = [f"blocks.{b}.{name}" for b in range(2) for name in inner]
    assert optimizer.coverage()["Muon"]["names"] == expected


def test_muon_steps_are_nearly_orthogonal():
    """The update of each inner matrix has singular values near one common value."""
    recipe = dataclasses.replace(SMALL, optimizer="muon", learning_rate=1e-2)
    network, optimizer = with_gradients(recipe)
    before = {n: p.detach().clone() for n, p in network.named_parameters()}
    optimizer.step()
    for name in optimizer.coverage()["Muon"]["names"]:
        change = (dict(network.named_parameters())[name] - before[name]).flatten(1)
        scale = 1e-2 * 0.2 * max(change.shape) ** 0.5  # AdamW's root mean square
        singular = torch.linalg.svdvals(change.detach()) / scale
        assert singular.min() > 0.4 and singular.max() < 1.4, name


def test_the_first_adamw_step_by_hand():
    recipe = dataclasses.replace(SMALL, learning_rate=0.01, weight_decay=0.5)
    network, optimizer = with_gradients(recipe)
    weight, gradient = network.stem.weight.detach().clone(), network.stem.weight.grad.clone()
    optimizer.step()
    expected = weight * (1 - 0.01 * 0.5) - 0.01 * gradient / (gradient.abs() + 1e-8)
    assert torch.allclose(network.stem.weight, expected, atol=1e-6)


def test_gradients_are_clipped_to_the_global_norm():
    network, optimizer = with_gradients(SMALL)
    norm = torch.cat([p.grad.flatten() for p in network.parameters()]).norm()
    assert optimizer.clip_gradients(1.0).item() == pytest.approx(norm.item(), rel=1e-5)
    clipped = torch.cat([p.grad.flatten() for p in network.parameters()]).norm()
    assert clipped.item() == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_optimizer_state_round_trip_continues_exactly(kind):
    recipe = dataclasses.replace(SMALL, optimizer=kind)
    one, first = with_gradients(recipe)
    first.step()
    two, second = with_gradients(recipe)
    two.load_state_dict(one.state_dict())
    stored = {k: v.clone() for k, v in first.state_tensors().items()}
    assert all(isinstance(v, torch.Tensor) for v in stored.values())
    second.load_state_tensors(stored)
    for network, optimizer in ((one, first), (two, second)):
        generator = torch.Generator().manual_seed(9)
        for parameter in network.parameters():
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        optimizer.step()
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a, b)
    with pytest.raises(KeyError, match=r"adamw/nothing/exp_avg"):
        second.load_state_tensors({"adamw/nothing/exp_avg": torch.zeros(1)})


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="optimizer: 'sgd'"):
        with_gradients(dataclasses.replace(SMALL, optimizer="sgd"))
    with pytest.raises(ValueError, match="value_head: 'none'"):
        build_network(SPEC, dataclasses.replace(SMALL, value_head="none"), 0)


def test_numpy_and_torch_share_the_muon_views():
    network, optimizer = with_gradients(dataclasses.replace(SMALL, optimizer="muon"))
    view = optimizer._views["blocks.0.conv.weight"]
    assert view.data_ptr() == network.blocks[0].conv.weight.data_ptr()
    assert np.shares_memory(view.detach().numpy(), network.blocks[0].conv.weight.detach().numpy())
