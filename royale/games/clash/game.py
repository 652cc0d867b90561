"""N battles stepped together, behind the protocol of `royale.games.protocol`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from royale.games.clash import shared
from royale.games.clash.battles import Battles, check_state
from royale.games.clash.layout import PASS
from royale.games.clash.messages import LOAD, OBSERVE, RESET, STATE, STEP, pack, unpack
from royale.games.clash.settings import Settings
from royale.games.clash.workers import WorkerError, Workers
from royale.games.protocol import GameSpec, StepResult


class Clash:
    """A batch of battles, in this process or on workers; what comes out is the same.

    `deaths` counts workers that died. Their games are over without a winner and `lost`: that
    step's, or if it was no step the next one's.
    """

    def __init__(self, n_games: int, settings: Mapping[str, Any], spec: GameSpec) -> None:
        numbers = Settings.read(settings)
        self.spec, self.n_games = spec, n_games
        self._lost = np.zeros(n_games, np.bool_)  # and not dealt again since
        self.workers: Workers | None = None
        if numbers.workers:
            self.workers = Workers(n_games, numbers.workers, settings)
            self._arrays = self.workers.arrays
        else:
            self._arrays = shared.arrays(bytearray(shared.size(n_games)), n_games)
            self.battles = Battles(self._arrays, numbers)
        self._arrays["done"][...] = True
        self._arrays["winner"][...] = -1

    @property
    def frames(self) -> np.ndarray:
        """(N, 2) int8: index into the symmetries. A view of the state."""
        return self._arrays["frames"]

    @property
    def turns(self) -> np.ndarray:
        """(N,) int32: decisions so far. A view of the state."""
        return self._arrays["turns"]

    @property
    def lost(self) -> np.ndarray:
        """(N,) bool: lost and not dealt again, which the next step tells. A view of the state."""
        return self._lost

    @property
    def deaths(self) -> int:
        """Workers that died so far."""
        return self.workers.deaths if self.workers else 0

    def close(self) -> None:
        """End the workers. Nothing else can be asked afterwards."""
        if self.workers:
            self.workers.close()

    def _ask(self, letter: bytes, games: np.ndarray | None = None) -> np.ndarray:
        """Have an order carried out, by the workers of `games` or all; the games (N,) lost."""
        if self.workers:
            some = None if games is None else self.workers.of(games)
            lost = self.workers.round(letter, some)[1]
            self._lost |= lost
            return lost
        {STEP: self.battles.step, OBSERVE: self.battles.observe, RESET: self.battles.reset}[
            letter
        ]()
        return np.zeros(self.n_games, np.bool_)

    def reset(self, games: np.ndarray, seeds: np.ndarray) -> None:
        """Deal new battles to `games` (M,) from `seeds` (M,)."""
        games = np.asarray(games, np.int64)
        seeds = np.asarray(seeds, np.uint64)
        if games.shape != seeds.shape or games.ndim != 1:
            raise ValueError(f"one seed a game: got shapes {games.shape} and {seeds.shape}")
        if not games.size:
            return
        if not (games.min() >= 0 and games.max() < self.n_games):
            raise IndexError(f"games {games} of a batch of {self.n_games}")
        self._arrays["deal"][...] = False
        self._arrays["deal"][games] = True
        self._arrays["seeds"][games] = seeds
        self._lost[games] = False
        self._ask(RESET, games)

    def observe(self, codes: np.ndarray, scalars: np.ndarray, legal: np.ndarray) -> None:
        """Write what both seats see, in their frames; see the protocol."""
        self._ask(OBSERVE)
        if self._lost.any():  # there is nothing to see, and nothing to do but wait
            gone = self._lost
            self._arrays["codes"][gone], self._arrays["scalars"][gone] = 0, 0
            self._arrays["legal"][gone] = np.arange(self.spec.n_actions) == PASS
        for name, out in (("codes", codes), ("scalars", scalars), ("legal", legal)):
            mine = self._arrays[name]
            if out.shape != mine.shape or out.dtype != mine.dtype:
                raise ValueError(
                    f"{name}: want {mine.dtype} {mine.shape}, got {out.dtype} {out.shape}"
                )
            out[...] = mine

    def step(self, actions: np.ndarray) -> StepResult:
        """Play one decision of flat actions (N, 2), each in its seat's frame."""
        actions = np.asarray(actions, np.int32)
        if actions.shape != (self.n_games, 2):
            raise ValueError(f"actions: want {(self.n_games, 2)}, got {actions.shape}")
        self._arrays["actions"][...] = actions
        self._ask(STEP)
        lost = self._lost.copy()
        arrays = self._arrays
        return StepResult(
            done=arrays["done"] | lost,
            truncated=arrays["truncated"] & ~lost,
            winner=np.where(lost, -1, arrays["winner"]).astype(np.int8),
            lost=lost if lost.any() else None,
        )

    def potentials(self, out: np.ndarray) -> None:
        """Leads in crowns, in towers' hitpoints and in elixir, (N, 2, 3)."""
        out[...] = self._arrays["potentials"]

    def statistics(self, out: np.ndarray) -> None:
        """See `layout.STATISTICS`, (N, 2, 5)."""
        out[...] = self._arrays["statistics"]

    def state_arrays(self) -> dict[str, np.ndarray]:
        """Copies of all state arrays by name, `frames` and the engine's snapshots among them."""
        if self.workers is None:
            parts = [self.battles.state_arrays()]
        else:
            while True:
                answers, lost = self.workers.round(STATE)
                if not lost.any():
                    break
                self._lost |= lost  # a new worker's battles are not dealt, and say so
            parts = [unpack(answers[worker.number]) for worker in self.workers.workers]
        widest = max(part["snapshot"].shape[1] for part in parts)
        for part in parts:
            snapshot = part["snapshot"]
            part["snapshot"] = np.pad(snapshot, ((0, 0), (0, widest - snapshot.shape[1])))
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        whole["lost"] = self._lost.copy()
        return whole

    def load_state_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore `state_arrays`; ValueError for other arrays or another number of battles."""
        n = len(arrays["snapshot_bytes"]) if "snapshot_bytes" in arrays else 0
        if n != self.n_games:
            raise ValueError(f"state arrays of {n} battles, this batch has {self.n_games}")
        check_state(arrays, n)
        if self.workers is None:
            self.battles.load_state_arrays(arrays)
        else:
            contents = {
                w.number: pack({name: a[w.first : w.last] for name, a in arrays.items()})
                for w in self.workers.workers
            }
            try:
                while self.workers.round(LOAD, contents=contents)[1].any():
                    pass  # one died; whoever replaced it is given its battles, too
            except WorkerError as error:
                raise ValueError(str(error)) from error
        self._lost[...] = arrays["lost"]
