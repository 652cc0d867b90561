"""The learner on this game: the same with and without workers, and over a worker's death."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import torch
from clash_helpers import PROMPT

from royale.files import read_json
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.segment import run_segment
from royale.learn.trainer import Trainer

SETTINGS = {**PROMPT, "max_turns": 20}
SIZES = {"envs": 4, "horizon": 24, "steps": 2 * 192}


def plan(workers, **recipe):
    knobs = {"channels": 8, "blocks": 1, "minibatch": 64, "advantage_top": 1.0}
    knobs |= {"shaping": {"crowns": 0.2, "tower_hp": 0.2, "elixir": 0.05}}
    settings = {**SETTINGS, "workers": workers}
    names = {"generation": "c01", "arm": "root", "seed": 0, "segment": 0}
    return SegmentPlan("clash", settings, Recipe(**knobs | recipe).to_dict(), **SIZES, **names)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def trained(workers, kill=None, overlap=False):
    """The trainer after two iterations and their rows; kill: the turn that a worker dies in."""
    trainer = Trainer(plan(workers, symmetry="per_episode", overlap=overlap))
    batch, step, turns = trainer.actors.batch, trainer.actors.batch.step, []

    def killing(actions):
        turns.append(len(turns))
        if len(turns) == kill:
            os.kill(batch.workers.workers[0].process.pid, signal.SIGKILL)
        return step(actions)

    batch.step = killing
    trainer.start()
    rows = [trainer.iterate() for _ in range(2)]
    batch.close()
    return trainer, rows


@pytest.mark.parametrize("overlap", [False, True])
def test_workers_train_the_same_weights(overlap):
    weights = [
        torch.cat(
            [
                p.detach().flatten()
                for p in trained(workers, overlap=overlap)[0].network.parameters()
            ]
        )
        for workers in (0, 2)
    ]
    assert torch.equal(*weights)


def test_a_segment_may_go_on_with_other_workers_and_is_not_trained_again():
    alone, some = plan(0), plan(2)
    assert alone.fingerprint() == some.fingerprint()
    assert "workers" not in alone.continues()["settings"]
    assert some.training_settings()["workers"] == 2
    trainer = Trainer(alone)
    trainer.start()
    trainer.iterate()
    other = Trainer(some)
    other.load_state(*trainer.state(), "checkpoint")
    rows = [made.iterate() for made in (trainer, other)]
    other.actors.batch.close()
    assert rows[0]["policy_loss"] == rows[1]["policy_loss"]


@pytest.mark.parametrize("overlap", [False, True])
def test_an_iteration_is_completed_though_a_worker_is_killed(overlap):
    trainer, rows = trained(2, kill=30, overlap=overlap)
    assert trainer.actors.batch.deaths == 1
    assert [row["lost_games"] for row in rows] == [0, 2]
    assert rows[1]["rows_dropped"] > 0
    assert all(np.isfinite(row["policy_loss"]) for row in rows)
    assert rows[1]["ratio_max_abs_dev"] < 1e-3


def test_what_led_to_a_game_lost_behind_the_last_turn_is_not_valued_by_nothing():
    trainer = Trainer(plan(2))
    batch, observe, looks = trainer.actors.batch, trainer.actors.batch.observe, []

    def killing(*buffers):
        looks.append(len(looks))
        if len(looks) == 1 + SIZES["horizon"]:  # one before the first turn
            batch.workers.workers[0].process.kill()
        observe(*buffers)

    batch.observe = killing
    trainer.start()
    rows = [trainer.iterate()]
    samples = trainer.rollout.samples
    begun = [np.flatnonzero(trainer.rollout.done[:, row]).max(initial=-1) + 1 for row in range(8)]
    unfinished = samples.turn >= np.array(begun)[samples.row]
    assert np.array_equal(samples.dropped, unfinished & (samples.row < 4))
    assert rows[0]["rows_dropped"] == samples.dropped.sum() > 0
    rows.append(trainer.iterate())
    batch.close()
    assert [row["lost_games"] for row in rows] == [0, 2]


def test_an_approximate_symmetry_warns_at_the_start(tmp_path):
    said = []
    small = plan(0, symmetry="per_episode")
    run_segment(small, tmp_path / "out", tmp_path / "partial", lambda row, total: None, said.append)
    lines = [line for line in said if line.startswith("warning: symmetry: per_episode: ")]
    assert len(lines) == 1 and "docs/clash.md" in lines[0]
    engine = read_json(tmp_path / "out/identity.json", "identity")["engine"]
    assert engine["engine"] == "royalesim 0.1.42"
    assert engine["command delay"] == "0 ticks (0 ms)"  # PROMPT's
