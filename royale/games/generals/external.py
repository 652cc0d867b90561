"""Players of any language: processes that speak the competition's line protocol (spec section 12).

A process plays one game, so it may remember; `ExternalPlayer` is therefore not a
`protocol.Player` but a `protocol.StatefulPlayer`.

Everything on the wire follows from an observation's codes and scalars: totals are
float32 logarithms there, which give back integers up to `EXACT_TOTAL` exactly. The
army of a cell is exact up to the codes' bound, 32767.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from royale.errors import RoyaleError
from royale.games.generals.layout import (
    ARMY_HIGH,
    ARMY_LOW,
    SCALARS,
    SIGHT,
    SIGHT_BITS,
    UNIT_BITS,
    UNITS,
)
from royale.games.protocol import View

FAULTS = ("crash", "late", "malformed", "illegal", "extra")
MAX_FAULTS = 50  # a game with this many is forfeited, as in the competition
EXACT_TOTAL = 500_000  # greatest army in all that a scalar gives back exactly
FORFEIT = -1  # the action that gives a game up
GRACE_SECONDS = 3.0  # from the end of its input to the end of a process
READ_BYTES = 1 << 16
# On the wire: from the least to the highest priority.
TYPES = (("structure_in_fog", 5), ("mountain", 2), ("castle", 3), ("general", 4))


def frames(codes: np.ndarray, scalars: np.ndarray, turns: np.ndarray) -> list[bytes]:
    """The frames of R rows as the competition sends them, 1 + 3H lines each.

    codes (R, C, S, S) uint8, scalars (R, len(SCALARS)) float32, turns (R,).
    """
    found = []
    exact = scalars.astype(np.float64)
    for row in range(len(codes)):
        sight, units = codes[row, SIGHT], codes[row, UNITS]

        def bit(name: str, sight: np.ndarray = sight) -> np.ndarray:
            return (sight >> SIGHT_BITS.index(name)) & 1 > 0

        inside = bit("inside")
        height, width = int(inside[:, 0].sum()), int(inside[0].sum())
        kind = 1 - ((units >> UNIT_BITS.index("fog")) & 1).astype(np.int32)
        for name, number in TYPES:
            kind[bit(name)] = number
        owner = bit("own") + 2 * bit("opponent")
        army = codes[row, ARMY_LOW] + 256 * codes[row, ARMY_HIGH].astype(np.int32)
        value = dict(zip(SCALARS, exact[row], strict=True))
        area = height * width
        head = [
            int(turns[row]),
            round(value["own_land"] * area),
            round(np.expm1(8 * value["own_army"])),
            round(value["opponent_land"] * area),
            round(np.expm1(8 * value["opponent_army"])),
        ]
        rows = [head]
        for grid in (kind, owner, army):
            rows += grid[:height, :width].tolist()
        found.append("".join(" ".join(map(str, line)) + "\n" for line in rows).encode())
    return found


def to_action(order: Sequence[int], legal: np.ndarray) -> int | None:
    """An order of the wire as a flat action, or None if it is not a legal one.

    Kinds, directions and splits out of their range are illegal here; what the
    competition does with them is not known (spec section 11).
    """
    kind, row, column, direction, split = order
    side = math.isqrt(legal.size // 9)
    if kind == 1:
        return legal.size - 1
    if kind not in (0, 2) or not (0 <= row < side and 0 <= column < side):
        return None
    if kind == 0 and not (0 <= direction <= 3 and 0 <= split <= 1):
        return None
    plane = 8 if kind == 2 else 4 * split + direction
    action = (plane * side + row) * side + column
    return action if legal[action] else None


class _Process:
    """One game's process: lines out, lines in, never blocking."""

    def __init__(self, command: list[str], folder: Path | None, handshake: bytes) -> None:
        try:
            self.popen = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # so that what it starts can be ended with it
            )
        except OSError as error:
            raise RoyaleError(f"external player: cannot start {command}: {error}") from None
        for pipe in (self.popen.stdin, self.popen.stdout):
            os.set_blocking(pipe.fileno(), False)
        self.fd = self.popen.stdout.fileno()
        self.ended = False  # nothing more will come
        self.owed = 0  # replies that came too late, still to be thrown away
        self._in, self._out = bytearray(), bytearray(handshake)

    def send(self, data: bytes = b"") -> None:
        """Send as much as the pipe takes; the rest waits for the next call."""
        self._out += data
        try:
            while self._out:
                del self._out[: os.write(self.popen.stdin.fileno(), self._out)]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ValueError):
            self._out.clear()

    def lines(self) -> list[bytes]:
        """The whole lines that have come, without late replies."""
        try:
            data = os.read(self.fd, READ_BYTES)
            self.ended = not data
            self._in += data
        except BlockingIOError:
            pass
        *whole, rest = bytes(self._in).split(b"\n")
        self._in = bytearray(rest[:READ_BYTES])
        stale = min(self.owed, len(whole))
        self.owed -= stale
        return whole[stale:]

    def finish(self, last: float) -> None:
        """Wait until the monotonic time `last`, then end it and all that it started."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(max(0.0, last - time.monotonic()))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        self.popen.stdout.close()


Asked = tuple[_Process, float, set[str]]  # a process, its deadline, faults of this turn


def _judge(
    process: _Process, lines: list[bytes], faults: set[str], legal: np.ndarray
) -> int | None:
    """The action of a reply, or of none in time; adds to `faults` what is wrong with it."""
    if not lines:
        faults.add("crash" if process.ended else "late")
        process.owed += not process.ended
        return None
    if len(lines) > 1:
        faults.add("extra")
    try:
        order = list(map(int, lines[0].split()))
    except ValueError:
        order = []
    if len(order) != 5:
        faults.add("malformed")
        return None
    action = to_action(order, legal)
    if action is None:
        faults.add("illegal")
    return action


class ExternalPlayer:
    """Plays its side of every game of a match by a process a game; see `external_player`."""

    def __init__(
        self,
        command: list[str],
        limits: tuple[float, float],
        max_faults: int,
        parallel: int,
        folder: Path | None,
    ) -> None:
        self.command, self.folder = command, folder
        self.limit, self.startup = limits  # seconds
        self.max_faults, self.parallel = max_faults, parallel
        self.faults: dict[int, Counter[str]] = {}  # game -> kind -> how many
        self._processes: dict[int, _Process] = {}
        self._closing: list[_Process] = []
        self._seats = np.zeros(0, int)

    def begin(self, seats: np.ndarray) -> None:
        """Start a match; seats (N,) says where this player sits in each game."""
        self.end()
        self._seats = np.asarray(seats)
        self.faults = {game: Counter() for game in range(len(self._seats))}

    def act(self, view: View, games: np.ndarray) -> np.ndarray:
        """Flat actions (R,) int32 for the running games (R,); `FORFEIT` gives a game up."""
        for game in set(self._processes) - set(games.tolist()):
            self._processes[game].popen.stdin.close()
            self._closing.append(self._processes.pop(game))
        texts = frames(view.codes, view.scalars, view.turns)
        actions = np.full(len(games), view.legal.shape[1] - 1, np.int32)
        waiting = list(range(len(games)))[::-1]
        asked: dict[int, Asked] = {}
        with selectors.DefaultSelector() as selector:
            while waiting or asked:
                # Only as many think at once as there are cores, or none would be in time.
                while waiting and len(asked) < self.parallel:
                    row = waiting.pop()
                    asked[row] = self._ask(int(games[row]), view, row, texts[row])
                    selector.register(asked[row][0].fd, selectors.EVENT_READ, row)
                nearest = min(deadline for _, deadline, _ in asked.values())
                selector.select(max(0.0, min(nearest - time.monotonic(), 0.01)))
                for row, (process, deadline, faults) in list(asked.items()):
                    process.send()
                    late = time.monotonic() >= deadline
                    lines = process.lines()
                    if lines or process.ended or late:
                        action = _judge(process, lines, faults, view.legal[row])
                        if not faults:
                            actions[row] = action
                        counts = self.faults[int(games[row])]
                        counts.update(faults)
                        if counts.total() >= self.max_faults:
                            actions[row] = FORFEIT
                        selector.unregister(process.fd)
                        del asked[row]
        return actions

    def _ask(self, game: int, view: View, row: int, text: bytes) -> Asked:
        """Send a frame; what came since the last reply was not asked for."""
        faults: set[str] = set()
        limit = self.limit
        process = self._processes.get(game)
        if process is None:
            limit = self.startup
            inside = view.codes[row, SIGHT] & 1
            size = inside[:, 0].sum(), inside[0].sum()
            handshake = b"%d %d %d\n" % (self._seats[game], *size)
            process = self._processes[game] = _Process(self.command, self.folder, handshake)
        elif process.lines():
            faults.add("extra")
        process.send(text)
        return process, time.monotonic() + limit, faults

    def end(self) -> None:
        """The match is over: end of input for all, and of those that do not end by themselves."""
        for process in self._processes.values():
            process.popen.stdin.close()
        last = time.monotonic() + GRACE_SECONDS
        for process in [*self._closing, *self._processes.values()]:
            process.finish(last)
        self._processes, self._closing = {}, []


def external_player(
    command: list[str] | str,
    limit_ms: float = 150.0,
    startup_ms: float = 10_000.0,
    max_faults: int = MAX_FAULTS,
    parallel: int | None = None,
    folder: str | Path | None = None,
) -> ExternalPlayer:
    """A player that runs `command` (words, or a line split as a shell would) once a game.

    limit_ms: time from a frame to its reply; the first reply has `startup_ms` from the
    process's start. parallel: games whose processes think at the same time (default: the
    cores there are). folder: where the command runs. A faulty turn is a pass; faults are
    counted by game and kind in `faults`: crash (counted every turn from then on), late,
    malformed (not five integers), illegal, extra (lines nobody asked for). `max_faults`
    of them forfeit the game.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise RoyaleError("external player: the command is empty")
    return ExternalPlayer(
        words,
        (limit_ms / 1000, startup_ms / 1000),
        max_faults,
        parallel or len(os.sched_getaffinity(0)),
        Path(folder) if folder else None,
    )
