"""Exploration as a mixture: now and then an action of a named plane is played instead.

The mixture itself is the policy that is trained. With S_k the legal actions of plane k
and p_k its probability (0 where S_k is empty), what plays is

    b(a) = (1 - sum p_k) pi(a) + sum_k p_k [a in S_k] / |S_k|

and log b(a), not log pi(a), is what is stored and what the update recomputes: the ratio
b_new(a) / b_old(a) is then the importance ratio of the policy that really chose, it is 1
before the first step, and its gradient is that of the mixture's return. With log pi(a)
stored a forced action would be credited to a policy that did not choose it; with
pi_new / b_old the ratio would start away from 1 and the clip would bite by itself.
Matches play pi alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from royale import rng
from royale.errors import ConfigError
from royale.games.protocol import GameSpec


@dataclass
class Mixture:
    """The mixture at R rows and the actions really played."""

    action: np.ndarray  # (R,) int32
    log_prob: np.ndarray  # (R,) float32: log b(action)
    keep: np.ndarray  # (R,) float32: 1 - sum p_k, the weight of pi
    forced: np.ndarray  # (R,) float32: b's probability of the action that is not pi's
    explored: np.ndarray  # (R,) bool: the action was not drawn from pi


def mixture_log_prob(log_prob: Tensor, keep: Tensor, forced: Tensor) -> Tensor:
    """log(keep * pi + forced) of log pi, all (B,); see the module."""
    return torch.logaddexp(log_prob + keep.log(), forced.log())


class PlaneExplorer:
    """Mixes actions of named planes in; ConfigError names planes the game does not have."""

    def __init__(self, probabilities: Mapping[str, float], spec: GameSpec) -> None:
        unknown = sorted(set(probabilities) - set(spec.action_planes))
        if unknown:
            raise ConfigError(
                f"recipe key 'explore_plane.{unknown[0]}': the game has no such action plane; "
                f"allowed: {', '.join(spec.action_planes)}"
            )
        self.cells = spec.height * spec.width
        self.planes = [(spec.action_planes.index(k), p) for k, p in probabilities.items() if p > 0]

    def __bool__(self) -> bool:
        return bool(self.planes)

    def mix(
        self, action: np.ndarray, logits: Tensor, legal: np.ndarray, keys: np.ndarray
    ) -> Mixture:
        """The mixture at R rows where pi drew `action` (R,).

        logits (R, A); legal (R, A) uint8; keys (R,) uint64, of this turn.
        """
        rows = np.arange(len(action))
        action, explored = action.copy(), np.zeros(len(rows), bool)
        uniforms = rng.uniform(rng.fold(keys, 0))
        picks = rng.uniform(rng.fold(keys, 1))
        total, options = np.zeros(len(rows)), []
        for plane, p in self.planes:
            first = plane * self.cells
            here = legal[:, first : first + self.cells]
            count = here.sum(1, dtype=np.int64)
            weight = np.where(count > 0, p, 0.0)
            chosen = (uniforms >= total) & (uniforms < total + weight)
            # The pick-th legal cell of the plane.
            nth = 1 + (picks * count).astype(np.int64)
            cell = (here.cumsum(1, dtype=np.int64) < nth[:, None]).sum(1)
            action = np.where(chosen, first + cell, action).astype(np.int32)
            explored |= chosen
            total += weight
            options.append((plane, weight / np.maximum(count, 1)))
        forced = np.zeros(len(rows))
        for plane, each in options:
            forced += np.where(action // self.cells == plane, each, 0.0)
        keep = (1.0 - total).astype(np.float32)
        forced = forced.astype(np.float32)
        mask = torch.from_numpy(legal).to(logits.device) == 0
        log_pi = torch.log_softmax(logits.double().masked_fill(mask, -torch.inf), 1)
        log_pi = log_pi.cpu()[torch.from_numpy(rows), torch.from_numpy(action).long()]
        both = mixture_log_prob(log_pi, torch.from_numpy(keep), torch.from_numpy(forced))
        return Mixture(action, both.numpy().astype(np.float32), keep, forced, explored)
