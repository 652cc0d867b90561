"""Everything that one arm's training is made of, as one object that can be saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from royale import rng
from royale.games import load
from royale.learn import checkpoint, determinism, entropy, untrusted
from royale.learn.code import code_of
from royale.learn.network import Network, build_network, fingerprint, layout, network_arrays
from royale.learn.optimizer import NetworkOptimizer
from royale.learn.overlap import Ahead, Collector, expected_arrays, frozen, restored
from royale.learn.parallel import ALONE, Share
from royale.learn.plan import SegmentPlan
from royale.learn.ppo import TrainingError, Updater
from royale.learn.recipe import Recipe
from royale.learn.rollout import Actors
from royale.learn.samples import Rollout
from royale.learn.timing import Clock

TIMED = ("env", "codec", "inference", "sampling", "gae", "update", "check")


class Trainer:
    """Network, moving average, optimizers, games and counters of one arm.

    All state is between iterations; `state` and `load_state` are exact inverses, and
    training after either is bit-identical (on a CPU, with the same threads and processes).
    share: this process's part, where several train; what concerns all of them (`state`,
    `iterate`) they call together, and each gets the same.
    """

    def __init__(self, plan: SegmentPlan, share: Share = ALONE) -> None:
        self.plan, self.share = plan, share
        self.code = code_of(plan.game)
        self.recipe = Recipe.from_dict(plan.recipe)
        run, device = plan.run(), plan.device
        spec = load(plan.game).spec(plan.training_settings(), self.recipe.encoder)
        self.network = build_network(spec, self.recipe, rng.key_of(*run, "init"), device)
        self.average = build_network(spec, self.recipe, 0, device).requires_grad_(False)
        self.optimizer = NetworkOptimizer(self.network, self.recipe)
        self._make_games(plan.training_settings())
        self.collector = Collector()
        self.twice = determinism.Twice(self.network, self.average, self.optimizer)
        self.order_key = rng.key_of(*run, "minibatches")
        self.coefficient = entropy.SMALLEST
        self.iteration = 0  # iterations done, over all segments of the arm
        self.first_iteration = 0  # of this segment

    def _make_games(self, settings: Mapping[str, Any]) -> None:
        """Make the games of these settings, and all that has a board's size."""
        game, plan = load(self.plan.game), self.plan
        first, count = self.share.games(plan.envs)
        batch = game.make(count, settings, self.recipe.encoder)
        self.settings, self.spec = settings, batch.spec
        self.actors = Actors(game, batch, self.recipe, plan.run(), plan.device, first, plan.envs)
        self.rollout = Rollout(batch, plan.horizon)  # what is or was trained on
        self.ahead: Ahead | None = None  # the next one, where it is collected already
        self.spare = Rollout(batch, plan.horizon) if self.recipe.overlap else None
        self.updater = Updater(
            game,
            self.spec,
            self.recipe,
            self.network,
            list(self.average.parameters()),
            self.optimizer,
            plan.device,
            self.share,
        )

    def _follow_schedule(self) -> None:
        """Begin new games where the recipe's schedule changes their settings.

        The games of before are left as they stand: none changes its rules on the way.
        """
        settings = self.plan.training_settings(self.iteration)
        if settings != self.settings:
            before = self.actors
            self._make_games(settings)
            self.actors.episodes[:] = before.episodes + 1  # not the boards that were seen
            self.actors.opponents.past = before.opponents.past
            self.actors.start()

    @property
    def agent_steps(self) -> int:
        """Agent steps done, over all segments of the arm."""
        return self.iteration * self.plan.steps_per_iteration

    @property
    def warmth(self) -> float:
        """Share of the learning rate in the coming iteration, rising over `warmup` iterations.

        A new Adam takes steps of the whole learning rate in every weight before it knows
        any scale. From scratch that does no harm; to a champion's weights it does.
        """
        return min(1.0, (self.iteration + 1) / (self.recipe.warmup + 1))

    def start(self) -> None:
        """Begin as the plan says."""
        path = self.plan.start_file
        if self.plan.start == "checkpoint":
            arrays, meta = checkpoint.load(path)
            self.load_state(arrays, meta, path)
            self.first_iteration = self.iteration
            return
        if self.plan.start == "weights":
            arrays, meta = checkpoint.load(path)
            checkpoint.load_network(self.network, arrays, meta, path, "ema")
        # The average starts as a copy, so it needs no bias correction.
        self.average.load_state_dict(self.network.state_dict())
        self.actors.start()

    def iterate(self) -> dict[str, Any]:
        """One iteration of collecting and updating; its row of metrics.

        `seconds` is the iteration's wall time and `timing` its split; what the parts, less
        `overlap_saved`, leave over is timing's `residual`. TrainingError when something is not
        finite.
        """
        clock = Clock(("iteration",))
        with clock("iteration"):
            self._follow_schedule()
            self.actors.clock.reset()
            rollout, behaviour = self._collected()
            # of this rollout; what is collected beside the update counts anew
            explored, statistics = self.actors.explored, self.actors.episode_statistics()
            self.optimizer.warm(self.warmth)
            number = self.iteration + 1
            saved = 0.0
            # a stage of the schedule begins with games of its own, which are not there yet
            if self.recipe.overlap and self.plan.training_settings(number) == self.settings:
                metrics, saved = self._update_beside(rollout, number, behaviour)
            else:
                metrics = self._update(rollout, number, behaviour)
            used = self.coefficient
            if metrics["entropy"] is not None:  # without a decision there is nothing to hold up
                self.coefficient = entropy.next_coefficient(
                    used, metrics["entropy"], self.recipe.entropy_floor
                )
            self.iteration = number
        seconds = clock.seconds["iteration"]
        timing = dict.fromkeys(TIMED, 0.0)
        for parts in (self.actors.clock.seconds, metrics.pop("seconds")):
            for name, spent in parts.items():
                timing[name] += spent
        timing["residual"] = seconds + saved - sum(timing.values())
        return {
            "iteration": self.iteration,
            "agent_steps": self.agent_steps,
            "seconds": seconds,
            "steps_per_second": self.plan.steps_per_iteration / seconds,
            "timing": timing,
            "overlap_saved": saved,
            "policy_lag": int(behaviour is not None),
            **metrics,
            "entropy_coef": used,
            "explored_share": explored / max(1, metrics["decisions"]),
            **statistics,
        }

    def _collected(self) -> tuple[Rollout, Network | None]:
        """The rollout to train on, collected ahead or else now, and the network that played it
        if that is not the one of now. The actors' counters are of it."""
        if self.ahead is not None:
            ahead, self.ahead = self.ahead, None
            self.rollout, self.spare = ahead.rollout, self.rollout
            return ahead.rollout, ahead.behaviour
        self._begin_collection(self.iteration)
        with self._told(self.iteration):
            self.actors.collect(self.network, self.rollout, self.iteration * self.plan.horizon)
        return self._rollout_of_all(), None

    def _begin_collection(self, iteration: int) -> None:
        self.actors.begin_statistics()
        self.actors.opponents.snapshot(self.average, iteration)

    @contextmanager
    def _told(self, iteration: int) -> Iterator[None]:
        """A failure of an iteration's collection (from 0) names it."""
        try:
            yield
        except FloatingPointError as error:
            raise TrainingError(f"iteration {iteration + 1}: logits: {error}") from error

    def _update_beside(
        self, rollout: Rollout, following: int, behaviour: Network | None
    ) -> tuple[dict[str, Any], float]:
        """Update while the rollout of the iteration after (`following`, from 0) is collected; the
        metrics, and the seconds that this saved."""
        self._begin_collection(following)
        playing = frozen(self.network)
        with self._told(following):
            metrics, saved = self.collector.beside(
                self.actors,
                playing,
                self.spare,
                following * self.plan.horizon,
                lambda: self._update(rollout, following, behaviour),
            )
        self.ahead = Ahead(self.spare, playing)
        return metrics, saved

    def checks(self, iteration: int) -> bool:
        """Whether that iteration (from 1) proves that its update repeats."""
        return determinism.is_checked(self.plan.determinism, iteration)

    def _update(
        self, rollout: Rollout, iteration: int, behaviour: Network | None
    ) -> dict[str, Any]:
        """Update on the rollout, twice if this iteration is checked; its metrics."""
        key = int(rng.fold(self.order_key, iteration - 1))

        def update() -> dict[str, Any]:
            return self.updater.update(rollout, self.coefficient, key, iteration, behaviour)

        if not self.checks(iteration):
            return update()
        clock = Clock(("check",))
        with clock("check"):
            metrics, difference = self.twice(update)
        if difference is not None:
            raise TrainingError(
                f"iteration {iteration}: the update computed twice from one state differs in "
                f"{difference}, though determinism is run_exact"
            )
        parts = metrics["seconds"]  # of the second update; the first one is the check's
        parts["check"] = clock.seconds["check"] - sum(parts.values())
        return metrics

    def _rollout_of_all(self) -> Rollout:
        """What all processes have played, and the counters of it."""
        if self.share.size == 1:
            return self.rollout
        mine = self.rollout.contents(), self.actors.counters()
        parts, counters = zip(*self.share.gather(mine), strict=True)
        self.actors.take_counters(counters)
        return self.rollout.joined(parts)

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON metadata of everything that decides the future."""
        arrays = network_arrays(self.network, "weights")
        arrays |= network_arrays(self.average, "ema")
        for name, tensor in self.optimizer.state_tensors().items():
            arrays[f"optimizer/{name}"] = tensor.cpu().numpy()
        arrays |= self.share.join_arrays(self.actors.state_arrays())
        if self.ahead is not None:
            arrays |= self.ahead.state_arrays(self.actors)
        rows = layout(self.network)
        meta = {
            "kind": "checkpoint",
            **self.plan.continues(),
            "segment": self.plan.segment,
            "plan": self.plan.fingerprint(),
            "code": self.code,
            "iteration": self.iteration,
            "first_iteration": self.first_iteration,
            "agent_steps": self.agent_steps,
            "entropy_coef": self.coefficient,
            "layout": rows,
            "layout_fingerprint": fingerprint(rows),
        }
        return arrays, meta

    def load_state(
        self, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], path: Path
    ) -> None:
        """Restore `state`; ValueError if it is another arm's, LayoutError another network's.

        FileError names a tensor that does not fit: the file may be a stranger's.
        """
        if meta.get("kind") != "checkpoint":
            raise ValueError(f"{path}: not a checkpoint but {meta.get('kind')}")
        checkpoint.load_network(self.network, arrays, meta, path, "weights")
        checkpoint.load_network(self.average, arrays, meta, path, "ema")
        asked = self.plan.continues()
        wrong = [
            f"{k}: asked {v}, found {meta.get(k)}" for k, v in asked.items() if meta.get(k) != v
        ]
        if wrong:
            raise ValueError(f"{path}: checkpoint of another arm\n  " + "\n  ".join(wrong))
        counters = untrusted.counters(meta, path)
        arrays = self.share.slice_arrays(arrays, self.plan.envs)
        # the games are those of the last iteration, which the next one may replace
        settings = self.plan.training_settings(max(meta["iteration"] - 1, 0))
        if settings != self.settings:
            self._make_games(settings)
        untrusted.check_state(
            arrays,
            path,
            self.average,
            self.actors.state_arrays(),
            self.optimizer.expected_arrays("optimizer/"),
            expected_arrays(arrays, self.spare, self.actors, self.network)
            if self.recipe.overlap
            else {},
        )
        prefix = "optimizer/"
        self.optimizer.load_state_tensors(
            {
                name[len(prefix) :]: torch.from_numpy(array.copy())
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
        )
        try:
            self.actors.load_state_arrays(arrays, self.average)
            if self.recipe.overlap:
                self.ahead = restored(arrays, meta, path, self.spare, self.actors, self.network)
        except ValueError as error:
            raise untrusted.FileError(f"{path}: {error}") from error
        self.coefficient, self.iteration, self.first_iteration = counters
