"""Playing a batch of games, and remembering what the learner decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from royale.learn.samples import Rollout
from royale.learn.sampling import pack_legal, sample, single_action
from royale.learn.timing import Clock
from royale.learn.value import ValueCodec


class Stopped(Exception):
    """Collecting was told to stop."""


class Actors:
    """N games, both seats played by one network but for the recipe's other opponents.

    What is seen now is `codes` (R, C...), `scalars` (R, S) and `legal` (N, 2, A). Games are
    dealt from keys of (run, environment, episode), frames and actions from keys of their
    own, so the future depends on `state_arrays` alone. Where several processes share the
    `total` games of a run, this one's are those from number `first`. `clock` counts the
    seconds of env, codec (gathering codes, expanding them to planes), inference and sampling.
    """

    def __init__(
        self,
        game: Game,
        batch: BatchedGame,
        recipe: Recipe,
        run: tuple[object, ...],
        device: str = "cpu",
        first: int = 0,
        total: int | None = None,
    ) -> None:
        self.first = first
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
        self.opponents = Opponents(recipe.opponents, game, batch, key, first, total)
        self.board_key = rng.key_of(*run, "boards")
        self.frame_key = rng.key_of(*run, "frames")
        self.action_key = rng.key_of(*run, "actions")
        self.explore_key = rng.key_of(*run, "explore")
        self.episodes = np.zeros(n, np.int64)  # episodes begun by each environment, less one
        self.shaped = np.zeros((n, 2), np.float64)  # potential of now, weighted
        self.over = np.zeros(n, np.bool_)  # games that the last turn ended
        self.at_cap = np.zeros(n, np.bool_)  # those of them that it truncated
        self.legal = np.zeros((n, 2, spec.n_actions), np.uint8)
        self.codes = np.zeros((2 * n, *spec.code_shape), np.uint8)
        self.scalars = np.zeros((2 * n, len(spec.scalars)), np.float32)
        self.clock = Clock(("env", "codec", "inference", "sampling"), device)
        self.stopping = False  # set from another thread: `collect` ends with Stopped
        self.begin_statistics()

    def begin_statistics(self) -> None:
        """Forget the episode statistics."""
        self.ended = self.drawn = self.truncated = self.turns = self.explored = 0
        self.lost_games = 0  # their worker died; they have no result
        self.expanded = 0  # rows whose codes were expanded to planes
        self.opponents.begin_statistics()
        self.statistics = np.zeros(len(self.batch.spec.statistics))

    def start(self) -> None:
        """Deal the first games and look at them."""
        self._deal(np.arange(self.batch.n_games))
        self.shaped = self._potential()
        self._observe()

    def _deal(self, games: np.ndarray) -> None:
        episode = self.episodes[games]
        numbers = self.first + games
        self.batch.reset(games, rng.fold(self.board_key, numbers, episode))
        if self.recipe.symmetry == "per_episode":
            keys = rng.fold(self.frame_key, numbers[:, None], episode[:, None], np.arange(2))
            frames = (rng.uniform(keys) * len(self.batch.spec.symmetries)).astype(np.int8)
            self.batch.frames[games] = frames
        self.opponents.deal(games, episode)

    def _potential(self) -> np.ndarray:
        if not self.coefficients.any():
            return self.shaped
        out = np.zeros((self.batch.n_games, 2, len(self.coefficients)), np.float32)
        self.batch.potentials(out)
        return out @ self.coefficients

    def _observe(self) -> None:
        n = self.batch.n_games
        codes = self.codes.reshape(n, 2, *self.codes.shape[1:])
        self.batch.observe(codes, self.scalars.reshape(n, 2, -1), self.legal)

    @torch.inference_mode()
    def collect(self, network: Network, out: Rollout, first_turn: int) -> None:
        """Play out.horizon turns into `out`; first_turn counts turns since the run began."""
        with self.clock("env"):
            out.begin()
            for t in range(out.horizon):
                if self.stopping:
                    raise Stopped
                self._turn(network, out, t, first_turn + t)
            lost = getattr(self.batch, "lost", None)
            if lost is not None:  # since the last turn: nothing is seen to value what came before
                out.drop(lost)
            last = np.flatnonzero(self.opponents.learner_rows())
            _, values = self._forward(network, self.codes[last], self.scalars[last])
            out.last_value[:] = 0.0  # an opponent's row has no sample that would ask for it
            out.last_value[last] = values.cpu().numpy()

    def _turn(self, network: Network, out: Rollout, t: int, turn: int) -> None:
        """Choose and play one turn: the t-th of `out`, and that number since the run began."""
        packed = pack_legal(self.legal.reshape(out.rows, -1))
        # Where one action is legal it is taken: no network need be asked.
        out.action[t], choice = single_action(packed, self.batch.spec.n_actions)
        out.learner[t] = self.opponents.learner_rows()
        with self.clock("sampling"):
            self._decide(network, out, t, packed, choice, turn)
            if self.opponents:
                self._oppose(out.action[t], packed, choice, turn)
        lost = self._step(out.action[t].reshape(-1, 2), out.reward[t])
        out.truncated[t] = np.repeat(self.at_cap, 2)
        out.end_turn(t, self.over, lost)
        self._observe()

    def _decide(
        self,
        network: Network,
        out: Rollout,
        t: int,
        packed: np.ndarray,
        choice: np.ndarray,
        turn: int,
    ) -> None:
        """Let the network choose in the learner's rows that have a choice."""
        rows = np.flatnonzero(out.learner[t] & (choice | (t == 0)))
        if not rows.size:
            return
        with self.clock("codec"):
            new = out.add(t, rows, self.codes, self.scalars, packed)
        logits, values = self._forward(network, new.codes, new.scalars)
        numbers = 2 * self.first + rows
        keys = rng.fold(self.action_key, turn, numbers)
        drawn = sample(logits, new.legal, rng.uniform(keys))
        new.action[:], new.log_prob[:] = drawn.action, drawn.log_prob
        new.entropy[:], new.n_legal[:] = drawn.entropy, drawn.n_legal
        new.value[:] = values.cpu().numpy()
        if self.explorer:
            keys = rng.fold(self.explore_key, turn, numbers)
            legal = self.legal.reshape(out.rows, -1)[rows]
            mixed = self.explorer.mix(new.action, logits, legal, keys)
            new.action[:], new.log_prob[:] = mixed.action, mixed.log_prob
            new.keep[:], new.forced[:] = mixed.keep, mixed.forced
            self.explored += int((mixed.explored & choice[rows]).sum())
        out.action[t, rows] = new.action

    def _forward(
        self, network: Network, codes: np.ndarray, scalars: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (B, A) and decoded values (B,) of B rows."""
        with self.clock("codec"):
            moved = (torch.from_numpy(array).to(self.device) for array in (codes, scalars))
            planes = self.expand(*moved, self.batch.spec.encoder)
            self.expanded += len(codes)
        with self.clock("inference"):
            logits, outputs = self.precision.forward(network, planes)
            return logits, self.value_codec.decode(outputs)

    def _oppose(
        self, action: np.ndarray, packed: np.ndarray, choice: np.ndarray, turn: int
    ) -> None:
        """Fill in the moves, in `action` (R,), of the rows that are not the learner's."""
        keys = rng.fold(self.action_key, turn, 2 * self.first + np.arange(action.size))
        for member, network in enumerate(self.opponents.past):
            rows = self.opponents.rows(opponents.PAST, member)
            rows = rows[choice[rows]]
            if rows.size:
                with self.clock("codec"):
                    seen = self.codes[rows], self.scalars[rows]
                logits, _ = self._forward(network, *seen)
                action[rows] = sample(logits, packed[rows], rng.uniform(keys[rows])).action
        legal = self.legal.reshape(action.size, -1)
        self.opponents.scripted_moves(action, self.codes, self.scalars, legal, keys, choice)

    def _step(self, actions: np.ndarray, reward: np.ndarray) -> np.ndarray | None:
        """One turn; which games (N,) were lost in it, if any."""
        result = self.batch.step(actions)
        rewards = np.zeros((self.batch.n_games, 2), np.float64)
        over = self.over = result.done
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
        if result.lost is not None:
            rewards[result.lost] = 0.0  # how such a game would have gone on, nobody knows
        reward[:] = rewards.reshape(-1)
        self.at_cap = result.truncated
        if over.any():
            games = np.flatnonzero(over)
            gone = np.zeros_like(over) if result.lost is None else result.lost
            self.lost_games += int(gone.sum())
            self._count(result.winner, result.truncated, games[~gone[games]])
            self.episodes[games] += 1
            self._deal(games)
            self.shaped = self._potential()
        return result.lost

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

    def counters(self) -> list[np.ndarray]:
        """What `episode_statistics` is made from."""
        numbers = [self.ended, self.drawn, self.truncated, self.turns, self.explored]
        results = self.opponents.wins, self.opponents.ended
        return [np.array([*numbers, self.lost_games]), self.statistics, *results]

    def take_counters(self, of_all: Sequence[list[np.ndarray]]) -> None:
        """Count for all processes, from the `counters` of each."""
        numbers, self.statistics, wins, ended = (sum(parts) for parts in zip(*of_all, strict=True))
        self.ended, self.drawn, self.truncated, self.turns, self.explored, self.lost_games = (
            int(number) for number in numbers
        )
        self.opponents.wins, self.opponents.ended = wins, ended

    def episode_statistics(self) -> dict[str, object]:
        """What became of the episodes that ended since `begin_statistics`, lost ones left out.

        Their number, the shares drawn and truncated, mean length in turns, mean statistics of
        the learner's seats, and its win rate against each kind of opponent; null if none ended.
        """
        n = self.ended
        mean = {
            name: float(total / n) if n else None
            for name, total in zip(self.batch.spec.statistics, self.statistics, strict=True)
        }
        return {
            "episodes": n,
            "lost_games": self.lost_games,
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
