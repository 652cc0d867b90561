"""Other opponents than the learner's present self, in a fixed share of the games.

The first games of the batch are against frozen past selves, the next against the game's
scripted players, the next against a random mover; the rest is self-play. The opponent
holds one seat, the other one in the next episode. Its rows are not the learner's: they
are left out of the update and of the advantages' statistics.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np
import torch

from royale import rng
from royale.errors import ConfigError
from royale.games.protocol import BatchedGame, Game, Player, View
from royale.learn.network import Network
from royale.learn.recipe import OPPONENTS, opponent_games

SELF = -1
PAST, SCRIPTED, RANDOM = range(3)
POOL = 4  # frozen past selves
REFRESH = 8  # iterations between two snapshots of the averaged weights


class Opponents:
    """Who plays which row, and the opponents' moves.

    `kind` (N,) int8 is SELF or an index into `recipe.OPPONENTS`, the same for a whole run;
    `seat` (N,) int8 is the opponent's seat and `member` (N,) int16 which past self or
    scripted player it is, both drawn when an episode is dealt. ConfigError where a share
    is of no game, or the game has no scripted player. The games are those from `number`
    of the run's `total`.
    """

    def __init__(
        self,
        shares: Mapping[str, float],
        game: Game,
        batch: BatchedGame,
        key: int,
        number: int = 0,
        total: int | None = None,
    ) -> None:
        n, total = batch.n_games, total or batch.n_games
        self.kind, self.key, self.number = np.full(total, SELF, np.int8), key, number
        self.spec, self.batch = batch.spec, batch
        first = 0
        for kind, count in enumerate(opponent_games(shares, total).values()):
            self.kind[first : first + count] = kind
            first += count
        self.kinds = {*self.kind.tolist()}  # of the whole run
        self.kind = self.kind[number : number + n]
        names = [name for name in game.scripted if name != "random"]
        if SCRIPTED in self.kinds and not names:
            raise ConfigError(
                f"recipe key 'opponents.scripted': {game.name} has no scripted player; allowed: 0"
            )
        wanted = {SCRIPTED: names, RANDOM: ["random"]}
        self.players: dict[int, list[Player]] = {
            kind: [game.scripted_player(name, self.spec) for name in members]
            for kind, members in wanted.items()
            if kind in self.kinds
        }
        self.past: list[Network] = []
        self.seat = np.zeros(n, np.int8)
        self.member = np.zeros(n, np.int16)
        self.wins = np.zeros(len(OPPONENTS), np.int64)
        self.ended = np.zeros(len(OPPONENTS), np.int64)

    def __bool__(self) -> bool:
        return self.kinds != {SELF}

    def begin_statistics(self) -> None:
        """Forget the results."""
        self.wins[:], self.ended[:] = 0, 0

    def snapshot(self, average: Network, iteration: int) -> None:
        """Freeze a copy of the averaged weights, before iterations 0, REFRESH, 2 REFRESH ...

        The pool grows to POOL members; then the oldest is replaced.
        """
        if iteration % REFRESH or PAST not in self.kinds:
            return
        slot = iteration // REFRESH % POOL
        self.past[slot : slot + 1] = [copy.deepcopy(average).requires_grad_(False)]

    def deal(self, games: np.ndarray, episode: np.ndarray) -> None:
        """Draw seat and member for the episodes (M,) that `games` (M,) begin."""
        numbers = self.number + games
        self.seat[games] = (numbers + episode) % 2
        draws = rng.uniform(rng.fold(self.key, numbers, episode))
        sizes = {PAST: max(1, len(self.past))} | {k: len(v) for k, v in self.players.items()}
        size = np.array([sizes.get(int(kind), 1) for kind in self.kind[games]])
        self.member[games] = (draws * size).astype(np.int16)

    def learner_rows(self) -> np.ndarray:
        """(2N,) bool: the rows that the learner plays now."""
        seats = np.arange(2)
        return ((self.kind == SELF)[:, None] | (self.seat[:, None] != seats)).reshape(-1)

    def rows(self, kind: int, member: int) -> np.ndarray:
        """The rows that one opponent plays now."""
        games = np.flatnonzero((self.kind == kind) & (self.member == member))
        return 2 * games + self.seat[games]

    def scripted_moves(
        self,
        action: np.ndarray,
        codes: np.ndarray,
        scalars: np.ndarray,
        legal: np.ndarray,
        keys: np.ndarray,
        choice: np.ndarray,
    ) -> None:
        """Overwrite `action` (2N,) where a scripted player or the random mover has a choice.

        codes (2N, C...), scalars (2N, S), legal (2N, A), keys (2N,) and choice (2N,) bool,
        more than one action is legal, are of all rows.
        """
        for kind, players in self.players.items():
            for member, player in enumerate(players):
                rows = self.rows(kind, member)
                rows = rows[choice[rows]]
                if rows.size:
                    turns = self.batch.turns[rows // 2].astype(np.int32)
                    view = View(codes[rows], scalars[rows], legal[rows], turns, keys[rows])
                    action[rows] = player.act(view)

    def count(self, winner: np.ndarray, games: np.ndarray) -> None:
        """Note the results of `games` (M,) that ended; winner (N,)."""
        for game in games[self.kind[games] != SELF]:
            self.ended[self.kind[game]] += 1
            self.wins[self.kind[game]] += winner[game] == 1 - self.seat[game]

    def win_rate(self) -> dict[str, float | None]:
        """The learner's share of wins against each kind; null where no such game ended."""
        return {
            name: float(self.wins[k] / self.ended[k]) if self.ended[k] else None
            for k, name in enumerate(OPPONENTS)
        }

    def state_arrays(self) -> dict[str, np.ndarray]:
        """All that decides future moves, as arrays; nothing where all is self-play."""
        if not self:
            return {}
        arrays = {"opponents/seat": self.seat, "opponents/member": self.member}
        for slot, network in enumerate(self.past):
            for name, parameter in network.named_parameters():
                arrays[f"opponents/past/{slot}/{name}"] = parameter.detach().cpu().numpy()
        return arrays

    def load_state_arrays(self, arrays: Mapping[str, np.ndarray], like: Network) -> None:
        """Restore `state_arrays`; `like` is a network of the past selves' layout."""
        if not self:
            return
        self.seat[:], self.member[:] = arrays["opponents/seat"], arrays["opponents/member"]
        self.past = []
        while any(name.startswith(f"opponents/past/{len(self.past)}/") for name in arrays):
            network = copy.deepcopy(like).requires_grad_(False)
            with torch.no_grad():
                for name, parameter in network.named_parameters():
                    array = arrays[f"opponents/past/{len(self.past)}/{name}"]
                    parameter.copy_(torch.from_numpy(array.copy()))
            self.past.append(network)
