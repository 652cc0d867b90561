"""Advantages, losses, entropy floor, value codec: each against an independent statement."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from royale.learn import entropy
from royale.learn.advantage import gae, normalise, select_top
from royale.learn.losses import (
    approximate_kl,
    clipped_surrogate,
    masked_policy,
    masked_policy_dense,
    normalised_entropy,
)
from royale.learn.ppo import explained_variance, split_evenly
from royale.learn.recipe import Recipe
from royale.learn.sampling import pack_legal, unpack_legal
from royale.learn.value import BINS, ValueCodec


def gae_of(rewards, values, dones, last, gamma, lam):
    """One row's advantages, with a decision where the value is not None."""
    turn = np.array([t for t, value in enumerate(values) if value is not None])
    return gae(
        np.array(rewards, np.float32)[:, None],
        np.array(dones)[:, None],
        turn,
        np.zeros(turn.size, int),
        np.array([value for value in values if value is not None], np.float32),
        np.array([last], np.float32),
        gamma,
        lam,
    )


def test_gae_with_lambda_1_is_the_discounted_return_less_the_value():
    advantages = gae_of([0, 0, 1], [0.1, 0.2, 0.3], [False, False, True], 9.0, 0.5, 1.0)
    assert advantages == pytest.approx([0.25 - 0.1, 0.5 - 0.2, 1 - 0.3])


def test_gae_with_lambda_0_is_the_one_step_error():
    advantages = gae_of([1, 2, 3], [4, 5, 6], [False] * 3, 7.0, 0.5, 0.0)
    assert advantages == pytest.approx([1 + 2.5 - 4, 2 + 3 - 5, 3 + 3.5 - 6])


def test_an_unfinished_game_bootstraps_from_the_last_value():
    assert gae_of([0], [0.5], [False], 1.0, 0.9, 0.7) == pytest.approx([0.9 - 0.5])


def test_the_end_of_a_game_cuts_the_future_whatever_ended_it():
    """Truncated or won, nothing flows back over the boundary and nothing is bootstrapped."""
    advantages = gae_of([0, -0.25, 5], [0.1, 0.2, 0.3], [False, True, False], 9.0, 0.9, 0.8)
    second = -0.25 - 0.2
    assert advantages[1] == pytest.approx(second)
    assert advantages[0] == pytest.approx(0.9 * 0.2 - 0.1 + 0.72 * second)


def test_a_transition_over_turns_without_a_choice_by_hand():
    """Decisions at turns 0 and 3 of 5: k = 3, then 2 turns to the horizon."""
    rewards, values = [1, 2, 3, 4, 5], [10.0, None, None, 20.0, None]
    gamma, lam, last = 0.5, 0.8, 40.0
    second = 4 + 0.5 * 5 + 0.25 * last - 20
    first = 1 + 0.5 * 2 + 0.25 * 3 + 0.125 * 20 - 10 + (gamma * lam) ** 3 * second
    got = gae_of(rewards, values, [False] * 5, last, gamma, lam)
    assert got == pytest.approx([first, second])
    # a game that ends between them pays the first and knows nothing of the second
    ended = gae_of(rewards, values, [False, True, False, False, False], last, gamma, lam)
    assert ended == pytest.approx([1 + 0.5 * 2 - 10, second])
    # turns before the first decision belong to nobody
    assert gae_of([7] * 3, [None, None, 1.0], [False] * 3, 2.0, 0.5, 0.9) == pytest.approx([7])


def dense_gae(rewards, values, dones, last, gamma, lam):
    """Every turn's advantage (T, R), as a plain sum of discounted one-turn errors."""
    horizon, rows = rewards.shape
    following = np.concatenate([values[1:], last[None]])
    alive = 1.0 - dones
    errors = rewards + gamma * following * alive - values
    out = np.zeros((horizon, rows))
    for r in range(rows):
        for t in range(horizon):
            weight = 1.0
            for k in range(t, horizon):
                out[t, r] += weight * errors[k, r]
                weight *= gamma * lam * alive[k, r]
    return out


@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.5, 1.0),
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    st.sampled_from([0.0, 0.15, 0.5]),
)
@settings(max_examples=60, deadline=None)
def test_advantages_are_those_of_the_dense_computation(seed, gamma, lam, share, ends):
    """Where a turn without a choice is worth its reward and what comes after it."""
    rng, horizon, rows = np.random.default_rng(seed), 9, 3
    rewards, values = rng.normal(size=(2, horizon, rows)).astype(np.float32)
    dones, last = rng.random((horizon, rows)) < ends, rng.normal(size=rows).astype(np.float32)
    chose = rng.random((horizon, rows)) < share
    turn, row = np.nonzero(chose)
    got = gae(rewards, dones, turn, row, values[chose], last, gamma, lam)
    full, after = values.astype(np.float64), last.astype(np.float64)
    for t in range(horizon - 1, -1, -1):
        full[t] = np.where(chose[t], full[t], rewards[t] + gamma * after * ~dones[t])
        after = full[t]
    expected = dense_gae(rewards, full, dones, last, gamma, lam)
    assert got == pytest.approx(expected[chose], abs=1e-5)
    assert np.allclose(expected[~chose], (gamma * lam * after_of(expected, dones))[~chose])


def after_of(advantages, dones):
    """The next turn's advantage, 0 past an end: a turn without a choice has no error of its own."""
    return np.concatenate([advantages[1:], np.zeros((1, advantages.shape[1]))]) * ~dones


def test_normalised_advantages_have_mean_0_and_deviation_1():
    values = np.random.default_rng(0).normal(3, 5, 77).astype(np.float32)
    out = normalise(values, np.ones(77, bool))
    assert out.mean() == pytest.approx(0, abs=1e-6)
    assert out.std() == pytest.approx(1, abs=1e-5)
    assert not normalise(np.full(9, 2.0, np.float32), np.ones(9, bool)).any()


def test_advantages_are_normalised_by_those_of_choices_alone():
    values, choice = np.array([1.0, 3.0, 100.0], np.float32), np.array([True, True, False])
    assert normalise(values, choice) == pytest.approx([-1, 1, 98])
    assert not normalise(values, np.zeros(3, bool)).any()
    assert not normalise(values, np.array([True, False, False])).any()


@pytest.mark.parametrize(
    ("n", "fraction", "count"),
    [(8, 0.25, 2), (9, 0.25, 3), (30, 0.1, 3), (5, 1.0, 5), (5, 0.01, 1)],
)
def test_the_top_fraction_has_exactly_that_many(n, fraction, count):
    advantages = np.random.default_rng(n).normal(size=n).astype(np.float32)
    chosen = select_top(advantages, fraction)
    assert chosen.size == count
    kept, left = np.abs(advantages[chosen]), np.abs(np.delete(advantages, chosen))
    assert left.size == 0 or kept.min() >= left.max()
    assert (np.diff(chosen) > 0).all()


def test_ties_of_the_top_fraction_go_to_the_lowest_index():
    advantages = np.array([1, -2, 2, -1, 2, 1], np.float32)
    assert select_top(advantages, 0.5).tolist() == [1, 2, 4]
    assert select_top(advantages, 2 / 6).tolist() == [1, 2]
    assert select_top(advantages, 4 / 6).tolist() == [0, 1, 2, 4]


def test_the_clipped_surrogate_by_hand():
    ratio = torch.tensor([1.5, 0.5, 1.5, 0.5, 1.1])
    advantages = torch.tensor([1.0, 1.0, -1.0, -1.0, 2.0])
    # the lesser of both: clipped where the ratio went too far the good way only
    expected = [1.2, 0.5, -1.5, -0.8, 2.2]
    loss = clipped_surrogate(ratio.log(), advantages, 0.2)
    assert loss.item() == pytest.approx(-sum(expected) / 5)


def test_the_clipped_surrogate_has_no_gradient_beyond_the_clip():
    log_ratio = torch.tensor([1.5, 0.5, 1.5, 0.5]).log().requires_grad_()
    clipped_surrogate(log_ratio, torch.tensor([1.0, 1.0, -1.0, -1.0]), 0.2).backward()
    assert log_ratio.grad.tolist() == pytest.approx([0.0, -0.5 / 4, 1.5 / 4, 0.0])


def test_the_kl_estimate_is_never_negative_and_second_order():
    log_ratio = torch.tensor([0.01, -0.01])
    assert approximate_kl(log_ratio).item() == pytest.approx(0.5e-4, rel=1e-2)
    assert approximate_kl(torch.zeros(3)).item() == 0.0


def policy_case(seed=0, rows=9, actions=21):
    rng = np.random.default_rng(seed)
    legal = (rng.random((rows, actions)) < 0.4).astype(np.uint8)
    legal[:, 3] = 1
    legal[0] = 0
    legal[0, 5] = 1  # a row with one legal action
    action = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
    logits = rng.normal(0, 3, (rows, actions)).astype(np.float32)
    logits[legal == 0] += 50.0  # an illegal action must not leak however attractive
    return torch.from_numpy(logits), legal, torch.from_numpy(action)


def test_masked_policy_by_hand():
    logits = torch.tensor([[0.0, math.log(3.0), 99.0]])
    legal = pack_legal(np.array([[1, 1, 0]], np.uint8))
    log_prob, spread = masked_policy(logits, torch.from_numpy(legal), torch.tensor([1]))
    assert log_prob.item() == pytest.approx(math.log(0.75))
    assert spread.item() == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))


def test_masked_policy_agrees_with_torch_and_with_its_gradient():
    logits, legal, action = policy_case()
    packed, mask = torch.from_numpy(pack_legal(legal)), torch.from_numpy(legal).bool()
    assert torch.equal(unpack_legal(packed, legal.shape[1]), mask)
    weights = torch.randn(2, len(action), generator=torch.Generator().manual_seed(1))
    gradients = []
    for function, where in ((masked_policy, packed), (masked_policy_dense, mask)):
        leaf = logits.clone().requires_grad_()
        log_prob, spread = function(leaf, where, action)
        (log_prob * weights[0] + spread * weights[1]).sum().backward()
        gradients.append((log_prob.detach(), spread.detach(), leaf.grad))
    for mine, theirs in zip(*gradients, strict=True):
        assert torch.isfinite(mine).all() and torch.isfinite(theirs).all()
        assert torch.allclose(mine, theirs, atol=2e-6)
    log_prob, spread, gradient = gradients[0]
    assert log_prob[0] == 0 and spread[0] == 0
    assert not gradient[~mask].any()


def test_masked_policy_gradient_is_the_finite_difference():
    logits, legal, action = policy_case(2, rows=3, actions=10)
    mask = torch.from_numpy(legal).bool()

    def loss(values):
        log_prob, spread = masked_policy_dense(values, mask, action)
        return (log_prob - 0.3 * spread).sum()

    leaf = logits.clone().requires_grad_()
    log_prob, spread = masked_policy(leaf, torch.from_numpy(pack_legal(legal)), action)
    (log_prob - 0.3 * spread).sum().backward()
    wide, step = logits.double(), 1e-5
    for r in range(3):
        for a in range(10):
            up, down = wide.clone(), wide.clone()
            up[r, a] += step
            down[r, a] -= step
            slope = (loss(up) - loss(down)) / (2 * step)
            assert leaf.grad[r, a].item() == pytest.approx(slope.item(), abs=1e-5)


def test_normalised_entropy_is_a_share_and_0_for_one_action():
    got = normalised_entropy(torch.tensor([math.log(5), 0.0, 0.5]), torch.tensor([5, 1, 3]))
    assert got.tolist() == pytest.approx([1.0, 0.0, 0.5 / math.log(3)])


@pytest.mark.parametrize("slope", [1.0, 4.0])
def test_the_entropy_floor_holds_without_being_a_bonus(slope):
    """A policy whose entropy decays by itself, and rises with the coefficient."""
    floor, level, coefficient = 0.2, 0.9, entropy.SMALLEST
    levels, coefficients = [], []
    for _ in range(2000):
        # the pull of the reward shrinks with what is left; the bonus pushes back
        level = min(1.0, max(0.0, level + 0.02 * (slope * coefficient - 0.1) * level * 10))
        coefficient = entropy.next_coefficient(coefficient, level, floor)
        levels.append(level)
        coefficients.append(coefficient)
    first_below = next(i for i, x in enumerate(levels) if x < floor)
    assert max(coefficients[:first_below]) == entropy.SMALLEST
    assert np.mean(levels[-1000:]) == pytest.approx(floor, abs=0.1)
    assert max(coefficients) > 100 * entropy.SMALLEST
    # above the floor it vanishes again
    for _ in range(100):
        coefficient = entropy.next_coefficient(coefficient, 0.9, floor)
    assert coefficient == entropy.SMALLEST


HL = dataclasses.replace(Recipe(), value_head="hl_gauss")


def test_hl_gauss_decodes_what_it_encodes():
    codec = ValueCodec(HL)
    target = torch.linspace(-1, 1, 41)
    probabilities = codec.encode(target)
    assert probabilities.shape == (41, BINS)
    assert torch.allclose(probabilities.sum(1), torch.ones(41), atol=1e-6)
    assert torch.allclose(codec.decode(torch.log(probabilities + 1e-30)), target, atol=1e-4)


def test_hl_gauss_bins_are_gaussian_mass():
    codec, target = ValueCodec(HL), 0.3
    edges = np.linspace(-codec.support, codec.support, BINS + 1)
    cdf = [0.5 * (1 + math.erf((e - target) / (codec.sigma * math.sqrt(2)))) for e in edges]
    got = codec.encode(torch.tensor([target]))[0].numpy()
    assert np.allclose(got, np.diff(cdf) / (cdf[-1] - cdf[0]), atol=1e-5)


def test_hl_gauss_gradient_is_softmax_less_target():
    codec = ValueCodec(HL)
    outputs = torch.randn(5, BINS, generator=torch.Generator().manual_seed(0)).requires_grad_()
    target = torch.tensor([-1.0, -0.2, 0.0, 0.7, 1.0])
    codec.loss(outputs, target).backward()
    expected = (torch.softmax(outputs.detach(), 1) - codec.encode(target)) / 5
    assert torch.allclose(outputs.grad, expected, atol=1e-7)


def test_the_scalar_value_loss_by_hand_and_the_support_of_shaped_returns():
    codec = ValueCodec(Recipe())
    outputs = torch.tensor([[0.5], [-1.0]])
    assert codec.loss(outputs, torch.tensor([1.0, 1.0])).item() == pytest.approx(0.5 * 4.25 / 2)
    assert codec.decode(outputs).tolist() == [0.5, -1.0]
    shaped = dataclasses.replace(HL, shaping={"land": -0.5, "army": 0.25})
    assert ValueCodec(shaped).support == pytest.approx(1.85)
    # a draw that costs more than a loss is the furthest return
    costly = dataclasses.replace(shaped, draw_reward=-1.5)
    assert ValueCodec(costly).support == pytest.approx(2.35)


@given(st.integers(1, 500), st.integers(1, 100))
@settings(max_examples=50, deadline=None)
def test_minibatches_are_near_equal_and_complete(n, largest):
    parts = split_evenly(np.arange(n), largest)
    sizes = [p.size for p in parts]
    assert np.array_equal(np.concatenate(parts), np.arange(n))
    assert max(sizes) <= largest and max(sizes) - min(sizes) <= 1
    assert len(parts) == math.ceil(n / largest)


def test_explained_variance():
    returns = np.array([1.0, 2.0, 3.0], np.float32)
    assert explained_variance(returns, returns) == 1.0
    assert explained_variance(np.full(3, 2.0, np.float32), returns) == pytest.approx(0.0)
    assert explained_variance(returns, np.ones(3, np.float32)) == 0.0
