"""Reward audit: does every reward coefficient really reach the gradient?

A coefficient that never arrives trains as if it were not there, and no metric says so.
So each is changed, everything else being the same to the bit, and the difference is
followed through a real iteration: reward, return, minibatch, loss, gradient, metric.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from royale.errors import RoyaleError
from royale.games.protocol import BatchedGame, StepResult
from royale.learn.plan import SegmentPlan
from royale.learn.recipe import Recipe
from royale.learn.trainer import Trainer

STAGES = ("game", "reward", "return", "minibatch", "loss", "gradient", "metric")
GAMES, TURNS, ENDS_AFTER = 4, 80, 7
# How a game is made to end, by its number: a real batch of so few turns shows no win.
CAPPED, WON, DRAWN = 0, 1, 2
METRICS = ("return", "policy_loss", "value_loss", "explained_variance", "grad_norm")
# A return is made in float32 from a value that is taken off and put back.
TOLERANCE = 1e-4


class AuditError(RoyaleError, ValueError):
    """A reward coefficient that never reaches the gradient; one line a coefficient."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """What became of one coefficient: `died_at` is a stage, or None if it arrived."""

    coefficient: str  # outcome, draw_reward or shaping.<potential>
    samples: int  # samples of the audit's games that it must reach
    died_at: str | None = None
    why: str = ""

    def line(self) -> str:
        """One line for people."""
        if self.died_at is None:
            return f"{self.coefficient}: reaches the gradient ({self.samples} samples)"
        at = STAGES.index(self.died_at)
        before = f"reaches {STAGES[at - 1]}, " if at else ""
        return f"{self.coefficient}: {before}dies at {self.died_at}: {self.why}"


class _Died(Exception):
    """The stage at which a signal ended, and why."""


class EndedGames:
    """A real batch whose games are called over early, in every way a game can end.

    Of four games one meets the turn cap, one is won by seat 0, one is drawn by the rules,
    and one is left alone; none ends before both its seats had something to choose. `flip`
    exchanges winner and loser. The spec's `rare_potentials` are moved by hand, since so few
    turns may not see their events. Results before the exchange are kept in `results`, the
    potentials after each step (N, 2, K) in `moved`.
    """

    def __init__(self, batch: BatchedGame, flip: bool = False) -> None:
        self._batch, self._flip = batch, flip
        self._after = max(1, min(ENDS_AFTER, batch.spec.max_turns - 1))
        self._chose = np.zeros((batch.n_games, 2), bool)
        self.results: list[StepResult] = []
        self.moved: list[np.ndarray] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def potentials(self, out: np.ndarray) -> None:
        """The real games' potentials, the rare ones moved by hand."""
        self._batch.potentials(out)
        spec = self._batch.spec
        lead = (self._batch.turns % 5 / 10).astype(np.float32)
        for name in spec.rare_potentials:
            out[..., spec.potentials.index(name)] = np.stack([lead, -lead], 1)

    def reset(self, games: np.ndarray, seeds: np.ndarray) -> None:
        """Start games anew."""
        self._batch.reset(games, seeds)
        self._chose[games] = False

    def observe(self, codes: np.ndarray, scalars: np.ndarray, legal: np.ndarray) -> None:
        """What both seats see, noting who has a choice."""
        self._batch.observe(codes, scalars, legal)
        self._chose |= legal.sum(-1, dtype=np.int64) > 1

    def step(self, actions: np.ndarray) -> StepResult:
        """One turn of the real games, and then the endings that are due."""
        real = self._batch.step(actions)
        done, truncated, winner = (a.copy() for a in (real.done, real.truncated, real.winner))
        kind = np.arange(done.size) % 4
        # An end of their own counts as the kind's, so that chance leaves none out.
        late = (self._batch.turns >= self._after) & self._chose.all(1)
        due = (done | late) & (kind <= DRAWN)
        done |= due
        truncated[due] = (kind == CAPPED)[due]
        winner[due] = np.where(kind == WON, 0, -1)[due]
        self.results.append(StepResult(done, truncated, winner, real.lost))
        potentials = np.zeros((done.size, 2, len(self._batch.spec.potentials)), np.float32)
        self.potentials(potentials)
        self.moved.append(potentials)
        if self._flip:
            winner = np.where(winner >= 0, 1 - winner, winner).astype(winner.dtype)
        return StepResult(done.copy(), truncated.copy(), winner, real.lost)


class _Run:
    """One iteration of training that changes no weights, with everything written down."""

    def __init__(self, plan: SegmentPlan, flip: bool = False, codec: Any = None) -> None:
        trainer = self.trainer = Trainer(plan)
        self.games = trainer.actors.batch = EndedGames(trainer.actors.batch, flip)
        # The bins of a value head depend on the coefficients; the values must not.
        self.codec = codec or trainer.updater.codec
        trainer.updater.codec = trainer.actors.value_codec = self.codec
        self.graft: tuple[str, np.ndarray, np.ndarray] | None = None
        self.returns = self.advantages = None  # (M,) float32, of the samples
        self._watch(trainer)
        trainer.start()
        self._begin()
        self.metrics = trainer.iterate()
        rollout = trainer.rollout
        self.reward, self.action = rollout.reward.reshape(-1), rollout.action.reshape(-1)
        self.samples, self.owner = rollout.samples, rollout.owner().reshape(-1)

    def _begin(self) -> None:
        self.seen: list[np.ndarray] = []  # samples of each minibatch
        self.gradients: list[torch.Tensor] = []

    def _watch(self, trainer: Trainer) -> None:
        updater, optimizer = trainer.updater, trainer.optimizer
        gather, clip, update = updater.gather, optimizer.clip_gradients, updater.update
        signature = inspect.signature(gather)

        def gathered(*args: Any, **kwargs: Any) -> Any:
            call = signature.bind(*args, **kwargs)
            self.seen.append(np.asarray(call.arguments["index"]))
            if self.graft is None:
                for name in ("advantages", "returns"):
                    setattr(self, name, call.arguments[name].copy())
            else:
                name, samples, values = self.graft
                grafted = call.arguments[name].copy()
                grafted[samples] = values[samples]
                call.arguments[name] = grafted
            return gather(*call.args, **call.kwargs)

        def clipped(norm: float) -> Any:
            parameters = trainer.network.parameters()
            self.gradients.append(
                torch.cat(
                    [torch.zeros(1) if p.grad is None else p.grad.flatten() for p in parameters]
                )
            )
            return clip(norm)

        def step() -> None:  # the weights stay: every minibatch is compared at the same ones
            trainer.network.zero_grad(set_to_none=True)

        def updated(*args: Any, **kwargs: Any) -> Any:
            self._again = lambda: update(*args, **kwargs)
            return update(*args, **kwargs)

        updater.gather, updater.update = gathered, updated
        optimizer.clip_gradients, optimizer.step = clipped, step

    @contextmanager
    def grafted(self, name: str, samples: np.ndarray, values: np.ndarray) -> Iterator[dict]:
        """The same update with `values` of `samples` (indices) in `name`; its metrics."""
        kept = self.seen, self.gradients
        self.graft = name, samples, values
        self._begin()
        try:
            yield self._again()
        finally:
            self.graft = None
            self.seen, self.gradients = kept


def audit(game: str, settings: Mapping[str, Any], recipe: Recipe) -> list[Finding]:
    """Follow every reward coefficient of `recipe` through one iteration on real games.

    Games are the game's own with `settings`, ended early (see `EndedGames`). The
    coefficients are the outcome of decided games, `draw_reward` (at the turn cap, and drawn
    by the rules) and each of the game's potentials, one that is 0 now included: an arm may
    switch it on. The network is small, all samples are trained on, in float32, and it plays
    itself without forced moves: none of these is a reward.
    """
    fixed = {"advantage_top": 1.0, "epochs": 1, "channels": 4, "blocks": 1, "precision": "fp32"}
    fixed |= {
        "overlap": False,
        "opponents": {},
        "explore_plane": {},
        "schedule": [],
        "minibatch": min(recipe.minibatch, 256),
    }
    base_recipe = dataclasses.replace(recipe, **fixed)

    def run(changed: Recipe, flip: bool = False, codec: Any = None) -> _Run:
        plan = SegmentPlan(
            game, settings, changed.to_dict(), GAMES, TURNS, 1, "audit", "audit", 0, 0
        )
        return _Run(plan, flip, codec)

    base = run(base_recipe)
    results, spec = base.games.results, base.trainer.spec
    done, truncated = (np.stack([getattr(r, k) for r in results]) for k in ("done", "truncated"))
    drawn = done & (np.stack([r.winner for r in results]) < 0)

    def both(games: np.ndarray) -> np.ndarray:  # (T, N) -> the turns of both seats, (T*R,)
        return np.repeat(games, 2, axis=1).reshape(-1)

    draw = recipe.draw_reward + (0.25 if recipe.draw_reward <= 0.5 else -0.25)
    changed = run(dataclasses.replace(base_recipe, draw_reward=draw), codec=base.codec)
    findings = [
        _follow("outcome", base, run(base_recipe, True, base.codec), both(done & ~drawn)),
        _follow("draw_reward at the turn cap", base, changed, both(drawn & truncated)),
        _follow("draw_reward of other draws", base, changed, both(drawn & ~truncated)),
    ]
    for k, name in enumerate(spec.potentials):
        shaping = {**recipe.shaping, name: recipe.shaping.get(name, 0.0) + 0.5}
        changed = run(dataclasses.replace(base_recipe, shaping=shaping), codec=base.codec)
        moved = np.stack(base.games.moved)[..., k].reshape(-1) != 0
        findings.append(_follow(f"shaping.{name}", base, changed, moved, every=False))
    return findings


def _follow(name: str, base: _Run, changed: _Run, turns: np.ndarray, every: bool = True) -> Finding:
    """Compare two runs stage by stage, at `turns` (T*R,) bool and the samples they belong to.

    every: each of them must feel the change (an ending always has its reward); otherwise at
    least one (a potential may happen to stand still). Turns before a row's first choice
    have no sample that could.
    """
    asked = np.flatnonzero(turns & (base.owner >= 0))
    asked = asked[base.samples.n_legal[base.owner[asked]] > 1]
    try:
        if not asked.size:
            raise _Died("game", f"nothing for it to act on in {TURNS} turns of {GAMES} games")
        if not np.array_equal(base.action, changed.action):
            raise _Died("game", "the same seeds played other actions")
        felt = _felt("reward", base.reward, changed.reward, asked, every)
        samples = np.unique(base.owner[felt])
        samples = _felt("return", base.returns, changed.returns, samples, every)
        if every:
            _ends(base, felt)
        missing = np.setdiff1d(samples, np.concatenate([*base.seen, np.zeros(0, int)]))
        if missing.size:
            raise _Died(
                "minibatch", f"{missing.size} of {samples.size} samples are never trained on"
            )
        _losses(base, changed, samples)
        if all(base.metrics[key] == changed.metrics[key] for key in METRICS):
            raise _Died("metric", f"none of {', '.join(METRICS)} changes")
    except _Died as death:
        return Finding(name, int(asked.size), *death.args)
    return Finding(name, int(samples.size))


def _felt(
    stage: str, before: np.ndarray, after: np.ndarray, asked: np.ndarray, every: bool
) -> np.ndarray:
    """Those of `asked` where the two differ; dies if none, or if not every one does."""
    felt = asked[before[asked] != after[asked]]
    if felt.size < asked.size and (every or not felt.size):
        share = f"only {felt.size}" if felt.size else "none"
        raise _Died(stage, f"{share} of its {asked.size} samples change")
    return felt


def _ends(base: _Run, ended: np.ndarray) -> None:
    """The return of a game's last decision is its reward: nothing is bootstrapped past the end."""
    rollout, gamma = base.trainer.rollout, base.trainer.recipe.gamma
    wrong = 0
    for turn, row in zip(*divmod(ended, rollout.rows), strict=True):
        sample = base.owner[turn * rollout.rows + row]
        since = rollout.reward[base.samples.turn[sample] : turn + 1, row].astype(np.float64)
        rewards = since @ gamma ** np.arange(since.size)
        wrong += abs(base.returns[sample] - rewards) > TOLERANCE
    if wrong:
        raise _Died(
            "return",
            f"{wrong} of {ended.size} endings are bootstrapped over: "
            "the return of a game's last decision is not its reward",
        )


def _losses(base: _Run, changed: _Run, felt: np.ndarray) -> None:
    """Graft the changed numbers of one seat's samples into the base run, one term at a time.

    One seat's, because what one seat wins the other loses, and the two would cancel.
    Grafted, because advantages are normalised together: a sample that is never used
    would still show in all others.
    """
    seat = felt[base.samples.row[felt] % 2 == 0]
    seat = seat if seat.size else felt
    terms = [("policy_loss", "advantages")]
    if base.trainer.recipe.value_coef > 0:
        terms.append(("value_loss", "returns"))
    for loss, source in terms:
        try:
            with base.grafted(source, seat, getattr(changed, source)) as metrics:
                gradients = base.gradients
        except RuntimeError as error:  # torch: nothing to differentiate
            raise _Died("gradient", str(error).splitlines()[0]) from None
        if metrics[loss] == base.metrics[loss]:
            raise _Died("loss", f"the {loss.replace('_', ' ')} does not change")
        if all(torch.equal(a, b) for a, b in zip(gradients, base.gradients, strict=True)):
            raise _Died("gradient", f"none changes by way of the {loss.replace('_', ' ')}")


def assert_rewards(findings: list[Finding]) -> None:
    """AuditError, a line a coefficient, unless every one arrived."""
    lines = [finding.line() for finding in findings if finding.died_at]
    if lines:
        raise AuditError("\n".join(lines))
