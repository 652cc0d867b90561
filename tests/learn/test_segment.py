"""Segments: exact resumption, killed processes, arms that differ, errors that speak."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from segments import Killed, killer, rows, train

from royale.learn import checkpoint, ppo, untrusted
from royale.learn.segment import run_segment

HERE = Path(__file__).parent


def test_a_segment_leaves_its_three_files_and_no_partial_work(make_plan, tmp_path):
    plan = make_plan()
    seen = []
    _, meta = train(plan, tmp_path, lambda row, total: seen.append((row["agent_steps"], total)))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint.safetensors",
        "identity.json",
        "metrics.jsonl",
    ]
    assert seen == [(192, 768), (384, 768), (576, 768), (768, 768)]
    assert (meta["iteration"], meta["agent_steps"]) == (4, 768)
    table = rows(tmp_path)
    assert [r["iteration"] for r in table] == [1, 2, 3, 4]
    assert [r["agent_steps"] for r in table] == [192, 384, 576, 768]
    for row in table:
        assert sum(row["timing"].values()) == pytest.approx(row["seconds"], abs=1e-6)
        assert row["ratio_max_abs_dev"] < 1e-5


@pytest.mark.parametrize("change", [{}, {"optimizer": "muon"}, {"shaping": {"land": 0.5}}])
def test_two_segments_are_one_long_one(make_plan, tmp_path, change):
    plan = make_plan(symmetry="per_episode", **change)
    whole, whole_meta = train(dataclasses.replace(plan, steps=2 * plan.steps), tmp_path / "whole")
    train(plan, tmp_path / "0")
    start = tmp_path / "0" / "checkpoint.safetensors"
    second = dataclasses.replace(plan, segment=1, start="checkpoint", start_file=start)
    parts, parts_meta = train(second, tmp_path / "1")
    assert whole.keys() == parts.keys()
    for name in whole:
        assert np.array_equal(whole[name], parts[name]), name
    for name in ("iteration", "agent_steps", "entropy_coef"):
        assert whole_meta[name] == parts_meta[name]
    assert rows(tmp_path / "1")[0]["iteration"] == 5


@pytest.mark.parametrize("after", [1, 2, 4, 5])
def test_an_interrupted_segment_continues_to_the_same_bytes(make_plan, tmp_path, after):
    plan = make_plan(steps=5 * 192, checkpoint_iterations=2, symmetry="per_episode")
    train(plan, tmp_path / "whole")
    with pytest.raises(Killed):
        train(plan, tmp_path / "cut", killer(after))
    train(plan, tmp_path / "cut")
    name = "checkpoint.safetensors"
    assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()
    assert [r["iteration"] for r in rows(tmp_path / "cut")] == [1, 2, 3, 4, 5]


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
import toy_game
toy_game.register()
import json
from royale.learn.plan import SegmentPlan
from royale.learn.segment import run_segment
plan = SegmentPlan(**json.loads(sys.argv[1]))
out = Path(sys.argv[2])
run_segment(plan, out, out / "partial", lambda row, total: print(row["iteration"], flush=True))
"""


def test_kill_9_and_rerun_gives_the_same_bytes(make_plan, tmp_path):
    plan = make_plan(steps=40 * 192, checkpoint_iterations=3)
    train(plan, tmp_path / "whole")
    text = json.dumps(dataclasses.asdict(plan))
    program = PROGRAM.format(here=str(HERE))
    command = [sys.executable, "-c", program, text, str(tmp_path / "killed")]
    env = os.environ | {"PYTHONPATH": str(HERE.parents[1]), "OMP_NUM_THREADS": "1"}
    for last in ("7", "20"):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True)
        for line in process.stdout:
            if line.strip() == last:
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
    assert (tmp_path / "killed" / "partial" / "checkpoint.safetensors").exists()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    name = "checkpoint.safetensors"
    assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
    assert [r["iteration"] for r in rows(tmp_path / "killed")] == list(range(1, 41))


def test_partial_work_of_another_plan_is_discarded(make_plan, tmp_path):
    said = []
    plan = make_plan(checkpoint_iterations=1)
    with pytest.raises(Killed):
        train(make_plan(checkpoint_iterations=1, arm="other"), tmp_path / "cut", killer(3))
    train(plan, tmp_path / "cut", say=said.append)
    assert "another plan" in said[0]
    train(plan, tmp_path / "whole")
    name = "checkpoint.safetensors"
    assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()


@pytest.mark.parametrize("damage", ["truncate", "garbage", "metrics"])
def test_unreadable_partial_work_is_discarded(make_plan, tmp_path, damage):
    plan, said = make_plan(checkpoint_iterations=1), []
    with pytest.raises(Killed):
        train(plan, tmp_path, killer(3))
    path = tmp_path / "partial" / "checkpoint.safetensors"
    if damage == "truncate":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "garbage":
        path.write_bytes(b"no safetensors at all")
    else:
        (tmp_path / "partial" / "metrics.jsonl").write_text("")
    _, meta = train(plan, tmp_path, say=said.append)
    assert "not usable" in said[0]
    assert meta["iteration"] == 4


def test_a_second_process_waits_and_does_nothing_twice(make_plan, tmp_path):
    plan, said, inside = make_plan(), [], threading.Event()

    def report(row, total):
        inside.set()
        while not said:
            time.sleep(0.01)

    first = threading.Thread(target=train, args=(plan, tmp_path, report))
    first.start()
    inside.wait()
    train(plan, tmp_path, say=said.append)
    first.join()
    assert "another process" in said[0]
    assert "finished already" in said[1]
    assert not (tmp_path / "partial").exists()


def test_a_champion_is_where_the_next_generation_starts(make_plan, tmp_path):
    arrays, _ = train(make_plan(), tmp_path / "parent")
    champion = tmp_path / "champion.safetensors"
    checkpoint.champion_from_checkpoint(
        tmp_path / "parent" / "checkpoint.safetensors", champion, ["g00"]
    )
    stored, meta = checkpoint.load(champion)
    assert meta["lineage"] == ["g00"]
    assert {n for n in arrays if n.startswith("ema/")} == set(stored)
    plan = make_plan(
        generation="g01", start="weights", start_file=champion, steps=1, learning_rate=1e-9
    )
    child, _ = train(plan, tmp_path / "child")
    for name in stored:
        assert np.allclose(child[name], stored[name], atol=1e-7), name


def test_another_arms_checkpoint_is_refused(make_plan, tmp_path):
    train(make_plan(), tmp_path / "0")
    start = tmp_path / "0" / "checkpoint.safetensors"
    plan = make_plan(segment=1, start="checkpoint", start_file=start, gamma=0.9)
    with pytest.raises(ValueError, match=r"another arm\n  recipe: asked .*0\.9"):
        train(plan, tmp_path / "1")
    plan = make_plan(segment=1, start="checkpoint", start_file=start, blocks=2)
    with pytest.raises(untrusted.LayoutError, match=r"! blocks\.1\.conv\.weight .* +-"):
        train(plan, tmp_path / "1")


CHANGES = {
    "symmetry": "per_episode",
    "minibatch": 32,
    "epochs": 2,
    "gae_lambda": 0.95,
    "gamma": 0.9,
    "clip": 1e-4,
    "value_coef": 0.1,
    "entropy_floor": 1.0,
    "advantage_top": 1.0,
    "ema_decay": 0.0,
    "optimizer": "muon",
    "value_head": "hl_gauss",
    "draw_reward": -0.5,
    "shaping": {"land": 0.5},
    "learning_rate": 1e-3,
    "warmup": 2,
    "weight_decay": 0.1,
    "max_grad_norm": 0.1,
    "channels": 12,
    "blocks": 2,
    "encoder": "wide",
    "truncation": "reset",
    "value_clip": 1e-4,
    "precision": "bf16",
    "overlap": True,
    "opponents": {"random": 0.25},
    "explore_plane": {"up": 0.3},
    "settings": {"max_turns": 3},
    "schedule": [{"until": 0.5, "settings": {"max_turns": 3}}],
}


@pytest.fixture(scope="module")
def base_weights(tmp_path_factory):
    return {}


@pytest.mark.parametrize("key", CHANGES)
def test_every_knob_changes_the_weights(make_plan, tmp_path, key, base_weights):
    if not base_weights:
        base_weights.update(train(make_plan(), tmp_path / "base")[0])
    # The same arm name: the random choices are the same, the knob alone differs.
    plan = make_plan()
    recipe = {**plan.recipe, key: CHANGES[key]}
    plan = dataclasses.replace(plan, recipe=recipe, arm_steps=plan.steps)
    arrays, meta = train(plan, tmp_path / "changed")
    assert meta["recipe"][key] == CHANGES[key]
    names = [n for n in base_weights if n.startswith("ema/")]
    assert any(not np.array_equal(base_weights[n], arrays.get(n)) for n in names)


def test_every_knob_is_tried():
    from royale.learn.recipe import Recipe

    assert set(CHANGES) == {f.name for f in dataclasses.fields(Recipe)}


def test_bad_losses_stop_the_segment_and_keep_the_partial_work(make_plan, tmp_path, monkeypatch):
    plan = make_plan(checkpoint_iterations=1)
    honest = ppo.minibatch_losses
    calls = []

    def poisoned(*args):
        losses = honest(*args)
        calls.append(1)
        if len(calls) > 9:
            losses.value = losses.value * torch.nan
        return losses

    monkeypatch.setattr(ppo, "minibatch_losses", poisoned)
    with pytest.raises(ppo.TrainingError, match="iteration 4: not finite: value loss"):
        train(plan, tmp_path)
    meta = checkpoint.load(tmp_path / "partial" / "checkpoint.safetensors")[1]
    assert meta["iteration"] == 3


def test_stored_log_probs_of_another_policy_are_refused(make_plan, tmp_path, monkeypatch):
    honest = ppo.Updater.update

    def tampered(self, rollout, *args):
        rollout.samples.log_prob += 0.01
        return honest(self, rollout, *args)

    monkeypatch.setattr(ppo.Updater, "update", tampered)
    with pytest.raises(ppo.TrainingError, match=r"iteration 1: recomputed .* 0\.01"):
        train(make_plan(), tmp_path)


def test_logits_that_are_not_finite_stop_the_segment(make_plan, tmp_path, monkeypatch):
    honest = ppo.Updater._check_weights

    def spoil(self, iteration):
        honest(self, iteration)
        with torch.no_grad():
            self.network.policy.bias.fill_(torch.nan)

    monkeypatch.setattr(ppo.Updater, "_check_weights", spoil)
    with pytest.raises(ppo.TrainingError, match="iteration 2: logits: row 0"):
        train(make_plan(), tmp_path)


@pytest.mark.parametrize("lines", [3, 3.5])
def test_a_segment_whose_metrics_were_cut_off_is_not_taken_for_finished(make_plan, tmp_path, lines):
    plan, kept = make_plan(), tmp_path / "kept"
    run_segment(plan, tmp_path / "a", tmp_path / "partial", None, lambda line: None, kept=kept)
    metrics = kept / "metrics.jsonl"
    whole = metrics.read_text().splitlines(keepends=True)
    said = []
    run_segment(plan, tmp_path / "b", tmp_path / "partial", None, said.append, kept=kept)
    assert "is used again" in said[0]
    # in place, so that every name of the file has it
    with open(metrics, "r+") as file:
        file.truncate(len("".join(whole[:3])) + (40 if lines != 3 else 0))
    seen = []
    report = lambda row, total: seen.append(row["iteration"])  # noqa: E731
    run_segment(plan, tmp_path / "c", tmp_path / "partial", report, lambda line: None, kept=kept)
    assert seen == [1, 2, 3, 4] and len(rows(kept)) == len(rows(tmp_path / "c")) == 4


def test_a_kept_segment_that_a_bit_flipped_in_is_trained_again(make_plan, tmp_path):
    plan, kept = make_plan(), tmp_path / "kept"
    run_segment(plan, tmp_path / "a", tmp_path / "partial", None, lambda line: None, kept=kept)
    checkpoint = kept / "checkpoint.safetensors"
    whole = checkpoint.read_bytes()
    with open(checkpoint, "r+b") as file:  # in place, so that every name of the file has it
        file.seek(-1, 2)
        file.write(bytes([whole[-1] ^ 1]))
    run_segment(plan, tmp_path / "b", tmp_path / "partial", None, lambda line: None, kept=kept)
    assert (tmp_path / "b/checkpoint.safetensors").read_bytes() == whole == checkpoint.read_bytes()
