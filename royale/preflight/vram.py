"""A GPU's memory, asked before anything is paid for: one real minibatch, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch

from royale.learn.plan import SegmentPlan
from royale.learn.ppo import minibatch_losses
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer
from royale.preflight.checks import MB, Check

HEADROOM_MB = 256  # what a driver, other shapes of batches and a full rollout may still take
GAMES, TURNS = 8, 16  # played to have real samples, which are then repeated


class Memory(Protocol):
    """What is asked of a device; a test has its own."""

    def begin(self) -> None:
        """Free what is cached, and forget the greatest use so far."""

    def peak_mb(self) -> float:
        """The most that was reserved since `begin`, MB."""

    def free_mb(self) -> float:
        """What this process could have in all, MB: the free and what it holds already."""


class CudaMemory:
    """The present GPU's."""

    def begin(self) -> None:
        """See `Memory`."""
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def peak_mb(self) -> float:
        """See `Memory`."""
        return torch.cuda.max_memory_reserved() / MB

    def free_mb(self) -> float:
        """See `Memory`."""
        return (torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved()) / MB


class Probe:
    """A trainer with a few real samples, that can be asked what a minibatch takes."""

    def __init__(self, game: str, settings: Mapping[str, Any], recipe: Recipe, device: str) -> None:
        plan = SegmentPlan(
            game,
            settings,
            {**recipe.to_dict(), "schedule": [], "opponents": {}},
            GAMES,
            TURNS,
            1,
            "doctor",
            "vram",
            0,
            0,
            device=device,
        )
        self.trainer = Trainer(plan)
        self.trainer.start()
        self.trainer.actors.collect(self.trainer.network, self.trainer.rollout, 0)

    def run(self, minibatch: int, rows: int) -> None:
        """One optimizer step on `minibatch` samples, and one forward pass of `rows`."""
        updater, samples = self.trainer.updater, self.trainer.rollout.samples
        numbers = np.zeros(len(samples), np.float32)
        with torch.inference_mode():
            seen = updater.gather(samples, self._index(rows), numbers, numbers)
            updater.precision.forward(updater.network, seen.planes)
            del seen
        batch = updater.gather(samples, self._index(minibatch), numbers, numbers)
        losses = minibatch_losses(
            updater.network, updater.codec, updater.recipe, 0.0, batch, updater.precision
        )
        losses.total.backward()
        updater.optimizer.clip_gradients(updater.recipe.max_grad_norm)
        updater.optimizer.step()

    def _index(self, rows: int) -> np.ndarray:
        return np.resize(np.arange(len(self.trainer.rollout.samples)), rows)


def needed_mb(probe: Probe, minibatch: int, rows: int, memory: Memory) -> float:
    """The most that an iteration with this minibatch reserves, MB; infinite if it ran out."""
    memory.begin()
    try:
        probe.run(minibatch, rows)
    except torch.OutOfMemoryError:
        return float("inf")
    return memory.peak_mb()


def vram_check(
    game: str,
    settings: Mapping[str, Any],
    train: Mapping[str, Any],
    recipe: Recipe,
    device: str = "cuda",
    memory: Memory | None = None,
) -> Check:
    """Refuse a minibatch that does not fit, and name the greatest half, quarter ... that does."""
    memory = memory or CudaMemory()
    probe, rows = Probe(game, settings, recipe, device), 2 * train["envs"]
    free = memory.free_mb()

    def fits(minibatch: int) -> tuple[bool, float]:
        needed = needed_mb(probe, minibatch, rows, memory) + HEADROOM_MB
        return needed <= free, needed

    fit, needed = fits(recipe.minibatch)
    taken = "more than there is" if needed == float("inf") else f"{needed:,.0f} MB"
    found = (
        f"a minibatch of {recipe.minibatch} takes {taken} with {HEADROOM_MB} MB to spare, "
        f"{free:,.0f} MB free"
    )
    if fit:
        return Check("vram", "ok", found)
    smaller = recipe.minibatch // 2
    while smaller and not fits(smaller)[0]:
        smaller //= 2
    fix = f"the next legal smaller minibatch is {smaller}: lower scale.minibatch in the profile"
    return Check("vram", "refused", found, fix if smaller else "no minibatch fits; lower envs")
