"""The policy's side of PPO's loss, over the legal actions only."""

from __future__ import annotations

import math

import numba
import numpy as np
import torch
from torch import Tensor

from royale.learn.sampling import gather_legal, unpack_legal


@numba.njit(cache=True)
def _forward(logits, packed, actions, log_probs, entropies, peaks, log_totals):
    rows, n_actions = logits.shape
    index = np.empty(n_actions, np.int32)
    for r in range(rows):
        n = gather_legal(packed[r], n_actions, index)
        peak = -np.inf
        for i in range(n):
            peak = max(peak, np.float64(logits[r, index[i]]))
        total = 0.0
        moment = 0.0
        for i in range(n):
            shifted = np.float64(logits[r, index[i]]) - peak
            w = math.exp(shifted)
            total += w
            moment += w * shifted
        peaks[r] = peak
        log_totals[r] = math.log(total)
        log_probs[r] = np.float64(logits[r, actions[r]]) - peak - log_totals[r]
        entropies[r] = max(0.0, log_totals[r] - moment / total)


@numba.njit(cache=True)
def _backward(logits, packed, actions, entropies, peaks, log_totals, by_log_prob, by_entropy, out):
    rows, n_actions = logits.shape
    index = np.empty(n_actions, np.int32)
    for r in range(rows):
        n = gather_legal(packed[r], n_actions, index)
        for i in range(n):
            log_p = np.float64(logits[r, index[i]]) - peaks[r] - log_totals[r]
            p = math.exp(log_p)
            out[r, index[i]] = -p * (by_log_prob[r] + by_entropy[r] * (log_p + entropies[r]))
        out[r, actions[r]] += by_log_prob[r]


class _LegalPolicy(torch.autograd.Function):
    """log pi(a) and entropy with the gradients
    d log pi(a) / d l_j = [j = a] - p_j and d H / d l_j = -p_j (log p_j + H)."""

    @staticmethod
    def forward(ctx, logits, packed, actions):
        rows = logits.shape[0]
        log_probs = torch.empty(rows)
        entropies = torch.empty(rows)
        peaks, log_totals = np.empty(rows), np.empty(rows)
        data = logits.detach().contiguous()
        arrays = data.numpy(), packed.numpy(), actions.numpy()
        _forward(*arrays, log_probs.numpy(), entropies.numpy(), peaks, log_totals)
        ctx.kept = arrays, entropies.numpy(), peaks, log_totals
        return log_probs, entropies

    @staticmethod
    def backward(ctx, by_log_prob, by_entropy):
        (logits, packed, actions), entropies, peaks, log_totals = ctx.kept
        out = torch.zeros(logits.shape)
        _backward(
            logits,
            packed,
            actions,
            entropies,
            peaks,
            log_totals,
            by_log_prob.contiguous().numpy(),
            by_entropy.contiguous().numpy(),
            out.numpy(),
        )
        return out, None, None


def masked_policy(logits: Tensor, packed: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """log-probabilities of actions and entropies (nats), both (B,), of the masked softmax.

    logits (B, A) float32; packed legal (B, ceil(A/8)) uint8; actions (B,) int64, each
    legal. Illegal logits neither count nor receive gradient. On a CPU compiled kernels
    visit the legal actions only; elsewhere `masked_policy_dense`.
    """
    if logits.device.type == "cpu" and logits.dtype == torch.float32:
        return _LegalPolicy.apply(logits, packed, actions)
    return masked_policy_dense(logits, unpack_legal(packed, logits.shape[1]), actions)


def masked_policy_dense(logits: Tensor, legal: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """`masked_policy` in torch on any device; legal (B, A) bool."""
    log_p = torch.log_softmax(logits.masked_fill(~legal, -torch.inf), 1)
    # 0 * -inf is NaN, in the gradient too: fill before multiplying.
    finite = log_p.masked_fill(~legal, 0.0)
    entropy = -(finite.exp().masked_fill(~legal, 0.0) * finite).sum(1)
    return log_p.gather(1, actions[:, None])[:, 0], entropy


def normalised_entropy(entropy: Tensor, n_legal: Tensor) -> Tensor:
    """Entropies (B,) as a share of log(n_legal), in 0..1; 0 where only one action is legal."""
    return entropy / torch.log(n_legal.clamp(min=2).to(entropy.dtype))


def clipped_surrogate(log_ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """PPO's policy loss, to be minimised (Schulman et al. 2017, eq. 7): the batch's mean of
    -min(ratio * A, clamp(ratio, 1 - clip, 1 + clip) * A)."""
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1.0 - clip, 1.0 + clip)
    return -torch.minimum(ratio * advantages, clipped * advantages).mean()


def approximate_kl(log_ratio: Tensor) -> Tensor:
    """Mean of (ratio - 1) - log ratio: an unbiased, never negative estimate of KL(old, new)
    (Schulman 2020, "Approximating KL divergence")."""
    return (log_ratio.expm1() - log_ratio).mean()
