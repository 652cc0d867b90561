"""One iteration's update: advantages, minibatches, losses, steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from royale import rng
from royale.errors import ConfigError, RoyaleError
from royale.games.protocol import Game, GameSpec
from royale.learn.advantage import gae, normalise, select_top
from royale.learn.explore import mixture_log_prob
from royale.learn.losses import (
    approximate_kl,
    clipped_surrogate,
    masked_policy,
    normalised_entropy,
)
from royale.learn.network import Network
from royale.learn.optimizer import NetworkOptimizer
from royale.learn.parallel import ALONE, Share
from royale.learn.precision import Precision
from royale.learn.recipe import Recipe
from royale.learn.samples import Rollout, Samples
from royale.learn.stored import turn_samples
from royale.learn.timing import Clock
from royale.learn.value import ValueCodec

# What is measured of each minibatch, and its mean shown.
MEASURED = ("policy_loss", "value_loss", "kl", "clip_fraction", "grad_norm")


class TrainingError(RoyaleError, RuntimeError):
    """Training cannot go on; the message names the iteration and the quantity."""


def split_evenly(order: np.ndarray, largest: int) -> list[np.ndarray]:
    """Cut into the fewest parts of at most `largest`, whose sizes differ by at most one.

    A ragged last part would weigh its few samples as much as a whole minibatch.
    """
    if not order.size:
        return []
    return np.array_split(order, math.ceil(order.size / largest))


def explained_variance(values: np.ndarray, returns: np.ndarray) -> float | None:
    """1 - var(returns - values) / var(returns); 0 where the returns do not vary, None of none."""
    if not returns.size:
        return None
    variance = returns.astype(np.float64).var()
    if variance == 0.0:
        return 0.0
    return float(1.0 - (returns.astype(np.float64) - values).var() / variance)


@dataclass
class Dataset:
    """What a rollout's M samples teach, and which of them are trained on."""

    advantages: np.ndarray  # (M,) float32, normalised
    returns: np.ndarray  # (M,) float32
    choices: np.ndarray  # (M,) bool: more than one action was legal
    usable: np.ndarray  # (U,) indices of those whose game was not lost
    trained: np.ndarray  # (S,) of those, the ones with the greatest |advantage|


@dataclass
class Minibatch:
    """B samples on the network's device."""

    planes: Tensor  # (B, P, H, W)
    legal: Tensor  # (B, ceil(A/8)) uint8, packed
    n_legal: Tensor  # (B,)
    action: Tensor  # (B,) int64
    log_prob: Tensor  # (B,), when it was played
    advantage: Tensor  # (B,), normalised
    returns: Tensor  # (B,)
    value: Tensor  # (B,), when it was played
    keep: Tensor  # (B,) and forced (B,): the mixture of `explore`
    forced: Tensor


@dataclass
class Losses:
    """What `minibatch_losses` computes; all scalars but log_ratio (B,)."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
    log_ratio: Tensor


def minibatch_losses(
    network: Network,
    codec: ValueCodec,
    recipe: Recipe,
    coefficient: float,
    batch: Minibatch,
    precision: Precision,
) -> Losses:
    """PPO's loss of a minibatch: policy + value_coef * value - coefficient * entropy."""
    logits, outputs = precision.forward(network, batch.planes)
    log_ratio, entropy = compare(logits, recipe, batch)
    policy = clipped_surrogate(log_ratio, batch.advantage, recipe.clip)
    if recipe.value_clip:
        value = codec.clipped_loss(outputs, batch.returns, batch.value, recipe.value_clip)
    else:
        value = codec.loss(outputs, batch.returns)
    share = normalised_entropy(entropy, batch.n_legal).mean()
    total = policy + recipe.value_coef * value - coefficient * share
    return Losses(total, policy.detach(), value.detach(), share.detach(), log_ratio.detach())


def compare(logits: Tensor, recipe: Recipe, batch: Minibatch) -> tuple[Tensor, Tensor]:
    """log(pi(a) / stored pi(a)) (B,) of a network's logits, and its entropy (B,), nats."""
    log_prob, entropy = masked_policy(logits, batch.legal, batch.action)
    if recipe.explore_plane:
        log_prob = mixture_log_prob(log_prob, batch.keep, batch.forced)
    return log_prob - batch.log_prob, entropy


class Updater:
    """Trains a network and its moving average on rollouts."""

    def __init__(
        self,
        game: Game,
        spec: GameSpec,
        recipe: Recipe,
        network: Network,
        average: list[Tensor],
        optimizer: NetworkOptimizer,
        device: str,
        share: Share = ALONE,
    ) -> None:
        self.game, self.spec, self.recipe, self.device = game, spec, recipe, device
        self.share = share
        self.precision = Precision(recipe.precision, device)
        if recipe.symmetry == "stored_samples" and not hasattr(game, "transform"):
            raise ConfigError(
                f"recipe key 'symmetry' = 'stored_samples': {game.name} has no `transform`; "
                "allowed: none, per_episode"
            )
        self.network, self.average, self.optimizer = network, average, optimizer
        self.codec = ValueCodec(recipe)
        self.parameters = list(network.parameters())
        # Not a GPU's clock: waiting for the step before would keep `gather` from overlapping it.
        self.clock = Clock(("gae", "codec", "update"))

    def update(
        self,
        rollout: Rollout,
        coefficient: float,
        key: int,
        iteration: int,
        behaviour: Network | None = None,
    ) -> dict[str, object]:
        """One iteration of PPO on `rollout`; the metrics, and the seconds of its parts.

        coefficient: of the entropy bonus; key orders the minibatches; behaviour: the network
        that played, None if it is the one that is trained, as it is now. Where every sample
        was of a lost game no step is taken, and what was not measured is None. TrainingError
        when the stored log-probabilities are not the network's or a loss is not finite.
        """
        recipe, samples = self.recipe, rollout.samples
        deviation, lag, rows = None, None, []
        self.clock.reset()
        with self.clock("update"):
            with self.clock("gae"):
                data = self._dataset(rollout, iteration)
            for epoch in range(recipe.epochs):
                order = data.trained[rng.permutation(int(rng.fold(key, epoch)), data.trained.size)]
                turns = int(rng.fold(key, epoch, 1))
                for part in split_evenly(order, recipe.minibatch):
                    mine = self.share.part(part)
                    if mine.size:
                        batch = self.gather(samples, mine, data.advantages, data.returns, turns)
                        losses = minibatch_losses(
                            self.network, self.codec, recipe, coefficient, batch, self.precision
                        )
                        losses.total.backward()
                    else:  # the other processes have the whole minibatch
                        losses = Losses(*torch.zeros(4, 1, device=self.device)[:, 0], None)
                    weight = mine.size / part.size
                    self.share.sum_gradients(self.parameters, weight)
                    if deviation is None:  # no step of this iteration yet
                        lag = played = losses.log_ratio
                        if behaviour is not None:
                            played = self._as_played(behaviour, batch)
                        deviation = self._check_on_policy(played, iteration)
                    norm = self.optimizer.clip_gradients(recipe.max_grad_norm)
                    rows.append(self._measure(losses, norm, weight))
                    self._check_finite(rows[-1], iteration)
                    self.optimizer.step()
                    torch._foreach_lerp_(self.average, self.parameters, 1.0 - recipe.ema_decay)
            self._check_weights(iteration)
        metrics = self._metrics(rollout, data, rows, deviation, lag)
        return {**metrics, "seconds": dict(self.clock.seconds)}

    def _dataset(self, rollout: Rollout, iteration: int) -> Dataset:
        """Advantages and returns of the rollout's samples, and which are trained on."""
        recipe, samples = self.recipe, rollout.samples
        # The negative control takes a game that met the turn cap for one that goes on, in
        # the board that was dealt next, and does not train on its last decision.
        reset = recipe.truncation == "reset"
        cut = rollout.truncated if reset else np.zeros_like(rollout.truncated)
        raw = gae(
            rollout.reward,
            rollout.done & ~cut,
            samples.turn,
            samples.row,
            samples.value,
            rollout.last_value,
            recipe.gamma,
            recipe.gae_lambda,
        )
        use = ~samples.dropped
        if reset:
            last = rollout.owner()[cut]
            use[last[last >= 0]] = False
        usable, choices = np.flatnonzero(use), samples.n_legal > 1
        if not (usable.size or samples.dropped.any()):
            raise TrainingError(f"iteration {iteration}: no sample to train on")
        advantages = normalise(raw, use & choices)
        trained = usable[select_top(advantages[usable], recipe.advantage_top)]
        return Dataset(advantages, raw + samples.value, choices, usable, trained)

    def _metrics(
        self,
        rollout: Rollout,
        data: Dataset,
        rows: list[Tensor],
        deviation: float | None,
        lag: Tensor | None,
    ) -> dict[str, object]:
        """The row of metrics; rows: MEASURED of each minibatch; lag: the first's log-ratio."""
        samples, usable = rollout.samples, data.usable
        measured = torch.stack(rows).double().mean(0).tolist() if rows else [None] * len(MEASURED)
        shares = samples.entropy[data.choices] / np.log(samples.n_legal[data.choices])
        returns = data.returns[usable]
        return {
            **dict(zip(MEASURED, measured, strict=True)),
            "entropy": float(shares.mean(dtype=np.float64)) if shares.size else None,
            "explained_variance": explained_variance(samples.value[usable], returns),
            "return": float(returns.mean(dtype=np.float64)) if usable.size else None,
            "ratio_max_abs_dev": deviation,
            # of the first minibatch, before any step of this iteration
            "policy_lag_kl": None if lag is None else max(0.0, float(approximate_kl(lag))),
            "learner_share": float(rollout.learner.mean()),
            "decisions": int(data.choices.sum()),
            "rows_dropped": int(samples.dropped.sum()),
            "samples_trained": int(data.trained.size),
            "optimizer_steps": len(rows),
        }

    def gather(
        self,
        samples: Samples,
        index: np.ndarray,
        advantages: np.ndarray,
        returns: np.ndarray,
        key: int = 0,
    ) -> Minibatch:
        """The samples with numbers `index` (B,), on the network's device, codes as planes.

        advantages and returns (M,) are of all samples; from key come the symmetries that
        `stored_samples` turns them by.
        """
        with self.clock("codec"):

            def take(array: np.ndarray) -> Tensor:
                return torch.from_numpy(array[index]).to(self.device)

            shown = samples.codes, samples.scalars, samples.legal, samples.action
            seen = [array[index] for array in shown]
            if self.recipe.symmetry == "stored_samples":
                seen = turn_samples(self.game, self.spec, *seen, rng.fold(key, index))
            codes, scalars, legal, action = (torch.from_numpy(a).to(self.device) for a in seen)
            return Minibatch(
                planes=self.game.expand(codes, scalars, self.spec.encoder),
                legal=legal,
                n_legal=take(samples.n_legal),
                action=action.long(),
                log_prob=take(samples.log_prob),
                value=take(samples.value),
                keep=take(samples.keep),
                forced=take(samples.forced),
                advantage=take(advantages),
                returns=take(returns),
            )

    def _measure(self, losses: Losses, norm: Tensor, weight: float) -> Tensor:
        """MEASURED of a minibatch, of which this process had the share `weight`."""
        if losses.log_ratio is None:
            kl = outside = losses.policy
        else:
            kl = approximate_kl(losses.log_ratio)
            outside = ((losses.log_ratio.exp() - 1.0).abs() > self.recipe.clip).float().mean()
        means = torch.stack([losses.policy, losses.value, kl, outside])
        return torch.cat([self.share.sum(means * weight), norm[None]])

    @torch.inference_mode()
    def _as_played(self, behaviour: Network, batch: Minibatch) -> Tensor:
        """log(pi(a) / stored pi(a)) (B,) by the network that played."""
        return compare(self.precision.forward(behaviour, batch.planes)[0], self.recipe, batch)[0]

    def _check_on_policy(self, log_ratio: Tensor | None, iteration: int) -> float:
        """Before the first step every ratio is 1, or what was stored is not what was played."""
        mine = torch.zeros((), device=self.device) if log_ratio is None else log_ratio.abs().max()
        # nan is not greater than anything, but must be found
        deviation = float(self.share.greatest(torch.nan_to_num(mine, nan=math.inf)))
        if self.recipe.symmetry == "stored_samples":
            return deviation  # the negative control: shown, not refused
        tolerance = self.precision.tolerance
        if not deviation <= tolerance:
            raise TrainingError(
                f"iteration {iteration}: recomputed log-probabilities differ from the stored "
                f"ones by {deviation:.3g} (tolerance {tolerance})"
            )
        return deviation

    def _check_finite(self, row: Tensor, iteration: int) -> None:
        if not bool(torch.isfinite(row).all()):
            pairs = zip(MEASURED, row.tolist(), strict=True)
            bad = [name.replace("_", " ") for name, x in pairs if not math.isfinite(x)]
            raise TrainingError(f"iteration {iteration}: not finite: {', '.join(bad)}")

    def _check_weights(self, iteration: int) -> None:
        for name, parameter in self.network.named_parameters():
            if not bool(torch.isfinite(parameter).all()):
                raise TrainingError(f"iteration {iteration}: weights {name} are not finite")
