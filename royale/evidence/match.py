"""Matches: all games of a match step together, each map from both seats."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from royale import games, rng
from royale.errors import RoyaleError
from royale.evidence.elo import pair_counts
from royale.games.protocol import BatchedGame, Player, View

REPLAYS = 3  # of a game whose process dies, before the match is given up


class StatefulPlayer(Protocol):
    """A player that remembers, such as a process a game. One match at a time, one side of it."""

    def begin(self, seats: np.ndarray) -> None:
        """A match begins: seats (N,) is where this player sits in each game."""

    def act(self, view: View, games: np.ndarray) -> np.ndarray:
        """Actions (R,) int32 for the games (R,) still running; -1 gives a game up.

        A game that is not asked for any more is over.
        """

    def end(self) -> None:
        """The match is over, or broken off."""


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
) -> list[dict[str, Any]]:
    """Play `n_games` (even) games between `players` (two) and return them, one record a game.

    Games are numbered from `first` (even), so that a match may be played in batches. Games 2p and 2p+1 are on the same map with the seats exchanged. The map's
    seed and every random choice derive from `key` and the game's number, so a
    game can be played again from its record. A record has: game (number), seed,
    seats (the player, 0 or 1, in seat 0 and in seat 1), turns, winner (the
    player, or null for a draw) and truncated. With `statistics` it also has those of
    behaviour at the game's end: a list a player, in the order of the spec's names.
    `report(turn, games running)` is called once a turn. A game that is lost (its process
    died) is played again from its start, and since every choice has its own key it becomes
    the same game; RoyaleError where a player remembers, or it is lost again and again.
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
) -> list[dict[str, Any]]:
    """The games of a match with these numbers, in the first slots of a batch."""
    spec, n, slots = batch.spec, batch.n_games, np.arange(number.size)
    # 53 bits, so that JSON readers that know only doubles keep them whole
    seeds = rng.fold(key, number // 2) >> np.uint64(11)
    choice_keys = rng.fold(key, number, 1)
    batch.reset(slots, seeds)
    seat_of_first = number % 2  # player 0 sits in this seat

    codes = np.zeros((n, 2, *spec.code_shape), np.uint8)
    scalars = np.zeros((n, 2, len(spec.scalars)), np.float32)
    legal = np.zeros((n, 2, spec.n_actions), np.uint8)
    actions = np.zeros((n, 2), np.int32)
    running = np.arange(n) < number.size
    losses = np.zeros(n, int)
    winner_seat = np.full(n, -1)
    truncated = np.zeros(n, bool)
    turns = np.zeros(n, int)
    behaviour = np.zeros((2, n, 2, len(spec.statistics)), np.float32)  # now, at the end
    with contextlib.ExitStack() as stack:
        stateful = [hasattr(player, "begin") for player in players]
        for index in np.flatnonzero(stateful):
            stack.callback(players[index].end)
            players[index].begin(seat_of_first ^ index)
        while running.any():
            batch.observe(codes, scalars, legal)
            rows = np.flatnonzero(running)
            for index, player in enumerate(players):
                seat = seat_of_first[rows] ^ index
                turn = batch.turns[rows]
                view = View(
                    codes=codes[rows, seat],
                    scalars=scalars[rows, seat],
                    legal=legal[rows, seat],
                    turns=turn,
                    keys=rng.fold(choice_keys[rows], turn, seat),
                )
                more = (rows,) if stateful[index] else ()
                actions[rows, seat] = player.act(view, *more)
            witness(number, actions[slots])
            result = batch.step(actions)
            if result.lost is not None and (result.lost & running).any():
                again = np.flatnonzero(result.lost & running)
                losses[again] += 1
                _look_at_losses(number, seeds, losses, any(stateful))
                # Every choice follows from the game's number and turn: it comes to the same.
                batch.reset(again, seeds[again])
                result.done[again] = False
            gave_up = running[:, None] & (actions < 0)
            ended = running & (result.done | gave_up.any(1))
            winner_seat[ended] = result.winner[ended]
            truncated[ended] = result.truncated[ended]
            # giving up loses, whatever the turn brought; if both do, nobody wins
            gone = gave_up.any(1)
            winner_seat[gone] = np.where(gave_up.all(1), -1, gave_up[:, 0])[gone]
            truncated[gone] = False
            turns[ended] = batch.turns[ended]
            if statistics and ended.any():
                batch.statistics(behaviour[0])
                behaviour[1, ended] = behaviour[0, ended]
            running &= ~ended
            report(int(batch.turns[slots].max()), int(running.sum()))
    return [
        {
            "game": int(number[k]),
            "seed": int(seeds[k]),
            "seats": [int(seat), 1 - int(seat)],
            "turns": int(turns[k]),
            "winner": None if winner_seat[k] < 0 else int(winner_seat[k] ^ seat),
            "truncated": bool(truncated[k]),
        }
        | ({"statistics": behaviour[1, k, [seat, 1 - seat]].tolist()} if statistics else {})
        for k, seat in enumerate(seat_of_first)
    ]


def _look_at_losses(
    number: np.ndarray, seeds: np.ndarray, losses: np.ndarray, stateful: bool
) -> None:
    """RoyaleError where playing lost games again gives no whole game."""
    worst = int(losses[: number.size].argmax())
    if stateful:
        raise RoyaleError(
            f"game {number[worst]} was lost with the process that played it, and a program "
            "cannot be taken back to the game's start; ask for the match again"
        )
    if losses[worst] > REPLAYS:
        raise RoyaleError(
            f"game {number[worst]} (seed {seeds[worst]}) was lost {losses[worst]} times with "
            "the process that played it; is there too little memory?"
        )


def check_match(path: str | Path, match: Mapping[str, Any], known: Mapping[str, str]) -> None:
    """Refuse a match file that does not say what its games say (RoyaleError).

    known: sha256 of the weights by player name; names of scripted players are not in it.
    """
    fault = None
    if Path(path).stem != f"{match['a']}-vs-{match['b']}":
        fault = f"it is the match {match['a']}-vs-{match['b']}"
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


def count(played: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Games won, lost and drawn from the first player's view."""
    winners = [record["winner"] for record in played]
    return winners.count(0), winners.count(1), winners.count(None)
