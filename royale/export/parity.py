"""Whether an exported champion plays as the champion itself, counted over whole games.

The engine's observation is what the others are compared with. Torch reads the engine's codes,
the numpy bot the text that the competition would send, and onnxruntime torch's planes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from royale import rng
from royale.bot import bundle, choose, memory, wire
from royale.bot.inference import Net
from royale.bot.planes import expand
from royale.errors import RoyaleError
from royale.export import onnx_graph
from royale.games import load as load_game
from royale.games.generals.layout import (
    ARMY,
    CASTLE,
    HEIGHT,
    IS_GENERAL,
    LAND,
    MOUNTAIN,
    TIME,
    WIDTH,
)
from royale.learn.player import NetworkPlayer

PLANE_TOLERANCE = 1e-6  # planes are at most about 2: some units in the last place
LIMIT_MS = 150.0  # the competition's
KEY = rng.key_of("export", "parity")
ROOT = Path(__file__).resolve().parents[2]


def wire_frame(game: Any, n: int, seat: int) -> list[bytes]:
    """What the competition sends a seat of game `n` of a Generals batch: 1 + 3H lines."""
    table, side = game.table[n], game.side
    height, width = int(table[HEIGHT]), int(table[WIDTH])

    def board(flat: np.ndarray) -> np.ndarray:
        return flat.reshape(side, side)[:height, :width]

    owner, army, kind = board(game.owner[n]), board(game.army[n]), board(game.kind[n])
    padded = np.pad(owner == seat, 1)
    seen = np.zeros((height, width), bool)
    for row in range(3):
        for column in range(3):
            seen |= padded[row : row + height, column : column + width]
    hidden = np.where(kind & (MOUNTAIN | CASTLE), wire.STRUCTURE_IN_FOG, wire.FOG)
    shown = np.full((height, width), wire.PLAIN)
    for bit, name in (
        (MOUNTAIN, wire.MOUNTAIN),
        (CASTLE, wire.CASTLE),
        (IS_GENERAL, wire.GENERAL),
    ):
        shown[(kind & bit) != 0] = name
    owners = np.select([owner == seat, owner == 1 - seat], [wire.ME, wire.OPPONENT], wire.NOBODY)
    head = (TIME, LAND + seat, ARMY + seat, LAND + 1 - seat, ARMY + 1 - seat)
    rows = [[int(table[k]) for k in head]]
    for grid in (np.where(seen, shown, hidden), owners * seen, army * seen):
        rows += grid.tolist()
    return [" ".join(map(str, row)).encode() for row in rows]


class Tally:
    """Counts and times of the comparison so far."""

    def __init__(self) -> None:
        self.turns = self.moves = self.games = 0
        self.actions = {"numpy": 0, "onnx": 0}
        self.logits = {"numpy": 0.0, "onnx": 0.0}
        self.value = {"numpy": 0.0, "onnx": 0.0}
        self.legal = self.codes = self.planes = 0
        self.seconds: dict[str, list[float]] = {"numpy": [], "onnx": [], "torch": []}


class NumpySeat:
    """The parts of the bot's process for one seat, whose results between can be compared."""

    def __init__(self, net: Net, meta: dict[str, Any], height: int, width: int) -> None:
        self.net, self.meta, self.size = net, meta, (height, width)
        self.memory = memory.Memory(meta, height, width)

    def read(self, lines: list[bytes]) -> tuple[memory.Observation, Any, Any, Any, bytes]:
        """One move from its text -> observation, planes, logits, value outputs, reply."""
        seen = self.memory.observe(wire.parse_frame(lines, *self.size))
        planes = expand(seen.codes, seen.scalars, self.meta["encoder"])
        logits, value = self.net.forward(planes)
        order = choose.to_order(choose.greedy(logits, seen.legal), self.net.side)
        return seen, planes, logits, value, wire.format_order(order)


def timed(seconds: list[float], function: Callable[[], Any]) -> Any:
    """Call, and note how long it took."""
    began = time.perf_counter()
    value = function()
    seconds.append(time.perf_counter() - began)
    return value


class Comparison:
    """Two games at a time: one of greatest logits, one sampled, so that many turns differ."""

    def __init__(self, champion: Path, bundle_file: Path, onnx_file: Path) -> None:
        self.player = NetworkPlayer(champion)
        game = load_game(self.player.meta["game"])
        self.batch = game.make(2, self.player.meta["settings"], game.encoders[0])
        self.spec = self.batch.spec
        self.found = bundle.read(bundle_file)
        self.net, self.session = Net(self.found), onnx_graph.session(onnx_file)
        self.tally = Tally()
        self.seats: list[list[NumpySeat]] = [[], []]
        # A greedy game of seat 0, for the bot's own process to play again.
        self.size = (0, 0)
        self.frames: list[bytes] = []
        self.replies: list[bytes] = []
        self._recording = True

    @torch.inference_mode()
    def run(self, min_turns: int, report: Callable[[int], None]) -> None:
        """Play until both games together have had `min_turns` turns."""
        spec, batch, tally = self.spec, self.batch, self.tally
        shape = (2, 2, *spec.code_shape)
        codes = np.zeros(shape, np.uint8)
        scalars = np.zeros((2, 2, len(spec.scalars)), np.float32)
        legal = np.zeros((2, 2, spec.n_actions), np.uint8)
        actions = np.zeros((2, 2), np.int32)
        over = np.ones(2, bool)
        while tally.turns < min_turns:
            for n in np.flatnonzero(over):
                self._deal(n)
            batch.observe(codes, scalars, legal)
            for n, seat in np.ndindex(2, 2):
                row = codes[n, seat][None], scalars[n, seat][None], legal[n, seat][None]
                actions[n, seat] = self._move(n, seat, *row)
            over = batch.step(actions).done
            self._recording = self._recording and not over[0]
            tally.turns += 2
            report(tally.turns)

    def _deal(self, n: int) -> None:
        seed = rng.fold(KEY, np.array([self.tally.games]))
        self.batch.reset(np.array([n]), seed)
        self.tally.games += 1
        size = int(self.batch.table[n, HEIGHT]), int(self.batch.table[n, WIDTH])
        self.seats[n] = [NumpySeat(self.net, self.found.meta, *size) for _ in range(2)]
        if n == 0 and not self.frames:
            self.size = size

    def _move(
        self, n: int, seat: int, codes: np.ndarray, scalars: np.ndarray, legal: np.ndarray
    ) -> int:
        """Compare one move; return the action to play."""
        tally, numpy_seat = self.tally, self.seats[n][seat]
        lines = wire_frame(self.batch, n, seat)
        truth = self.player.expand(
            torch.from_numpy(codes), torch.from_numpy(scalars), self.found.meta["encoder"]
        )
        planes_in = truth.numpy()
        logits, value = timed(tally.seconds["torch"], lambda: self.player.network(truth))
        logits, value = logits[0].numpy(), value[0].numpy()
        seen, planes, mine, my_value, reply = timed(
            tally.seconds["numpy"], lambda: numpy_seat.read(lines)
        )
        theirs, their_value = timed(
            tally.seconds["onnx"], lambda: self.session.run(None, {"planes": planes_in})
        )
        allowed = legal[0].astype(bool)
        best = choose.greedy(logits, allowed)
        ours = choose.greedy(mine, seen.legal)
        tally.moves += 1
        tally.actions["numpy"] += ours != best
        tally.actions["onnx"] += choose.greedy(theirs[0], allowed) != best
        for name, other, its_value in (
            ("numpy", mine, my_value),
            ("onnx", theirs[0], their_value[0]),
        ):
            tally.logits[name] = max(tally.logits[name], float(np.abs(other - logits).max()))
            tally.value[name] = max(tally.value[name], float(np.abs(its_value - value).max()))
        tally.legal += int((seen.legal != allowed).sum())
        tally.codes += int((seen.codes != codes[0]).sum())
        tally.planes += int((np.abs(planes - planes_in[0]) > PLANE_TOLERANCE).sum())
        if n == 1:
            uniform = float(rng.uniform(rng.fold(KEY, tally.games, tally.moves)))
            best = choose.sample(logits, allowed, uniform)
        numpy_seat.memory.acted(choose.to_order(best, self.spec.height))
        if n == 0 and seat == 0 and self._recording:
            self.frames.append(b"\n".join(lines) + b"\n")
            self.replies.append(reply)
        return best


def play_process(
    bundle_file: Path, size: tuple[int, int], frames: list[bytes], replies: list[bytes]
) -> dict[str, Any]:
    """Send a recorded game to the bot as its own process; its faults, speed and memory.

    A fault is a reply that is not the recorded one, or none. The time limit is put out
    of reach, so that replies do not depend on the machine; `over_limit` counts moves
    that took longer than the competition's 150 ms, pipes included.
    """
    command = [sys.executable, "-m", "royale.bot", "--weights", str(bundle_file.resolve())]
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--limit-ms", "60000"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    seconds, faults, startup = [], 0, 0.0
    try:
        process.stdin.write(b"0 %d %d\n" % size)
        for frame, wanted in zip(frames, replies, strict=True):
            sent = time.perf_counter()
            process.stdin.write(frame)
            process.stdin.flush()
            faults += process.stdout.readline() != wanted
            done = time.perf_counter()
            startup = startup or done - began
            seconds.append(done - sent)
        memory_mb = peak_memory_mb(process.pid)
        process.stdin.close()
        faults += len(process.stdout.read().splitlines())
        said = process.stderr.read().decode(errors="replace")
        process.wait()
    except BrokenPipeError:
        said = process.stderr.read().decode(errors="replace")
        raise RoyaleError(f"the bot ended in the middle of a game: {said[-500:]}") from None
    finally:
        process.kill()
    told = re.search(r"(\d+) moves, (\d+) without", said)
    if process.returncode or not told:
        raise RoyaleError(f"the bot exited with {process.returncode}: {said[-500:]}")
    ms = 1000 * np.array(seconds[1:] or seconds)
    return {
        "moves": int(told[1]),
        "faults": int(faults),
        "fallbacks": int(told[2]),
        "first_reply_ms": 1000 * startup,
        "ms": spread(ms),
        "over_limit": int((ms > LIMIT_MS).sum()),
        "peak_memory_mb": memory_mb,
    }


def peak_memory_mb(pid: int) -> float:
    """Greatest resident memory of a running process so far; 0 if it is gone."""
    # Not getrusage: its maximum starts from the memory of the parent.
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def spread(ms: np.ndarray) -> dict[str, float]:
    """Median, 99th percentile and maximum."""
    return {
        "median": float(np.median(ms)),
        "p99": float(np.percentile(ms, 99)),
        "max": float(ms.max()),
    }
