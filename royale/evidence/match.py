"""Matches: all games of a match step together, each map from both seats."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired

import numpy as np

from royale import games, rng
from royale.errors import RoyaleError
from royale.evidence.elo import pair_counts
from royale.evidence.names import VERSUS, MatchName
from royale.evidence.records import GameRecord, MatchFile
from royale.games.protocol import BatchedGame, Player, StatefulPlayer, StepResult, View

RESTARTS = 3  # of a game whose process dies, before the match is given up


class PlayedGame(GameRecord):
    """A game that was played: a match file's record, and its statistics if they were asked for.

    statistics: a list a player, in the order of the spec's names.
    """

    statistics: NotRequired[list[list[float]]]


def play(
    game: str,
    settings: Mapping[str, Any],
    players: Sequence[Player | StatefulPlayer],
    n_games: int,
    key: int,
    report: Callable[[int, int], None] = lambda turn, running: None,
    statistics: bool = False,
    first: int = 0,
    witness: Callable[[np.ndarray, np.ndarray], None] = lambda numbers, actions: None,
) -> list[PlayedGame]:
    """Play `n_games` (even) games between `players` (two) and return them, one record a game.

    Games are numbered from `first` (even), so that a match may be played in batches. Games 2p
    and 2p+1 are on the same map with the seats exchanged. The map's seed and every random
    choice derive from `key` and the game's number, so a game can be played again from its
    record. With `statistics` a record also has those of behaviour at the game's end.
    `report(turn, games running)` is called once a turn. A game that is lost (its process
    died) is begun again, and since every choice has its own key it becomes the same game;
    RoyaleError where a player remembers, or it is lost again and again.
    `witness(numbers, actions)` is shown each turn before it is played: the games' numbers, and
    the seats' flat actions in the rows of those games, (M, 2); a game that is over, too.
    ValueError if `n_games` is odd or not positive.
    """
    if n_games < 2 or n_games % 2 or first % 2:
        raise ValueError(
            f"a match needs an even number of games, 2 or more, not {n_games} from {first}"
        )
    module = games.load(game)
    # codes are the same for every encoder: each network expands them its own way
    at_once = module.spec(settings, module.encoders[0]).games_at_once or n_games
    batch = module.make(min(n_games, at_once), settings, module.encoders[0])
    records = []
    for begun in range(0, n_games, at_once):
        number = first + np.arange(begun, min(begun + at_once, n_games))

        def tell(turn: int, running: int, later: int = n_games - begun - number.size) -> None:
            report(turn, running + later)

        records += _play(batch, players, number, key, tell, statistics, witness)
    return records


def _play(
    batch: BatchedGame,
    players: Sequence[Player | StatefulPlayer],
    number: np.ndarray,
    key: int,
    report: Callable[[int, int], None],
    statistics: bool,
    witness: Callable[[np.ndarray, np.ndarray], None],
) -> list[PlayedGame]:
    """The games of a match with these numbers, in the first slots of a batch."""
    slots = np.arange(number.size)
    # 53 bits, so that JSON readers that know only doubles keep them whole
    seeds = rng.fold(key, number // 2) >> np.uint64(11)
    seat_of_first = number % 2  # player 0 sits in this seat
    batch.reset(slots, seeds)
    sides = _Sides(batch, players, rng.fold(key, number, 1), seat_of_first)
    ends = _Ends.of(batch)
    running = np.arange(batch.n_games) < number.size
    losses = np.zeros(batch.n_games, int)
    with sides.begun():
        while running.any():
            actions = sides.choose(np.flatnonzero(running))
            witness(number, actions[slots])
            result = batch.step(actions)
            if result.lost is not None and (result.lost & running).any():
                again = np.flatnonzero(result.lost & running)
                losses[again] += 1
                _check_losses(number, seeds, losses, any(sides.remembers))
                # every choice follows from the game's number and turn: it comes to the same
                batch.reset(again, seeds[again])
                result.done[again] = False
            gave_up = running[:, None] & (actions < 0)
            ended = running & (result.done | gave_up.any(1))
            ends.note(ended, result, gave_up, batch.turns)
            if statistics and ended.any():
                ends.note_statistics(ended, batch)
            running &= ~ended
            report(int(batch.turns[slots].max()), int(running.sum()))
    return ends.records(number, seeds, seat_of_first, statistics)


class _Sides:
    """The two players of a batch's games, asked turn by turn, wherever they sit.

    keys (M,): of each game's random choices; seat_of_first (M,): where player 0 sits.
    """

    def __init__(
        self,
        batch: BatchedGame,
        players: Sequence[Player | StatefulPlayer],
        keys: np.ndarray,
        seat_of_first: np.ndarray,
    ) -> None:
        spec, n = batch.spec, batch.n_games
        self.batch, self.players, self.keys = batch, players, keys
        self.seat_of_first = seat_of_first
        self.remembers = [hasattr(player, "begin") for player in players]
        self.codes = np.zeros((n, 2, *spec.code_shape), np.uint8)
        self.scalars = np.zeros((n, 2, len(spec.scalars)), np.float32)
        self.legal = np.zeros((n, 2, spec.n_actions), np.uint8)
        self.actions = np.zeros((n, 2), np.int32)

    @contextlib.contextmanager
    def begun(self) -> Iterator[None]:
        """Players that remember are told that the match begins, and that it is over."""
        with contextlib.ExitStack() as stack:
            for index in np.flatnonzero(self.remembers):
                stack.callback(self.players[index].end)
                self.players[index].begin(self.seat_of_first ^ index)
            yield

    def choose(self, rows: np.ndarray) -> np.ndarray:
        """The seats' actions (N, 2) in this turn; of games not in `rows`, their last."""
        self.batch.observe(self.codes, self.scalars, self.legal)
        for index, player in enumerate(self.players):
            seat = self.seat_of_first[rows] ^ index
            turn = self.batch.turns[rows]
            view = View(
                codes=self.codes[rows, seat],
                scalars=self.scalars[rows, seat],
                legal=self.legal[rows, seat],
                turns=turn,
                keys=rng.fold(self.keys[rows], turn, seat),
            )
            more = (rows,) if self.remembers[index] else ()
            self.actions[rows, seat] = player.act(view, *more)
        return self.actions


@dataclass
class _Ends:
    """How the games of a batch ended."""

    winner_seat: np.ndarray  # (N,), -1 for nobody
    truncated: np.ndarray  # (N,) bool
    turns: np.ndarray  # (N,)
    statistics: np.ndarray  # (N, 2, len(spec.statistics)) float32

    @classmethod
    def of(cls, batch: BatchedGame) -> _Ends:
        """None yet."""
        n = batch.n_games
        statistics = np.zeros((n, 2, len(batch.spec.statistics)), np.float32)
        return cls(np.full(n, -1), np.zeros(n, bool), np.zeros(n, int), statistics)

    def note(
        self, ended: np.ndarray, result: StepResult, gave_up: np.ndarray, turns: np.ndarray
    ) -> None:
        """Keep the result of games that ended (N,) in this turn; gave_up (N, 2): which seats."""
        self.winner_seat[ended] = result.winner[ended]
        self.truncated[ended] = result.truncated[ended]
        self.turns[ended] = turns[ended]
        # giving up loses, whatever the turn brought; if both do, nobody wins
        gone = gave_up.any(1)
        self.winner_seat[gone] = np.where(gave_up.all(1), -1, gave_up[:, 0])[gone]
        self.truncated[gone] = False

    def note_statistics(self, ended: np.ndarray, batch: BatchedGame) -> None:
        """Keep the statistics of games that ended in this turn."""
        now = np.zeros_like(self.statistics)
        batch.statistics(now)
        self.statistics[ended] = now[ended]

    def records(
        self,
        number: np.ndarray,
        seeds: np.ndarray,
        seat_of_first: np.ndarray,
        statistics: bool,
    ) -> list[PlayedGame]:
        """The records of the games in the first slots; see `play`."""
        return [
            {
                "game": int(number[k]),
                "seed": int(seeds[k]),
                "seats": [int(seat), 1 - int(seat)],
                "turns": int(self.turns[k]),
                "winner": None if self.winner_seat[k] < 0 else int(self.winner_seat[k] ^ seat),
                "truncated": bool(self.truncated[k]),
            }
            | ({"statistics": self.statistics[k, [seat, 1 - seat]].tolist()} if statistics else {})
            for k, seat in enumerate(seat_of_first)
        ]


def _check_losses(
    number: np.ndarray, seeds: np.ndarray, losses: np.ndarray, stateful: bool
) -> None:
    """RoyaleError where beginning lost games again gives no whole game."""
    worst = int(losses[: number.size].argmax())
    if stateful:
        raise RoyaleError(
            f"game {number[worst]} was lost with the process that played it, and a program "
            "cannot be taken back to the game's start; ask for the match again"
        )
    if losses[worst] > RESTARTS:
        raise RoyaleError(
            f"game {number[worst]} (seed {seeds[worst]}) was lost {losses[worst]} times with "
            "the process that played it; is there too little memory?"
        )


def check_match(path: str | Path, match: MatchFile, known: Mapping[str, str]) -> None:
    """Refuse a match file that does not say what its games say (RoyaleError).

    known: sha256 of the weights by player name; names of scripted players are not in it.
    """
    fault = None
    named = MatchName.parse(Path(path).stem)
    if (str(named.a), str(named.b)) != (match["a"], match["b"]):
        fault = f"it is the match {match['a']}{VERSUS}{match['b']}"
    elif count(match["games"]) != (match["win"], match["loss"], match["draw"]):
        fault = f"its games count {count(match['games'])}, not win, loss and draw"
    elif pair_counts(match["games"]) != match["pairs"]:
        fault = f"its pairs count {pair_counts(match['games'])}, not {match['pairs']}"
    for side in "ab":
        expected, found = known.get(match[side]), match["players"][side]["sha256"]
        if fault is None and expected != found:
            fault = f"{match[side]} played with other weights than those that are judged"
    if fault:
        raise RoyaleError(f"{path}: {fault}; delete it and run again")


def count(played: Sequence[GameRecord]) -> tuple[int, int, int]:
    """Games won, lost and drawn from the first player's view."""
    winners = [game["winner"] for game in played]
    return winners.count(0), winners.count(1), winners.count(None)
