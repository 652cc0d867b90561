"""Sampling: frequencies, log-probabilities, edge cases; the torch path agrees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from royale import rng
from royale.learn import sampling
from royale.learn.sampling import pack_legal, sample


def case(rows=64, actions=77, seed=0, scale=3.0):
    rng_ = np.random.default_rng(seed)
    legal = (rng_.random((rows, actions)) < 0.3).astype(np.uint8)
    legal[:, -1] = 1
    logits = rng_.normal(0, scale, (rows, actions)).astype(np.float32)
    return torch.from_numpy(logits), legal, rng_.random(rows)


def test_actions_are_legal_and_log_probs_are_those_of_torch():
    logits, legal, uniforms = case()
    drawn = sample(logits, pack_legal(legal), uniforms)
    rows = np.arange(len(legal))
    assert legal[rows, drawn.action].all()
    mask = torch.from_numpy(legal).bool()
    expected = torch.log_softmax(logits.double().masked_fill(~mask, -torch.inf), 1)
    assert np.allclose(drawn.log_prob, expected.numpy()[rows, drawn.action], atol=1e-6)
    probs = expected.exp().numpy()
    spread = -(probs * np.where(legal, expected.numpy(), 0)).sum(1)
    assert np.allclose(drawn.entropy, spread, atol=1e-6)
    assert np.array_equal(drawn.n_legal, legal.sum(1))


def test_frequencies_follow_the_softmax():
    n = 40_000
    logits = torch.tensor([[0.0, 1.0, 9.0, -1.0, 2.0, 0.5, 9.0, -2.0, 1.5]]).expand(n, -1)
    legal = np.array([[1, 1, 0, 1, 1, 1, 0, 1, 1]], np.uint8).repeat(n, 0)
    uniforms = rng.uniform(rng.fold(rng.key_of("frequencies"), np.arange(n)))
    drawn = sample(logits, pack_legal(legal), uniforms)
    mask = torch.from_numpy(legal[:1]).bool()
    probs = torch.softmax(logits[:1].masked_fill(~mask, -torch.inf), 1)[0].double().numpy()
    counts = np.bincount(drawn.action, minlength=9)
    kept = legal[0] == 1
    assert counts[~kept].sum() == 0
    expected = probs[kept] / probs[kept].sum() * n
    assert stats.chisquare(counts[kept], expected).pvalue > 0.001


@pytest.mark.parametrize("greedy", [False, True])
def test_the_torch_path_draws_the_same(greedy):
    logits, legal, uniforms = case(rows=500)
    one = sample(logits, pack_legal(legal), uniforms, greedy)
    two = sampling._sample_torch(logits, pack_legal(legal), uniforms, greedy)
    assert np.array_equal(one.action, two.action)
    assert np.array_equal(one.n_legal, two.n_legal)
    assert np.allclose(one.log_prob, two.log_prob, atol=1e-6)
    assert np.allclose(one.entropy, two.entropy, atol=1e-6)


def test_greedy_takes_the_greatest_legal_logit_and_the_first_of_equals():
    logits = torch.tensor([[5.0, 1.0, 3.0, 3.0], [0.0, 0.0, 0.0, 0.0]])
    legal = np.array([[0, 1, 1, 1], [0, 0, 1, 1]], np.uint8)
    for function in (sample, sampling._sample_torch):
        drawn = function(logits, pack_legal(legal), np.zeros(2), True)
        assert drawn.action.tolist() == [2, 2]


def test_one_legal_action_and_actions_without_weight():
    logits = torch.tensor([[0.0, 0.0, 0.0], [0.0, -1e5, -1e5]])
    legal = np.array([[0, 1, 0], [1, 1, 1]], np.uint8)
    for function in (sample, sampling._sample_torch):
        drawn = function(logits, pack_legal(legal), np.array([0.5, np.nextafter(1, 0)]), False)
        assert drawn.action.tolist() == [1, 0]
        assert drawn.log_prob.tolist() == [0.0, 0.0]
        assert drawn.entropy.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("function", [sample, sampling._sample_torch])
def test_bad_rows_are_named(function):
    logits, legal, uniforms = case(rows=4)
    broken = logits.clone()
    broken[2, -1] = torch.nan
    with pytest.raises(FloatingPointError, match="row 2"):
        function(broken, pack_legal(legal), uniforms, False)
    legal[1] = 0
    with pytest.raises(FloatingPointError, match="row 1"):
        function(logits, pack_legal(legal), uniforms, False)


def test_more_actions_than_a_multiple_of_eight():
    """The packing's padding bits are never actions."""
    for actions in range(1, 18):
        legal = np.ones((1, actions), np.uint8)
        drawn = sample(torch.zeros(1, actions), pack_legal(legal), np.array([0.999]))
        assert drawn.action[0] == actions - 1
        assert drawn.n_legal[0] == actions
