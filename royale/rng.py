"""Stateless random numbers: a key in, a number out.

Every random choice is addressed by name (which run, which game, which seat,
which turn), never by its position in a stream. So a game replays from its
record whatever it was batched with, and a resumed run needs no generator state.

The mixing function is splitmix64 (Steele, Lea and Flood 2014, "Fast splittable
pseudorandom number generators").
"""

from __future__ import annotations

import hashlib

import numba
import numpy as np

GAMMA = np.uint64(0x9E3779B97F4A7C15)


def key_of(*path: object) -> int:
    """A 64-bit key for a name such as ("g03", "treatment", 0, "games")."""
    text = "/".join(str(part) for part in path)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


@numba.njit(numba.uint64(numba.uint64), cache=True, inline="always")
def mix(x):
    """splitmix64's output function on x + gamma."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@numba.njit(numba.float64(numba.uint64), cache=True, inline="always")
def unit(key):
    """A float64 uniform on [0, 1) with 53 bits."""
    return float(key >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def fold(keys: np.ndarray | int, *parts: np.ndarray | int) -> np.ndarray:
    """Derive new keys (uint64) from keys and integers, broadcasting over arrays."""
    with np.errstate(over="ignore"):
        out = np.asarray(keys, dtype=np.uint64)
        for part in parts:
            out = _mix_array(out ^ _mix_array(np.asarray(part, dtype=np.uint64)))
    return out


def _mix_array(x: np.ndarray) -> np.ndarray:
    x = x + GAMMA
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniform(keys: np.ndarray) -> np.ndarray:
    """float64 uniforms on [0, 1), one a key."""
    return (np.asarray(keys, dtype=np.uint64) >> np.uint64(11)).astype(np.float64) / 2.0**53


def permutation(key: int, n: int) -> np.ndarray:
    """A permutation of range(n) that depends on `key` alone."""
    return np.random.Generator(np.random.Philox(key=int(key) & (2**64 - 1))).permutation(n)
