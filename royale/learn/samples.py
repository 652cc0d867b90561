"""What an iteration leaves to be trained on: every turn's rewards, and the decisions.

A row (one seat of one game) with a single legal action carries no policy gradient, and
in some games nine rows in ten are such. So a turn keeps a few numbers of each row, and
only rows that chose are samples, with their observation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from royale.games.protocol import BatchedGame

BY_TURN = ("reward", "action", "done", "truncated", "learner")  # (T, R)


@dataclass
class Samples:
    """M decisions of the learner in order of their turn, then of their row; arrays (M, ...).

    One of an iteration's first turn may have a single legal action (see `Rollout`).
    """

    turn: np.ndarray  # int32: t, the index of its turn in the rollout
    row: np.ndarray  # int32: 2 * game + seat
    codes: np.ndarray  # (M, C...) uint8
    scalars: np.ndarray  # (M, S) float32
    legal: np.ndarray  # (M, ceil(A/8)) uint8, packed
    n_legal: np.ndarray  # int32
    action: np.ndarray  # int32
    log_prob: np.ndarray  # float32, nats
    entropy: np.ndarray  # float32, nats, over the legal actions
    value: np.ndarray  # float32
    keep: np.ndarray  # float32, with `forced` the mixture of `explore`
    forced: np.ndarray  # float32
    dropped: np.ndarray  # bool: of a game that was lost before it ended

    def __len__(self) -> int:
        return len(self.turn)

    def part(self, which: slice) -> Samples:
        """Some of them, as views."""
        return Samples(**{f.name: getattr(self, f.name)[which] for f in fields(self)})


class Rollout:
    """T turns of R = 2N rows, compact: codes, not planes.

    reward float32, action int32 (also of rows that had no choice, and of opponents), done,
    truncated, learner (played by the trained network) bool, all (T, R); last_value (R,)
    float32 of the observation after the last turn; `samples` the learner's decisions.
    Of the first turn all the learner's rows are samples: the iteration before bootstrapped
    from these very observations, so their value must be learned even where nothing could
    be chosen.
    """

    def __init__(self, game: BatchedGame, horizon: int) -> None:
        spec, rows = game.spec, 2 * game.n_games
        self.horizon, self.rows = horizon, rows
        self.reward = np.zeros((horizon, rows), np.float32)
        self.action = np.zeros((horizon, rows), np.int32)
        self.done = np.zeros((horizon, rows), np.bool_)
        self.truncated = np.zeros((horizon, rows), np.bool_)
        self.learner = np.ones((horizon, rows), np.bool_)
        self.last_value = np.zeros(rows, np.float32)
        shapes = {
            "codes": (spec.code_shape, np.uint8),
            "scalars": ((len(spec.scalars),), np.float32),
            "legal": (((spec.n_actions + 7) // 8,), np.uint8),
            "dropped": ((), np.bool_),
        }
        shapes |= dict.fromkeys(("turn", "row", "n_legal", "action"), ((), np.int32))
        floats = ("log_prob", "entropy", "value", "keep", "forced")
        shapes |= dict.fromkeys(floats, ((), np.float32))
        # Room for every row of every turn: what is never written takes no memory.
        most = horizon * rows
        self._room = Samples(**{k: np.empty((most, *s), t) for k, (s, t) in shapes.items()})
        self.begin()

    def begin(self) -> None:
        """Forget all samples."""
        self.samples = self._room.part(slice(0, 0))
        self._episode_from = np.zeros(self.rows, np.int32)

    def add(
        self,
        t: int,
        rows: np.ndarray,
        codes: np.ndarray,
        scalars: np.ndarray,
        legal: np.ndarray,
    ) -> Samples:
        """Append the decisions that `rows` (K,), ascending, take at turn t; views to fill in.

        codes (R, C...), scalars (R, S) and packed legal (R, ceil(A/8)) are of all rows
        and are copied; log_prob, entropy, value, action and n_legal are the caller's.
        """
        first = len(self.samples)
        new = self._room.part(slice(first, first + rows.size))
        new.turn[:], new.row[:] = t, rows
        for to, of in ((new.codes, codes), (new.scalars, scalars), (new.legal, legal)):
            if rows.size == self.rows:
                to[...] = of
            else:
                np.take(of, rows, axis=0, out=to, mode="clip")  # `raise` would copy twice
        new.keep[:], new.forced[:], new.dropped[:] = 1.0, 0.0, False
        self.samples = self._room.part(slice(0, first + rows.size))
        return new

    def end_turn(self, t: int, done: np.ndarray, lost: np.ndarray | None) -> None:
        """Note which games (N,) ended with turn t, and drop the samples of those lost."""
        self.done[t] = np.repeat(done, 2)
        if lost is not None:
            self.drop(lost)
        self._episode_from[self.done[t]] = t + 1

    def drop(self, lost: np.ndarray) -> None:
        """Drop the samples of the lost games (N,).

        Only the unfinished episode is dropped: what the game played before is whole.
        """
        samples, gone = self.samples, np.repeat(lost, 2)
        samples.dropped |= gone[samples.row] & (samples.turn >= self._episode_from[samples.row])

    def contents(self) -> dict[str, object]:
        """All that was played, for `joined`."""
        turns = {name: getattr(self, name) for name in BY_TURN}
        return {**turns, "last_value": self.last_value, "samples": vars(self.samples)}

    def state_arrays(self) -> dict[str, np.ndarray]:
        """What training on it needs, as arrays by name."""
        samples = {f"samples/{name}": array for name, array in vars(self.samples).items()}
        turns = {f"turns/{name}": getattr(self, name) for name in BY_TURN}
        return {**turns, "last_value": self.last_value, **samples}

    def room(self, m: int) -> dict[str, np.ndarray]:
        """Arrays of the shapes and types of m samples, or of as many as there is room for."""
        return vars(self._room.part(slice(0, m)))

    def load_state_arrays(self, arrays: Mapping[str, np.ndarray], n_actions: int) -> None:
        """Restore `state_arrays` of the right shapes; ValueError where a number cannot be.

        What they index is not looked at again, so a stranger's file is checked here.
        """
        m = len(arrays["samples/turn"])
        samples = self._room.part(slice(0, m))
        for name, array in vars(samples).items():
            array[...] = arrays[f"samples/{name}"]
        for name in BY_TURN:
            getattr(self, name)[...] = arrays[f"turns/{name}"]
        self.last_value[...] = arrays["last_value"]
        place = samples.turn.astype(np.int64) * self.rows + samples.row
        inside = (samples.row >= 0) & (samples.row < self.rows)
        inside &= (samples.turn >= 0) & (samples.turn < self.horizon)
        if not (inside.all() and (np.diff(place) > 0).all()):
            raise ValueError("a rollout's samples are not in the order of turns and rows")
        actions = (samples.action >= 0) & (samples.action < n_actions)
        if not (actions.all() and (samples.n_legal > 0).all()):
            raise ValueError("a rollout's samples have actions that there are not")
        self.samples = samples

    def joined(self, parts: Sequence[Mapping[str, Any]]) -> Rollout:
        """The rollout of all games, from the `contents` of each part of them in order."""
        out = copy(self)
        for name in BY_TURN:
            setattr(out, name, np.concatenate([part[name] for part in parts], axis=1))
        out.last_value = np.concatenate([part["last_value"] for part in parts])
        rows = [part["last_value"].size for part in parts]
        found = [part["samples"] for part in parts]
        whole = {k: np.concatenate([samples[k] for samples in found]) for k in found[0]}
        counts = [len(samples["row"]) for samples in found]
        whole["row"] += np.repeat(np.cumsum([0, *rows[:-1]]), counts).astype(np.int32)
        order = np.lexsort((whole["row"], whole["turn"]))
        out.samples = Samples(**{name: array[order] for name, array in whole.items()})
        out.rows = sum(rows)
        return out

    def owner(self) -> np.ndarray:
        """(T, R) int64: the sample whose transition a turn belongs to, or -1.

        It is the row's latest at or before the turn, unless a game ended since.
        """
        out = np.full((self.horizon, self.rows), -1)
        out[self.samples.turn, self.samples.row] = np.arange(len(self.samples))
        for t in range(1, self.horizon):
            goes_on = (out[t] < 0) & ~self.done[t - 1]
            out[t, goes_on] = out[t - 1, goes_on]
        return out
