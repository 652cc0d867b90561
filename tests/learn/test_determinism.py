"""Tiers of determinism: what each sets, and that run_exact finds what does not repeat."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from royale.learn import checkpoint, determinism, ppo
from royale.learn.segment import run_segment
from royale.learn.trainer import Trainer


@pytest.fixture(autouse=True)
def settled():
    yield
    determinism.settle("throughput", "cpu")


def test_each_tier_sets_what_it_says():
    for tier, exact in (("throughput", False), ("deterministic", True), ("run_exact", True)):
        determinism.settle(tier, "cpu")
        assert torch.are_deterministic_algorithms_enabled() == exact
        assert not torch.utils.deterministic.fill_uninitialized_memory


def test_fresh_memory_is_filled_inside_only():
    with determinism.filled():
        assert torch.empty(1000).isnan().all()
    assert not torch.are_deterministic_algorithms_enabled()
    with determinism.filled(False):
        assert not torch.utils.deterministic.fill_uninitialized_memory


def test_the_first_ten_iterations_and_every_fiftieth_are_checked():
    checked = [i for i in range(1, 160) if determinism.is_checked("run_exact", i)]
    assert checked == [*range(1, 11), 50, 100, 150]
    assert not any(determinism.is_checked("deterministic", i) for i in range(1, 160))


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_checked_run_is_the_unchecked_one_and_shows_what_it_cost(make_plan, tmp_path, optimizer):
    """Twelve iterations: the first ten are checked, the last two are not."""
    arrays, tables = [], []
    for tier in ("deterministic", "run_exact"):
        plan = make_plan(steps=12 * 192, determinism=tier, optimizer=optimizer, epochs=2)
        run_segment(plan, tmp_path / tier, tmp_path / "partial", say=lambda line: None)
        arrays.append(checkpoint.load(tmp_path / tier / "checkpoint.safetensors")[0])
        lines = (tmp_path / tier / "metrics.jsonl").read_text().splitlines()
        tables.append([json.loads(line) for line in lines])
    assert arrays[0].keys() == arrays[1].keys()
    for name in arrays[0]:
        assert np.array_equal(arrays[0][name], arrays[1][name]), name
    for plain, checked in zip(*tables, strict=True):
        assert plain["timing"]["check"] == 0
        assert (checked["timing"]["check"] > 0) == (checked["iteration"] <= 10)
        timing = checked["timing"]
        assert sum(timing.values()) == pytest.approx(checked["seconds"], abs=1e-6)
        same = ("policy_loss", "kl", "grad_norm", "optimizer_steps", "entropy")
        assert [plain[k] for k in same] == [checked[k] for k in same]


def spoiled(monkeypatch, spoil):
    honest = ppo.minibatch_losses

    def losses(*args):
        out = honest(*args)
        out.total = spoil(out.total)
        return out

    monkeypatch.setattr(ppo, "minibatch_losses", losses)


def test_an_update_that_does_not_repeat_is_found(make_plan, monkeypatch):
    calls = []
    spoiled(monkeypatch, lambda total: (calls.append(1), total * (1 + 1e-3 * len(calls)))[1])
    for tier in ("deterministic", "run_exact"):
        trainer = Trainer(make_plan(determinism=tier))
        trainer.start()
        if tier == "deterministic":
            trainer.iterate()
        else:
            with pytest.raises(ppo.TrainingError, match=r"iteration 1: .* differs in weights stem"):
                trainer.iterate()


def test_memory_that_nobody_wrote_is_found(make_plan, monkeypatch):
    """A kernel whose result hangs on what its memory held before."""
    spoiled(monkeypatch, lambda total: total * (1 + torch.empty(1).isnan().float().sum()))
    trainer = Trainer(make_plan(determinism="run_exact"))
    trainer.start()
    trainer.twice.fill = False  # without the filling the same update passes
    trainer.iterate()
    trainer.twice.fill = True
    with pytest.raises(ppo.TrainingError, match=r"iteration 2: .* differs in"):
        trainer.iterate()


def test_run_exact_has_one_thread(make_plan):
    with pytest.raises(ValueError, match="run_exact needs 1 thread of 1 process, not 2 of 1"):
        make_plan(determinism="run_exact", threads=2)
