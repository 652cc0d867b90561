"""Playing a batch of games and remembering what was seen and done."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import torch

from royale import rng
from royale.games.protocol import BatchedGame, Game
from royale.learn import opponents
from royale.learn.explore import PlaneExplorer
from royale.learn.network import Network
from royale.learn.opponents import Opponents
from royale.learn.precision import Precision
from royale.learn.recipe import Recipe
from royale.learn.sampling import pack_legal, sample
from royale.learn.value import ValueCodec


class Rollout:
    """T turns of R = 2N rows, preallocated and compact: codes, not planes.

    codes (T+1, R, C...) uint8 and scalars (T+1, R, S) float32 (slot T is the
    observation after the last turn); legal (T, R, ceil(A/8)) uint8 packed; action int32,
    log_prob, value, reward, entropy float32, n_legal int32, done, truncated, learner
    (played by the trained network) bool, all (T, R); keep and forced (T, R) float32 are
    the mixture of `explore`; last_value (R,).
    """

    def __init__(self, game: BatchedGame, horizon: int) -> None:
        spec, rows = game.spec, 2 * game.n_games
        self.horizon, self.rows = horizon, rows
        self.codes = np.zeros((horizon + 1, rows, *spec.code_shape), np.uint8)
        self.scalars = np.zeros((horizon + 1, rows, len(spec.scalars)), np.float32)
        self.legal = np.zeros((horizon, rows, (spec.n_actions + 7) // 8), np.uint8)
        self.action = np.zeros((horizon, rows), np.int32)
        self.n_legal = np.zeros((horizon, rows), np.int32)
        self.log_prob = np.zeros((horizon, rows), np.float32)
        self.entropy = np.zeros((horizon, rows), np.float32)
        self.value = np.zeros((horizon, rows), np.float32)
        self.reward = np.zeros((horizon, rows), np.float32)
        self.done = np.zeros((horizon, rows), np.bool_)
        self.truncated = np.zeros((horizon, rows), np.bool_)
        self.learner = np.ones((horizon, rows), np.bool_)
        self.keep = np.ones((horizon, rows), np.float32)
        self.forced = np.zeros((horizon, rows), np.float32)
        self.last_value = np.zeros(rows, np.float32)


class Actors:
    """N games, both seats played by one network but for the recipe's other opponents.

    Games are dealt from keys of (run, environment, episode), frames and actions from
    keys of their own, so the future depends on `state_arrays` alone. `seconds` counts
    the time spent in env, codec (expanding codes to planes), inference and sampling.
    """

    def __init__(
        self,
        game: Game,
        batch: BatchedGame,
        recipe: Recipe,
        run: tuple[object, ...],
        device: str = "cpu",
    ) -> None:
        self.expand, self.batch, self.recipe, self.device = game.expand, batch, recipe, device
        spec, n = batch.spec, batch.n_games
        unknown = sorted(set(recipe.shaping) - set(spec.potentials))
        if unknown:
            raise ValueError(f"shaping: unknown potentials {unknown}; have {spec.potentials}")
        self.coefficients = np.array([recipe.shaping.get(k, 0.0) for k in spec.potentials])
        self.value_codec = ValueCodec(recipe)
        self.precision = Precision(recipe.precision, device)
        self.explorer = PlaneExplorer(recipe.explore_plane, spec)
        key = rng.key_of(*run, "opponents")
        self.opponents = Opponents(recipe.opponents, game, batch, key)
        self.board_key = rng.key_of(*run, "boards")
        self.frame_key = rng.key_of(*run, "frames")
        self.action_key = rng.key_of(*run, "actions")
        self.explore_key = rng.key_of(*run, "explore")
        self.episodes = np.zeros(n, np.int64)  # episodes begun by each environment, less one
        self.shaped = np.zeros((n, 2), np.float64)  # potential of now, weighted
        self.at_cap = np.zeros(n, np.bool_)  # games that the last turn truncated
        self.legal = np.zeros((n, 2, spec.n_actions), np.uint8)
        self.codes = np.zeros((2 * n, *spec.code_shape), np.uint8)
        self.scalars = np.zeros((2 * n, len(spec.scalars)), np.float32)
        self.seconds = dict.fromkeys(("env", "codec", "inference", "sampling"), 0.0)
        self.begin_statistics()

    def begin_statistics(self) -> None:
        """Forget the episode statistics."""
        self.ended = self.drawn = self.truncated = self.turns = self.explored = 0
        self.opponents.begin_statistics()
        self.statistics = np.zeros(len(self.batch.spec.statistics))

    def start(self) -> None:
        """Deal the first games and look at them."""
        self._deal(np.arange(self.batch.n_games))
        self.shaped = self._potential()
        self._observe(self.codes, self.scalars)

    def _deal(self, games: np.ndarray) -> None:
        episode = self.episodes[games]
        self.batch.reset(games, rng.fold(self.board_key, games, episode))
        if self.recipe.symmetry == "per_episode":
            keys = rng.fold(self.frame_key, games[:, None], episode[:, None], np.arange(2))
            frames = (rng.uniform(keys) * len(self.batch.spec.symmetries)).astype(np.int8)
            self.batch.frames[games] = frames
        self.opponents.deal(games, episode)

    def _potential(self) -> np.ndarray:
        if not self.coefficients.any():
            return self.shaped
        out = np.zeros((self.batch.n_games, 2, len(self.coefficients)), np.float32)
        self.batch.potentials(out)
        return out @ self.coefficients

    def _observe(self, codes: np.ndarray, scalars: np.ndarray) -> None:
        n = self.batch.n_games
        self.batch.observe(
            codes.reshape(n, 2, *codes.shape[1:]), scalars.reshape(n, 2, -1), self.legal
        )

    def _clock(self, part: str, since: float) -> float:
        if self.device != "cpu":
            torch.cuda.synchronize()
        now = time.perf_counter()
        self.seconds[part] += now - since
        return now

    @torch.inference_mode()
    def collect(self, network: Network, out: Rollout, first_turn: int) -> None:
        """Play out.horizon turns into `out`; first_turn counts turns since the run began."""
        n, rows = self.batch.n_games, out.rows
        clock = time.perf_counter()
        # Slot 0 is what the last call saw last: an observation is made once a turn.
        out.codes[0], out.scalars[0] = self.codes, self.scalars
        for t in range(out.horizon):
            pack_legal(self.legal.reshape(rows, -1), out.legal[t])
            clock = self._clock("env", clock)
            logits, values, clock = self._forward(network, out.codes[t], out.scalars[t], clock)
            keys = rng.fold(self.action_key, first_turn + t, np.arange(rows))
            drawn = sample(logits, out.legal[t], rng.uniform(keys))
            out.action[t], out.log_prob[t] = drawn.action, drawn.log_prob
            out.entropy[t], out.n_legal[t] = drawn.entropy, drawn.n_legal
            out.value[t] = values.cpu().numpy()
            out.learner[t] = self.opponents.learner_rows()
            if self.explorer:
                self._explore(out, t, logits, first_turn)
            clock = self._clock("sampling", clock)
            if self.opponents:
                clock = self._oppose(out, t, keys, clock)
            self._step(out.action[t].reshape(n, 2), out.reward[t], out.done[t])
            out.truncated[t] = np.repeat(self.at_cap, 2)
            self._observe(out.codes[t + 1], out.scalars[t + 1])
            clock = self._clock("env", clock)
        _, values, clock = self._forward(network, out.codes[-1], out.scalars[-1], clock)
        out.last_value[:] = values.cpu().numpy()
        self.codes[...], self.scalars[...] = out.codes[-1], out.scalars[-1]
        self._clock("env", clock)

    def _forward(
        self, network: Network, codes: np.ndarray, scalars: np.ndarray, clock: float
    ) -> tuple[torch.Tensor, torch.Tensor, float]:
        moved = torch.from_numpy(codes).to(self.device), torch.from_numpy(scalars).to(self.device)
        planes = self.expand(*moved, self.batch.spec.encoder)
        clock = self._clock("codec", clock)
        logits, outputs = self.precision.forward(network, planes)
        values = self.value_codec.decode(outputs)
        return logits, values, self._clock("inference", clock)

    def _explore(self, out: Rollout, t: int, logits: torch.Tensor, first_turn: int) -> None:
        rows = np.arange(out.rows)
        keys = rng.fold(self.explore_key, first_turn + t, rows)
        legal = self.legal.reshape(out.rows, -1)
        mixed = self.explorer.mix(out.action[t], logits, legal, keys)
        out.action[t], out.log_prob[t] = mixed.action, mixed.log_prob
        out.keep[t], out.forced[t] = mixed.keep, mixed.forced
        self.explored += int((mixed.explored & out.learner[t]).sum())

    def _oppose(self, out: Rollout, t: int, keys: np.ndarray, clock: float) -> float:
        """Overwrite the moves of the rows that are not the learner's."""
        scene = out.codes[t], out.scalars[t]
        for member, network in enumerate(self.opponents.past):
            rows = self.opponents.rows(opponents.PAST, member)
            if rows.size:
                logits, _, clock = self._forward(network, *(a[rows] for a in scene), clock)
                uniforms = rng.uniform(keys[rows])
                out.action[t, rows] = sample(logits, out.legal[t, rows], uniforms).action
        legal = self.legal.reshape(out.rows, -1)
        self.opponents.scripted_moves(out.action[t], *scene, legal, keys)
        return self._clock("sampling", clock)

    def _step(self, actions: np.ndarray, reward: np.ndarray, done: np.ndarray) -> None:
        result = self.batch.step(actions)
        rewards = np.zeros((self.batch.n_games, 2), np.float64)
        over = result.done
        for seat in (0, 1):
            won, lost = result.winner == seat, result.winner == 1 - seat
            rewards[:, seat] = np.where(won, 1.0, np.where(lost, -1.0, self.recipe.draw_reward))
        rewards[~over] = 0.0
        if self.recipe.truncation == "reset":  # the negative control loses the draw's reward
            rewards[result.truncated] = 0.0
        # Potential-based shaping (Ng, Harada and Russell 1999), the potential of the end 0.
        following = self._potential()
        rewards += self.recipe.gamma * np.where(over[:, None], 0.0, following) - self.shaped
        self.shaped = following
        reward[:] = rewards.reshape(-1)
        done[:] = np.repeat(over, 2)
        self.at_cap = result.truncated
        if over.any():
            self._count(result.winner, result.truncated, np.flatnonzero(over))
            games = np.flatnonzero(over)
            self.episodes[games] += 1
            self._deal(games)
            self.shaped = self._potential()

    def _count(self, winner: np.ndarray, truncated: np.ndarray, games: np.ndarray) -> None:
        self.ended += games.size
        self.drawn += int((winner[games] < 0).sum())
        self.truncated += int(truncated[games].sum())
        self.turns += int(self.batch.turns[games].sum())
        self.opponents.count(winner, games)
        out = np.zeros((self.batch.n_games, 2, self.statistics.size), np.float32)
        self.batch.statistics(out)
        mine = self.opponents.learner_rows().reshape(-1, 2, 1)[games]
        seats = out[games].astype(np.float64) * mine
        self.statistics += (seats.sum(1) / mine.sum(1)).sum(0)

    def episode_statistics(self) -> dict[str, object]:
        """Episodes ended since `begin_statistics`, their share of draws (and of those
        truncated), mean length in turns, mean statistics of the learner's seats, and its
        win rate against each kind of opponent; null if none ended."""
        n = self.ended
        mean = {
            name: float(total / n) if n else None
            for name, total in zip(self.batch.spec.statistics, self.statistics, strict=True)
        }
        return {
            "episodes": n,
            "draw_share": self.drawn / n if n else None,
            "truncated_share": self.truncated / n if n else None,
            "game_length": self.turns / n if n else None,
            "statistics": mean,
            "win_rate": self.opponents.win_rate(),
        }

    def state_arrays(self) -> dict[str, np.ndarray]:
        """All that decides the future of the games, as arrays."""
        arrays = {f"game/{k}": v for k, v in self.batch.state_arrays().items()}
        arrays["actors/episodes"], arrays["actors/shaped"] = self.episodes, self.shaped
        arrays["actors/codes"], arrays["actors/scalars"] = self.codes, self.scalars
        arrays["actors/legal"] = pack_legal(self.legal)
        return arrays | self.opponents.state_arrays()

    def load_state_arrays(self, arrays: Mapping[str, np.ndarray], like: Network) -> None:
        """Restore `state_arrays`; the observation of now is restored, not made again.

        like: a network of the layout that past selves have.
        """
        game = {k[len("game/") :]: v for k, v in arrays.items() if k.startswith("game/")}
        self.batch.load_state_arrays(game)
        self.episodes = arrays["actors/episodes"].copy()
        self.shaped = arrays["actors/shaped"].copy()
        self.codes[...] = arrays["actors/codes"]
        self.scalars[...] = arrays["actors/scalars"]
        self.opponents.load_state_arrays(arrays, like)
        n_actions = self.batch.spec.n_actions
        self.legal[...] = np.unpackbits(arrays["actors/legal"], axis=-1, count=n_actions)
