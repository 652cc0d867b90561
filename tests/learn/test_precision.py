"""Arithmetic of another precision: where it is used, what it may cost, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from learner_parts import parts

from royale.errors import ConfigError
from royale.learn import identity, ppo
from royale.learn.trainer import Trainer


def test_bf16_computes_in_bfloat16_in_both_places_and_keeps_float32_weights():
    seen = []

    def before(actors, network):
        network.policy.register_forward_hook(lambda module, given, out: seen.append(out.dtype))

    learner = parts(precision="bf16", sharp=300.0, before=before)
    assert set(seen) == {torch.bfloat16} and len(seen) == 13
    metrics = learner.updater.update(learner.rollout, 0.0, 1, 1)
    assert set(seen) == {torch.bfloat16} and len(seen) == 13 + metrics["optimizer_steps"]
    assert all(p.dtype == torch.float32 for p in learner.network.parameters())
    assert metrics["ratio_max_abs_dev"] <= 5e-2
    exact = parts(sharp=300.0)
    gap = np.abs(exact.rollout.samples.value[:16] - learner.rollout.samples.value[:16]).max()
    assert 0 < gap < 0.02


@pytest.mark.parametrize(
    ("precision", "passes", "stops"), [("fp32", 5e-4, 0.01), ("bf16", 0.01, 0.1)]
)
def test_the_on_policy_check_allows_what_the_precision_rounds(precision, passes, stops):
    for shift in (passes, stops):
        learner = parts(precision=precision)
        learner.rollout.samples.log_prob += np.float32(shift)
        if shift == passes:
            learner.updater.update(learner.rollout, 0.0, 1, 1)
        else:
            with pytest.raises(ppo.TrainingError, match="recomputed log-probabilities differ"):
                learner.updater.update(learner.rollout, 0.0, 1, 1)


def test_the_identity_tells_the_arithmetic_from_a_real_pass(make_plan):
    live = identity.live_identity(Trainer(make_plan(precision="bf16")))
    assert live["dtype"] == "float32 weights, bfloat16 arithmetic"
    identity.assert_identity(identity.asked_identity(make_plan(precision="bf16")), live)
    plain = identity.live_identity(Trainer(make_plan()))
    with pytest.raises(identity.IdentityError, match="asked dtype: float32 weights, bfloat16"):
        identity.assert_identity(identity.asked_identity(make_plan(precision="bf16")), plain)


def test_fp8_is_refused_with_the_reason(make_plan):
    line = r"'precision' = 'fp8': a CPU has no 8-bit .*; allowed: fp32, bf16"
    with pytest.raises(ConfigError, match=line):
        Trainer(make_plan(precision="fp8"))
