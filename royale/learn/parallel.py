"""Several processes training one arm: each plays its share of the games, and learns from its
share of each minibatch.

Games, frames and draws are named by the number of the environment, so the joined rollout is
the one that a single process would have played. Everything decided on it (advantages, the
top share, the order of the minibatches) is computed by every process alike, and the gradient
is the mean over the whole minibatch: N processes train what one does, up to the rounding of
sums. A single machine; `torchrun` starts the processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

# What a game stacks along its first axis, one entry a game or one a row.
BY_GAME = ("game/", "actors/", "opponents/seat", "opponents/member")


@dataclass(frozen=True)
class Share:
    """This process's part: the `rank`-th of `size` equal ones."""

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and speaks."""
        return self.rank == 0

    def games(self, total: int) -> tuple[int, int]:
        """First environment and number of environments that this process plays."""
        count = total // self.size
        return self.rank * count, count

    def part(self, index: np.ndarray) -> np.ndarray:
        """This process's samples of a minibatch."""
        return index if self.size == 1 else index[self.rank :: self.size]

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, in order of rank."""
        if self.size == 1:
            return [value]
        out = [None] * self.size
        dist.all_gather_object(out, value)
        return out

    def sum_gradients(self, parameters: Iterable[Tensor], weight: float) -> None:
        """Replace each gradient by the sum over processes of weight times it (none is 0)."""
        if self.size == 1:
            return
        grads = []
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            grads.append(parameter.grad)
        flat = torch.cat([grad.reshape(-1) for grad in grads]) * weight
        dist.all_reduce(flat)
        for grad, part in zip(grads, flat.split([g.numel() for g in grads]), strict=True):
            grad.copy_(part.view_as(grad))

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum of a tensor over the processes, in place."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor

    def greatest(self, tensor: Tensor) -> Tensor:
        """The greatest of a tensor over the processes, in place."""
        if self.size > 1:
            dist.all_reduce(tensor, dist.ReduceOp.MAX)
        return tensor

    def join_arrays(self, mine: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The arrays of all games, from those of each process's games."""
        parts = self.gather({name: a for name, a in mine.items() if name.startswith(BY_GAME)})
        return dict(mine) | {name: _stack([part[name] for part in parts]) for name in parts[0]}

    def slice_arrays(self, whole: Mapping[str, np.ndarray], total: int) -> dict[str, np.ndarray]:
        """Undo `join_arrays`: the arrays with this process's of `total` games alone."""
        if self.size == 1:
            return dict(whole)
        first, count = self.games(total)
        out = dict(whole)
        for name, array in whole.items():
            if name.startswith(BY_GAME) and array.ndim:
                each = len(array) // total  # 1, or 2 where it is by row
                out[name] = array[first * each : (first + count) * each]
        return out


ALONE = Share()


def _stack(arrays: list[np.ndarray]) -> np.ndarray:
    """Joined along the first axis; snapshots of an engine are as wide as the widest."""
    widest = max(array.shape[1:] for array in arrays)
    padded = [
        np.pad(a, [(0, 0), *((0, w - n) for w, n in zip(widest, a.shape[1:], strict=True))])
        for a in arrays
    ]
    return np.concatenate(padded)


def join_group(device: str) -> Share:
    """Join the processes that torchrun started with this one; each takes a GPU of its own."""
    if torch.device(device).type == "cuda":
        dist.init_process_group("cpu:gloo,cuda:nccl")
        torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    else:
        dist.init_process_group("gloo")
    return Share(dist.get_rank(), dist.get_world_size())
