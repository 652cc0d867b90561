"""Collecting the next rollout while the learner updates on this one (recipe key `overlap`).

The next rollout is played by a frozen copy of the weights as they were when the update began, so
what is trained on was played one update ago. PPO allows for that as long as the stored
log-probabilities are those of the network that played; the copy is kept to prove it. Both
threads start from the same state and share nothing that the other writes, so what comes out
does not depend on which of them is faster.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import torch

from royale.learn import checkpoint
from royale.learn.network import Network, network_arrays
from royale.learn.rollout import Actors
from royale.learn.samples import Rollout
from royale.learn.timing import Clock

PREFIX = "ahead/"  # of the arrays of a rollout that is collected and not trained on yet
BEHAVIOUR = f"{PREFIX}behaviour"
T = TypeVar("T")


@dataclass
class Ahead:
    """A rollout that was collected ahead, and the network that played it.

    Its counters are those of the actors, which have collected nothing since.
    """

    rollout: Rollout
    behaviour: Network

    def state_arrays(self, actors: Actors) -> dict[str, np.ndarray]:
        """All of it, as arrays by name."""
        arrays = {f"{PREFIX}{name}": array for name, array in self.rollout.state_arrays().items()}
        for number, counter in enumerate(actors.counters()):
            arrays[f"{PREFIX}counters/{number}"] = counter
        return arrays | network_arrays(self.behaviour, BEHAVIOUR)


def frozen(network: Network) -> Network:
    """A copy that no update changes."""
    return copy.deepcopy(network).requires_grad_(False)


def expected_arrays(
    arrays: Mapping[str, np.ndarray], rollout: Rollout, actors: Actors, network: Network
) -> dict[str, np.ndarray]:
    """What `Ahead.state_arrays` may look like in a file that has `arrays`; none if it has none."""
    if not checkpoint.part(arrays, PREFIX):
        return {}
    turns = arrays.get(f"{PREFIX}samples/turn", np.zeros(0))
    like = Ahead(rollout, network).state_arrays(actors)
    samples = rollout.room(len(turns) if turns.ndim == 1 else 0)
    return like | {f"{PREFIX}samples/{name}": array for name, array in samples.items()}


def restored(
    arrays: Mapping[str, np.ndarray],
    meta: Mapping[str, Any],
    path: Path,
    rollout: Rollout,
    actors: Actors,
    network: Network,
) -> Ahead | None:
    """The `Ahead` of a file's checked arrays, read into `rollout` and `actors`; None without one.

    ValueError where numbers are none of such a rollout.
    """
    mine = {n.removeprefix(PREFIX): a for n, a in checkpoint.part(arrays, PREFIX).items()}
    if not mine:
        return None
    rollout.load_state_arrays(mine, actors.batch.spec.n_actions)
    actors.take_counters([[mine[f"counters/{k}"] for k in range(len(actors.counters()))]])
    behaviour = frozen(network)
    checkpoint.load_network(behaviour, arrays, meta, path, BEHAVIOUR)
    return Ahead(rollout, behaviour)


class Collector:
    """A thread that collects while the caller does something else."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def _start(self) -> None:
        """Start the thread, with as many threads of its own as here; the rounding it inherits."""
        threads = torch.get_num_threads()
        # Asking numba starts its pool, which resets torch's number: so here, and all of it
        # before any work, whose sums would else be cut otherwise.
        counts = numba.get_num_threads(), threads
        _take_threads(*counts)
        self._pool = ThreadPoolExecutor(1, "collect", _take_threads, counts)
        wait([self._pool.submit(int)])

    def beside(
        self,
        actors: Actors,
        network: Network,
        rollout: Rollout,
        first_turn: int,
        work: Callable[[], T],
    ) -> tuple[T, float]:
        """Collect into `rollout` while `work` is done here; what that returned, and seconds saved.

        Saved are the seconds of collecting that nobody had to wait for. If either fails the
        other is ended, and the failure raised.
        """
        if self._pool is None:
            self._start()
        collecting = self._pool.submit(_timed, actors, network, rollout, first_turn)
        try:
            done = work()
            clock = Clock(("waiting",))
            with clock("waiting"):
                seconds = collecting.result()
            return done, max(0.0, seconds - clock.seconds["waiting"])
        except BaseException:
            actors.stopping = True
            wait([collecting])
            actors.stopping = False
            raise


def _take_threads(numba_threads: int, torch_threads: int) -> None:
    numba.set_num_threads(numba_threads)  # first: it resets torch's
    torch.set_num_threads(torch_threads)


def _timed(actors: Actors, network: Network, rollout: Rollout, first_turn: int) -> float:
    """Collect; the seconds it took."""
    clock = Clock(("collecting",))
    with clock("collecting"):
        actors.collect(network, rollout, first_turn)
    return clock.seconds["collecting"]
