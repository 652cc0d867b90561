"""Several processes train what one does: the same games, the same gradient."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from royale.errors import Preempted
from royale.games import load as load_game
from royale.learn import checkpoint, parallel
from royale.learn.plan import SegmentPlan
from royale.learn.processes import starter
from royale.learn.recipe import Recipe
from royale.learn.segment import run_segment
from royale.learn.trainer import Trainer

ROOT = Path(__file__).resolve().parents[2]
ITERATIONS = 2


def iterate(plan, folder: Path, share: parallel.Share) -> None:
    """Two iterations; the first gradient, the state and the rows in files."""
    trainer, gradients = Trainer(plan, share), []
    trainer.start()
    clip = trainer.optimizer.clip_gradients

    def watched(largest):
        gradients.append(
            np.concatenate([p.grad.numpy().ravel() for p in trainer.updater.parameters])
        )
        return clip(largest)

    trainer.optimizer.clip_gradients = watched
    rows = [trainer.iterate() for _ in range(ITERATIONS)]
    state = trainer.state()
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"gradient{share.rank}.npy", gradients[0])
    checkpoint.save(folder / f"state{share.rank}", *state)
    (folder / f"rows{share.rank}.json").write_text(json.dumps(rows))


def child(plan, folder: Path, rank: int, port: int) -> None:
    import torch
    import toy_game

    toy_game.register()
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(plan.processes)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    iterate(plan, folder, parallel.join_group("cpu"))


def together(plan, folder: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["royale.learn.segment", "toy_game", "torch._dynamo"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = [
        context.Process(target=child, args=(plan, folder, rank, port))
        for rank in range(plan.processes)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * plan.processes


def test_two_processes_train_what_one_does(make_plan, tmp_path):
    plan = make_plan(
        symmetry="per_episode",
        opponents={"past": 0.25, "random": 0.25},
        explore_plane={"up": 0.1},
        shaping={"land": 0.5},
        advantage_top=0.5,
        minibatch=15,  # odd: the halves are of 8 and 7
        epochs=2,
    )
    iterate(plan, tmp_path / "one", parallel.ALONE)
    together(dataclasses.replace(plan, processes=2), tmp_path / "two")
    one, two = tmp_path / "one", tmp_path / "two"
    # both have the same gradient, which is that of the whole minibatch
    alone = np.load(one / "gradient0.npy")
    for rank in (0, 1):
        assert np.abs(np.load(two / f"gradient{rank}.npy") - alone).max() < 1e-5
    assert np.abs(alone).max() > 1e-3
    # and so they end alike, with the state of all games
    assert (two / "state0").read_bytes() == (two / "state1").read_bytes()
    (arrays, _), (joined, _) = (checkpoint.load(folder / "state0") for folder in (one, two))
    assert arrays.keys() == joined.keys()
    for name, array in arrays.items():
        if array.dtype.kind == "f":
            assert np.allclose(array, joined[name], atol=1e-5), name
        else:
            assert np.array_equal(array, joined[name]), name
    # the rows count for both
    rows, of_both = (json.loads((folder / "rows0.json").read_text()) for folder in (one, two))
    for row, other in zip(rows, of_both, strict=True):
        for name in row.keys() - {"timing", "seconds", "steps_per_second"}:
            for value, found in zip(flat(row[name]), flat(other[name]), strict=True):
                assert found == value or found == pytest.approx(value, rel=1e-3, abs=1e-5), name


def flat(value) -> list:
    return list(value.values()) if isinstance(value, dict) else [value]


def test_a_minibatch_is_shared_out_whole():
    index = np.arange(7)
    parts = [parallel.Share(rank, 3).part(index) for rank in range(3)]
    assert sorted(np.concatenate(parts)) == index.tolist()
    assert [len(part) for part in parts] == [3, 2, 2]
    assert [parallel.Share(rank, 3).games(12) for rank in range(3)] == [(0, 4), (4, 4), (8, 4)]


def test_state_is_sliced_by_game_and_by_row():
    whole = {
        "game/owner": np.arange(8).reshape(4, 2),
        "actors/codes": np.arange(8),  # two rows a game
        "weights/x": np.arange(4),
    }
    mine = parallel.Share(1, 2).slice_arrays(whole, 4)
    assert mine["game/owner"].tolist() == [[4, 5], [6, 7]]
    assert mine["actors/codes"].tolist() == [4, 5, 6, 7]
    assert mine["weights/x"].tolist() == [0, 1, 2, 3]


def test_envs_that_cannot_be_shared_are_refused(make_plan):
    with pytest.raises(ValueError, match="8 envs are not the same for 3 processes"):
        make_plan(processes=3)


@pytest.mark.nightly
def test_torchrun_trains_a_segment_that_is_stopped_on_the_way(tmp_path):
    profile = yaml.safe_load((ROOT / "config/profiles/smoke.yaml").read_text())
    small = {"channels": 8, "blocks": 1, "minibatch": 64, "learning_rate": 3e-3}
    plan = SegmentPlan(
        game="generals",
        settings=profile["per_game"]["generals"]["settings"],
        recipe=dataclasses.replace(Recipe(), **small).to_dict(),
        envs=8,
        horizon=16,
        steps=80 * 8 * 32,
        generation="g00",
        arm="root",
        seed=0,
        segment=0,
        processes=2,
        checkpoint_seconds=0.2,
    )
    assert load_game(plan.game)
    log = tmp_path / "log"
    for name in ("whole", "cut"):
        partial = tmp_path / f"{name}.partial"

        def stop_it(partial=partial):
            while not (partial / "checkpoint.safetensors").exists():
                time.sleep(0.02)
            os.kill(os.getpid(), 15)

        if name == "cut":
            threading.Thread(target=stop_it).start()
            with pytest.raises(Preempted, match="SIGTERM: stopped after iteration"):
                run_segment(plan, tmp_path / name, partial, start_processes=starter("x", log))
        run_segment(plan, tmp_path / name, partial, start_processes=starter("x", log))
    assert "continuing after iteration" in log.read_text()
    files = [tmp_path / name / "checkpoint.safetensors" for name in ("whole", "cut")]
    assert files[0].read_bytes() == files[1].read_bytes()
