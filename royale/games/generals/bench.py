"""Steps a second of the engine: `python -m royale.games.generals.bench`.

All rows are measured in one run on 21x21 boards of the competition. Rates are
by CPU time of the process, so that a busy machine disturbs them less; in the
second column of each pair two processes run at once, and rates are their sum.
"""

from __future__ import annotations

import multiprocessing
import time

import numpy as np

from royale.games.generals import GAME
from royale.games.generals.settings import COMPETITION
from royale.games.protocol import View
from royale.rng import fold

SIZES = (1, 64, 512)
TASKS = ("state step", "step + observe", "step + observe + sample", "reset")
WARM_UP = 150  # turns played before measuring, so that both seats hold land
TURNS = 40


class Case:
    """A batch in the middle of its games, with recorded actions to play again."""

    def __init__(self, n: int) -> None:
        settings = {**COMPETITION, "height": [21, 21], "width": [21, 21]}
        self.game = GAME.make(n, settings, "base")
        spec = self.game.spec
        self.n = n
        self.codes = np.empty((n, 2, *spec.code_shape), np.uint8)
        self.scalars = np.empty((n, 2, len(spec.scalars)), np.float32)
        self.legal = np.empty((n, 2, spec.n_actions), np.uint8)
        self.player = GAME.scripted_player("random", spec)
        self.seeds = np.arange(n, dtype=np.uint64)
        self.game.reset(np.arange(n), self.seeds)
        self.game.frames[:] = fold(self.seeds, 1)[:, None] >> np.array([1, 5], np.uint64) & 7
        for turn in range(WARM_UP):
            self.observe()
            self.game.step(self.choose(turn))
        self.state = self.game.state_arrays()
        self.actions = []
        for turn in range(TURNS):
            self.observe()
            self.actions.append(self.choose(WARM_UP + turn))
            self.game.step(self.actions[-1])

    def observe(self) -> None:
        self.game.observe(self.codes, self.scalars, self.legal)

    def choose(self, turn: int) -> np.ndarray:
        """Random legal actions of both seats."""
        n, spec = self.n, self.game.spec
        keys = fold(np.repeat(self.seeds, 2), turn, np.tile([0, 1], n))
        view = View(
            self.codes.reshape(2 * n, *self.codes.shape[2:]),
            self.scalars.reshape(2 * n, -1),
            self.legal.reshape(2 * n, spec.n_actions),
            np.repeat(self.game.turns, 2),
            keys,
        )
        return self.player.act(view).reshape(n, 2)

    def once(self, task: str) -> int:
        """Do a task over TURNS turns; returns how many env steps (or games dealt) it was."""
        if task == "reset":
            self.game.reset(np.arange(self.n), self.seeds)
            return self.n
        for turn in range(TURNS):
            if task != "state step":
                self.observe()
            if task == "step + observe + sample":
                self.choose(turn)
            self.game.step(self.actions[turn])
        return TURNS * self.n

    def rate(self, task: str, seconds: float) -> float:
        """Env steps (or games dealt) a second of CPU time."""
        steps, used = 0, 0.0
        until = time.perf_counter() + seconds
        while time.perf_counter() < until or not steps:
            self.game.load_state_arrays(self.state)
            begun = time.process_time_ns()
            steps += self.once(task)
            used += (time.process_time_ns() - begun) / 1e9
        return steps / used


def measure(seconds: float) -> dict[tuple[str, int], float]:
    """The rate of every task and size."""
    rates = {}
    for n in SIZES:
        case = Case(n)
        for task in TASKS:
            case.rate(task, 0.0)  # compile and warm up
            rates[task, n] = case.rate(task, seconds)
    return rates


def _worker(seconds: float, pipe: multiprocessing.connection.Connection) -> None:
    pipe.send(measure(seconds))


def measure_two(seconds: float) -> dict[tuple[str, int], float]:
    """The summed rates of two processes that measure at the same time."""
    context = multiprocessing.get_context("spawn")
    ends, workers = [], []
    for _ in range(2):
        here, there = context.Pipe()
        workers.append(context.Process(target=_worker, args=(seconds, there)))
        ends.append(here)
        workers[-1].start()
    results = [end.recv() for end in ends]
    for worker in workers:
        worker.join()
    return {key: results[0][key] + results[1][key] for key in results[0]}


def main(seconds: float = 1.0) -> None:
    """Print the table."""
    one, two = measure(seconds), measure_two(seconds)
    print(f"{'env steps/s of CPU time':<28}" + "".join(f"{f'N={n}':>12}{'x2':>12}" for n in SIZES))
    for task in TASKS:
        cells = "".join(f"{one[task, n]:>12,.0f}{two[task, n]:>12,.0f}" for n in SIZES)
        print(f"{task + (' (games/s)' if task == 'reset' else ''):<28}{cells}")
    ratio = "".join(
        f"{one['step + observe', n] / one['state step', n]:>12.3f}"
        f"{two['step + observe', n] / one['step + observe', n]:>12.2f}"
        for n in SIZES
    )
    print(f"{'observe/state, two/one':<28}{ratio}")


if __name__ == "__main__":
    main()
