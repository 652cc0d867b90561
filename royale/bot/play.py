"""One game's bot: a frame in, an order out, always within the limit."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import numpy as np

from royale.bot import choose, wire
from royale.bot.bundle import Bundle
from royale.bot.inference import Net, OutOfTime
from royale.bot.memory import Memory, Observation
from royale.bot.planes import check_names, expand

MARGIN_SHARE, MARGIN_SECONDS = 0.1, 0.010  # kept back of the limit: the greater of both
RECENT = 9  # forward passes that the speed is estimated from
IMPATIENCE = 0.8  # a refused pass lowers the estimate by this, so that it is tried again


class Pace:
    """Whether the rest of a forward pass fits into the time left, by the passes made so far."""

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        """limit: seconds from a frame's first line to the answer."""
        self.budget = limit - max(MARGIN_SHARE * limit, MARGIN_SECONDS)
        self.clock = clock
        self._stages: deque[float] = deque(maxlen=RECENT)  # seconds a stage
        self._deadline = self._began = 0.0
        self._first = 0

    @property
    def stage(self) -> float:
        """Seconds a stage, the median of recent passes."""
        return float(np.median(self._stages)) if self._stages else 0.0

    def begin(self, arrived: float) -> None:
        """A frame came at this time."""
        self._deadline, self._first = arrived + self.budget, 0

    def go_on(self, stages_left: int) -> bool:
        """False once the stages left would end after the deadline."""
        now = self.clock()
        if not self._first:
            self._began, self._first = now, stages_left
        if now + stages_left * self.stage <= self._deadline:
            return True
        done = self._first - stages_left
        if done:
            self._stages.append((now - self._began) / done)
        else:
            self._stages = deque((IMPATIENCE * s for s in self._stages), maxlen=RECENT)
        return False

    def finished(self) -> None:
        """The pass is over."""
        self._stages.append((self.clock() - self._began) / self._first)


class Bot:
    """Plays one seat of one game."""

    def __init__(
        self,
        bundle: Bundle,
        limit_ms: float,
        sample_seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        net: Net | None = None,
    ) -> None:
        """sample_seed: sample the policy from this seed; None takes the greatest logit."""
        check_names(bundle.meta["encoder"], bundle.meta["planes"])
        self.meta, self.clock = bundle.meta, clock
        self.net = net or Net(bundle)
        self.pace = Pace(limit_ms / 1000, clock)
        self._random = None if sample_seed is None else np.random.default_rng(sample_seed)
        self.memory: Memory | None = None
        self.moves = self.fallbacks = self.bad_frames = 0
        self.slowest = 0.0  # seconds
        self._warm_up()

    def _warm_up(self) -> None:
        """First passes are slow, and the pace must be known before the first frame."""
        planes = np.zeros((len(self.meta["planes"]), self.net.side, self.net.side), np.float32)
        for _ in range(3):
            self.pace.begin(np.inf)
            self.net.forward(planes, self.pace.go_on)
            self.pace.finished()

    def start(self, height: int, width: int) -> None:
        """A new game; ValueError if its board is larger than the canvas."""
        self.memory = None
        self.memory = Memory(self.meta, height, width)

    def move(self, frame: wire.Frame, arrived: float) -> tuple[int, ...]:
        """The order for a frame that arrived at a time of the clock."""
        if self.memory is None:
            return wire.PASS_ORDER
        seen = self.memory.observe(frame)
        order = choose.to_order(self._action(seen, arrived), self.net.side)
        self.memory.acted(order)
        self.moves += 1
        self.slowest = max(self.slowest, self.clock() - arrived)
        return order

    def give_up(self) -> tuple[int, ...]:
        """The answer to a frame that could not be read."""
        self.bad_frames += 1
        if self.memory is not None:
            self.memory.acted(wire.PASS_ORDER)
        return wire.PASS_ORDER

    def _action(self, seen: Observation, arrived: float) -> int:
        self.pace.begin(arrived)
        try:
            planes = expand(seen.codes, seen.scalars, self.meta["encoder"])
            logits, _ = self.net.forward(planes, self.pace.go_on)
        except OutOfTime:
            self.fallbacks += 1
            return choose.cheap(seen)
        self.pace.finished()
        if self._random is None:
            return choose.greedy(logits, seen.legal)
        return choose.sample(logits, seen.legal, self._random.random())

    def summary(self) -> str:
        """One line on the game, for stderr."""
        return (
            f"{self.moves} moves, {self.fallbacks} without the network for want of time, "
            f"{self.bad_frames} bad frames, slowest {1000 * self.slowest:.1f} ms"
        )
