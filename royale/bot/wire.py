"""The competition's line protocol (spec section 12): frames in, orders out.

A frame is 1 + 3H lines; reading one never takes longer than it may, and a frame
that is cut short or unreadable is an error to answer with a pass, not a crash.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FOG, PLAIN, MOUNTAIN, CASTLE, GENERAL, STRUCTURE_IN_FOG = range(6)
NOBODY, ME, OPPONENT = range(3)
MOVE, PASS, BUILD = range(3)
PASS_ORDER = (PASS, 0, 0, 0, 0)
MAX_SIDE = 1000
HEADER = 5  # numbers in the first line of a frame


class WireError(ValueError):
    """What was read does not fit the protocol; the message says where."""


@dataclass(frozen=True)
class Frame:
    """What one seat is told of one turn; grids are (H, W) of the board."""

    turn: int  # turns played so far
    my_land: int
    my_army: int
    opponent_land: int
    opponent_army: int
    kind: np.ndarray  # int32, FOG to STRUCTURE_IN_FOG
    owner: np.ndarray  # int32, NOBODY, ME, OPPONENT
    army: np.ndarray  # int32, 0 where unseen


def numbers(line: bytes) -> list[int] | None:
    """The integers of a line, or None where it holds anything else."""
    try:
        return list(map(int, line.split()))
    except ValueError:
        return None


def parse_handshake(line: bytes) -> tuple[int, int, int]:
    """`player_id H W` -> those three; WireError otherwise."""
    found = numbers(line)
    if found is None or len(found) != 3 or not all(1 <= n <= MAX_SIDE for n in found[1:]):
        raise WireError(f"handshake: want 'player_id H W', got {line[:80]!r}")
    return found[0], found[1], found[2]


def parse_frame(lines: list[bytes], height: int, width: int) -> Frame:
    """1 + 3H lines -> a frame; WireError names the first line that is wrong."""
    if len(lines) != 1 + 3 * height:
        raise WireError(f"frame of {len(lines)} lines, want {1 + 3 * height}")
    rows = [numbers(line) for line in lines]
    for k, row in enumerate(rows):
        want = width if k else HEADER
        if row is None or len(row) != want:
            raise WireError(f"line {k} of the frame: want {want} integers, got {lines[k][:80]!r}")
    try:
        cells = np.array(rows[1:], np.int32).reshape(3, height, width)
    except OverflowError:
        raise WireError("a number of the frame does not fit 32 bits") from None
    for name, grid, top in zip(("type", "owner", "army"), cells, (5, 2, 2**31 - 1), strict=True):
        if grid.min() < 0 or grid.max() > top:
            raise WireError(f"{name} {grid.min()}..{grid.max()} is outside 0..{top}")
    if min(rows[0]) < 0 or max(rows[0]) >= 2**31:
        raise WireError(f"first line of the frame: {lines[0][:80]!r} is out of range")
    return Frame(*rows[0], *cells)


def format_order(order: tuple[int, ...]) -> bytes:
    """(kind, row, column, direction, split) -> the reply line."""
    return b"%d %d %d %d %d\n" % order


class LineReader:
    """Lines of a file descriptor, with a deadline."""

    def __init__(self, fd: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.fd, self.clock = fd, clock
        self._buffer = bytearray()
        self._ended = False

    def line(self, deadline: float | None = None) -> bytes | None:
        """The next line that is not blank; None if the deadline (seconds) passes first.

        EOFError at the end of the input. A last line without line end counts.
        """
        while True:
            end = self._buffer.find(b"\n")
            if end < 0 and self._ended:
                end = len(self._buffer)
                if not end:
                    raise EOFError
            if end >= 0:
                found = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                if found.strip():
                    return found
                continue
            wait = None if deadline is None else max(0.0, deadline - self.clock())
            if not select.select([self.fd], [], [], wait)[0]:
                return None
            data = os.read(self.fd, 1 << 16)
            self._ended = not data
            self._buffer += data

    def forget(self) -> None:
        """Drop what has been sent so far: the rest of a frame that was given up."""
        self._buffer.clear()
        while not self._ended and select.select([self.fd], [], [], 0)[0]:
            self._ended = not os.read(self.fd, 1 << 16)


class FrameReader:
    """The frames of one game. Every frame begun gives one result: it or a WireError."""

    def __init__(self, lines: LineReader, height: int, width: int, patience: float) -> None:
        """patience: seconds a frame may take from its first line to its last."""
        self.lines, self.height, self.width, self.patience = lines, height, width, patience
        self.began = 0.0  # when the first line of the latest frame was there
        self._turn = -1
        self._next: bytes | None = None  # a first line that came too early

    def _is_header(self, line: bytes) -> bool:
        found = numbers(line)
        return found is not None and len(found) == HEADER and found[0] > self._turn

    def _is_row(self, line: bytes) -> bool:
        found = numbers(line)
        return found is not None and len(found) == self.width

    def read(self) -> Frame:
        """The next frame. WireError if it is not whole or not right, EOFError at the end."""
        first = self._next or self.lines.line()
        self._next = None
        while self.width != HEADER and not self._is_header(first) and self._is_row(first):
            first = self.lines.line()  # left over from a frame with too many lines
        self.began = self.lines.clock()
        block = [first]
        while len(block) < 1 + 3 * self.height:
            try:
                line = self.lines.line(self.began + self.patience)
            except EOFError:
                raise WireError(f"input ends after {len(block)} lines of a frame") from None
            if line is None:
                self.lines.forget()
                raise WireError(
                    f"frame stops after {len(block)} of {1 + 3 * self.height} lines; "
                    f"waited {1000 * self.patience:.0f} ms"
                )
            if self.width != HEADER and self._is_header(line):
                self._next = line
                raise WireError(f"frame cut short after {len(block)} lines; the next one begins")
            block.append(line)
        frame = parse_frame(block, self.height, self.width)
        self._turn = frame.turn
        return frame
