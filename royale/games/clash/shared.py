"""The arrays that a batch and whoever plays its battles have in common."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import IO

import numpy as np

from royale.errors import RoyaleError
from royale.games.clash.layout import BYTES, N_ACTIONS, POTENTIALS, ROWS, SCALARS, STATISTICS

# Name -> type and shape behind the number of battles.
FIELDS: dict[str, tuple[type, tuple[int, ...]]] = {
    "seeds": (np.uint64, ()),
    "scalars": (np.float32, (2, len(SCALARS))),
    "potentials": (np.float32, (2, len(POTENTIALS))),
    "statistics": (np.float32, (2, len(STATISTICS))),
    "actions": (np.int32, (2,)),
    "turns": (np.int32, ()),
    "codes": (np.uint8, (2, ROWS, BYTES)),
    "legal": (np.uint8, (2, N_ACTIONS)),
    "deal": (np.bool_, ()),  # battles that the next reset is for
    "done": (np.bool_, ()),
    "truncated": (np.bool_, ()),
    "winner": (np.int8, ()),
    "frames": (np.int8, (2,)),
}


def size(n: int) -> int:
    """Bytes that the arrays of n battles take."""
    return sum(n * _bytes(kind, shape) + 64 for kind, shape in FIELDS.values())


def open_memory(n: int) -> IO[bytes]:
    """A file without a name for the arrays of n battles, all zero, for processes to map.

    In memory, else (a container's /dev/shm may have 64 MB for all) in the temporary folder;
    RoyaleError where neither has room. It is written in full now: in a sparse file, the first
    write that finds no room would end the process with SIGBUS.
    """
    faults = []
    for folder in ("/dev/shm", tempfile.gettempdir()):
        try:
            file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
            if file.write(bytes(size(n))) == size(n):
                return file
            fault = "no room"
            file.close()
        except OSError as error:
            fault = error.strerror
        faults.append(f"{folder}: {fault}")
    raise RoyaleError(
        f"clash: no room for the {size(n):,} bytes that {n} battles have in common with their "
        f"workers ({'; '.join(faults)}); free some, or set workers: 0"
    )


def arrays(buffer: object, n: int) -> dict[str, np.ndarray]:
    """The arrays of n battles, as views of a buffer of at least `size(n)` bytes."""
    at, out = 0, {}
    for name, (kind, shape) in FIELDS.items():
        count = n * int(np.prod(shape, dtype=int))
        out[name] = np.frombuffer(buffer, kind, count, at).reshape(n, *shape)
        at += -(-n * _bytes(kind, shape) // 64) * 64  # each on a cache line of its own
    return out


def part(whole: Mapping[str, np.ndarray], first: int, last: int) -> dict[str, np.ndarray]:
    """The arrays of battles first to last - 1, as views."""
    return {name: array[first:last] for name, array in whole.items()}


def _bytes(kind: type, shape: tuple[int, ...]) -> int:
    return int(np.dtype(kind).itemsize * np.prod(shape, dtype=int))
