"""How exactly a run repeats: the tiers of the machine profile's key `determinism`.

throughput: torch's own choice of kernels; on a GPU their sums may come in another order
each time. deterministic: only kernels that repeat, whatever the number of threads, as
long as it stays the same. run_exact: that with one thread, and it is not only promised:
the first iterations and every so many compute their update twice from one state, the
second time with all fresh memory filled with NaN, and stop the run unless every bit agrees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from royale.learn.network import Network
from royale.learn.optimizer import NetworkOptimizer

TIERS = ("throughput", "deterministic", "run_exact")
FIRST, EVERY = 10, 50  # iterations of an arm that run_exact checks


def settle(tier: str, device: str) -> None:
    """Make torch keep the tier, for the whole process; before anything runs on the GPU."""
    exact = tier != "throughput"
    if exact and torch.device(device).type == "cuda":
        # cuBLAS repeats only with a workspace of a fixed size (its documentation).
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(exact)
    torch.utils.deterministic.fill_uninitialized_memory = False  # costs; see `filled`


@contextmanager
def filled(on: bool = True) -> Iterator[None]:
    """Fresh memory is filled with NaN: a kernel that reads what nobody wrote is found out."""
    kept = torch.are_deterministic_algorithms_enabled()
    if on:
        torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = on
    try:
        yield
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = False
        torch.use_deterministic_algorithms(kept)


def is_checked(tier: str, iteration: int) -> bool:
    """Whether the arm's iteration (from 1) computes its update twice."""
    return tier == "run_exact" and (iteration <= FIRST or iteration % EVERY == 0)


class Twice:
    """Computes an update twice from one state and compares the bits.

    network, average and optimizer are all that an update changes. `fill`: in fresh memory
    filled with NaN the second time.
    """

    def __init__(
        self, network: Network, average: Network, optimizer: NetworkOptimizer, fill: bool = True
    ) -> None:
        self.network, self.average, self.optimizer, self.fill = network, average, optimizer, fill

    def _state(self) -> dict[str, Tensor]:
        state = {f"weights {n}": p.detach() for n, p in self.network.named_parameters()}
        state |= {f"average {n}": p.detach() for n, p in self.average.named_parameters()}
        held = self.optimizer.state_tensors()
        state |= {f"optimizer {name}": tensor for name, tensor in held.items()}
        return {name: tensor.clone() for name, tensor in state.items()}

    @torch.no_grad()
    def _restore(self, state: dict[str, Tensor]) -> None:
        for kind, module in (("weights", self.network), ("average", self.average)):
            for name, parameter in module.named_parameters():
                parameter.copy_(state[f"{kind} {name}"])
        prefix = "optimizer "
        held = {n[len(prefix) :]: t for n, t in state.items() if n.startswith(prefix)}
        self.optimizer.load_state_tensors({name: tensor.clone() for name, tensor in held.items()})

    def __call__(self, update: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], str | None]:
        """The second update's metrics, and the first difference in words, None if there is none.

        `seconds` in the metrics may differ.
        """
        before = self._state()
        metrics = update()
        first = self._state()
        self._restore(before)
        with filled(self.fill):
            again = update()
        second = self._state()
        for name in {**first, **second}:
            one, other = first.get(name), second.get(name)
            if one is None or other is None or not torch.equal(one, other):
                return again, name
        for name, value in metrics.items():
            if name != "seconds" and again[name] != value:
                return again, f"metric {name}"
        return again, None
