"""What goes through a socket between the learner and a worker: a letter, a length, bytes."""

from __future__ import annotations

import io
import socket
import struct
from collections.abc import Mapping

import numpy as np

STEP, OBSERVE, RESET, STATE, LOAD, BEGIN = b"s", b"o", b"r", b"a", b"l", b"b"
DONE, FAILED, MISTAKE = b"d", b"f", b"m"  # done; a fault of the user's; a fault of the program
HEAD = struct.Struct("<cQ")


def send(connection: socket.socket, letter: bytes, content: bytes = b"") -> None:
    """Send one message; OSError if the other end is gone."""
    connection.sendall(HEAD.pack(letter, len(content)) + content)


def receive(connection: socket.socket) -> tuple[bytes, bytes]:
    """Wait for one message; EOFError or OSError if the other end is gone."""
    letter, length = HEAD.unpack(_exactly(connection, HEAD.size))
    return letter, _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    parts, left = [], length
    while left:
        part = connection.recv(min(left, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as bytes."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def unpack(content: bytes) -> dict[str, np.ndarray]:
    """What `pack` packed."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
