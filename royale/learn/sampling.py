"""Sampling one legal action a row from logits.

Legal actions travel packed eight to a byte (`np.packbits` order: the first action is
the high bit): the stored rollout is 8 times smaller, and the kernels skip illegal
actions eight at a time, which is most of them. Sums are float64.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import torch
from torch import Tensor


def pack_legal(legal: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """legal (..., A) uint8 of 0 and 1 -> (..., ceil(A/8)) uint8."""
    packed = np.packbits(legal, axis=-1)
    if out is None:
        return packed
    out[...] = packed
    return out


def unpack_legal(packed: Tensor, n_actions: int) -> Tensor:
    """Packed (R, ceil(A/8)) uint8 on any device -> legal (R, A) bool."""
    shifts = torch.arange(7, -1, -1, device=packed.device, dtype=torch.uint8)
    bits = (packed[:, :, None] >> shifts) & 1
    return bits.flatten(1)[:, :n_actions].bool()


@numba.njit(cache=True)
def gather_legal(packed, n_actions, out):
    """Write the indices of a row's legal actions into `out`; return how many."""
    count = 0
    for byte in range(packed.shape[0]):
        bits = packed[byte]
        if bits == 0:
            continue
        for bit in range(8):
            if bits & (128 >> bit):
                action = byte * 8 + bit
                if action < n_actions:
                    out[count] = action
                    count += 1
    return count


@numba.njit(cache=True)
def _first_legal(packed, n_actions, first, several):
    for r in range(packed.shape[0]):
        count = 0
        for byte in range(packed.shape[1]):
            bits = packed[r, byte]
            if bits == 0:
                continue
            for bit in range(8):
                action = byte * 8 + bit
                if bits & (128 >> bit) and action < n_actions:
                    if count == 0:
                        first[r] = action
                    count += 1
            if count > 1:
                break
        if count == 0:
            return r
        several[r] = count > 1
    return -1


def single_action(packed: np.ndarray, n_actions: int) -> tuple[np.ndarray, np.ndarray]:
    """The first legal action (R,) int32 of each row, and whether there are others (R,) bool.

    packed legal (R, ceil(A/8)) uint8. FloatingPointError names a row without any.
    """
    first, several = np.empty(len(packed), np.int32), np.empty(len(packed), np.bool_)
    bad = _first_legal(packed, n_actions, first, several)
    if bad >= 0:
        raise FloatingPointError(f"row {bad}: no legal action")
    return first, several


@numba.njit(cache=True)
def _sample(logits, packed, uniforms, greedy, actions, log_probs, entropies, counts):
    rows, n_actions = logits.shape
    index = np.empty(n_actions, np.int32)
    weight = np.empty(n_actions, np.float64)
    for r in range(rows):
        n = gather_legal(packed[r], n_actions, index)
        counts[r] = n
        if n == 0:
            return r
        best = 0
        for i in range(n):
            if logits[r, index[i]] > logits[r, index[best]]:
                best = i
        peak = np.float64(logits[r, index[best]])
        total = 0.0
        moment = 0.0
        for i in range(n):
            shifted = np.float64(logits[r, index[i]]) - peak
            w = math.exp(shifted)
            weight[i] = w
            total += w
            moment += w * shifted
        if not math.isfinite(total):
            return r
        chosen = best
        if not greedy:
            target = uniforms[r] * total
            chosen = n - 1
            for i in range(n):
                target -= weight[i]
                if target < 0.0:
                    chosen = i
                    break
            # Rounding can leave the last action standing though it has no weight.
            while weight[chosen] == 0.0:
                chosen -= 1
        log_total = math.log(total)
        actions[r] = index[chosen]
        log_probs[r] = np.float64(logits[r, index[chosen]]) - peak - log_total
        entropies[r] = max(0.0, log_total - moment / total)
    return -1


class Sample:
    """What was sampled, numpy arrays (R,).

    action int32; log_prob float32 (nats); entropy float32 (nats, over the legal
    actions); n_legal int32.
    """

    def __init__(self, rows: int) -> None:
        self.action = np.empty(rows, np.int32)
        self.log_prob = np.empty(rows, np.float32)
        self.entropy = np.empty(rows, np.float32)
        self.n_legal = np.empty(rows, np.int32)


def sample(
    logits: Tensor, packed: np.ndarray, uniforms: np.ndarray, greedy: bool = False
) -> Sample:
    """Sample (or take the greatest of) the legal actions of each row.

    logits (R, A) float32 on any device; packed legal (R, ceil(A/8)) uint8; uniforms (R,)
    float64 in [0, 1), unused when greedy. Greedy ties go to the lowest index.
    FloatingPointError names a row whose logits are not finite or that has no legal action.
    """
    if logits.device.type != "cpu":
        return _sample_torch(logits, packed, uniforms, greedy)
    out = Sample(logits.shape[0])
    bad = _sample(
        logits.contiguous().numpy(),
        packed,
        uniforms,
        greedy,
        out.action,
        out.log_prob,
        out.entropy,
        out.n_legal,
    )
    if bad >= 0:
        raise FloatingPointError(f"row {bad}: logits not finite, or no legal action")
    return out


def _sample_torch(logits: Tensor, packed: np.ndarray, uniforms: np.ndarray, greedy: bool) -> Sample:
    """The same on the logits' device; the inverse of the cumulative distribution in float64."""
    legal = unpack_legal(torch.from_numpy(packed).to(logits.device), logits.shape[1])
    masked = logits.double().masked_fill(~legal, -torch.inf)
    log_probs = torch.log_softmax(masked, 1)
    probs = log_probs.exp()
    if greedy:
        action = masked.argmax(1)
    else:
        u = torch.from_numpy(uniforms).to(logits.device)
        # Integers: a GPU adds floats in any order, and torch then refuses to be deterministic.
        cumulative = (probs * 2.0**52).long().cumsum(1)
        # `right`: an action without weight never answers, as its interval is empty.
        target = (u * cumulative[:, -1]).long()[:, None]
        action = torch.searchsorted(cumulative, target, right=True)[:, 0]
        last = probs.shape[1] - 1 - (probs > 0).flip(1).int().argmax(1)
        action = torch.minimum(action, last)
    chosen = log_probs.gather(1, action[:, None])[:, 0]
    entropy = -(probs * log_probs.masked_fill(~legal, 0.0)).sum(1)
    out = Sample(logits.shape[0])
    columns = torch.stack([action.double(), chosen, entropy, legal.sum(1).double()]).cpu().numpy()
    if not np.isfinite(columns).all():
        bad = int(np.flatnonzero(~np.isfinite(columns).all(0))[0])
        raise FloatingPointError(f"row {bad}: logits not finite, or no legal action")
    out.action[:], out.log_prob[:], out.entropy[:], out.n_legal[:] = columns
    return out
