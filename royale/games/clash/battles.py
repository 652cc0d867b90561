"""N battles in this process: dealing, stepping, looking, saving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from royale.games.clash import decks, encode
from royale.games.clash.engine import OK, EngineError, battle, decision_ticks, ids, unit_worth
from royale.games.clash.layout import (
    BUTTONS,
    GAME_OVER,
    N_CARDS,
    P_ABILITIES,
    P_ABILITY,
    P_CROWNS,
    P_ELIXIR,
    P_HAND,
    P_MIRROR,
    P_TOWER_MAX,
    PASS,
    RATE,
    SLOTS,
    TICK,
    TICK_MS,
    TILES,
    WIDTH,
    WINNER,
)
from royale.games.clash.legality import POINTS, Legality
from royale.games.clash.public import LONG_AGO, Public
from royale.games.clash.scan import Scanned
from royale.games.clash.settings import SHUFFLES, Settings

FULL_BAR = 10000  # thousandths of elixir
SEED_BITS = np.uint64(2**63 - 1)


# Least and greatest of what a restored state may hold: some of it chooses among rows and cards.
BOUNDS: dict[str, tuple[float, float]] = {
    "frames": (0, 1),
    "winner": (-1, 1),
    "turns": (0, 1 << 20),
    "estimate": (0, FULL_BAR),
    "ticks": (0, 1 << 20),
    "seen": (-1, N_CARDS - 1),
    "since": (0, LONG_AGO),
    "plays": (0, 1 << 20),
    "last": (-1, N_CARDS - 1),
}


class SnapshotError(EngineError, ValueError):
    """What should be a saved battle, and the engine cannot read."""


def check_state(state: Mapping[str, np.ndarray], n: int) -> None:
    """ValueError unless `state` can be that of n battles, wherever it comes from."""
    for name, (least, most) in BOUNDS.items():
        array = state[name]
        if array.shape[:1] != (n,) or not ((array >= least) & (array <= most)).all():
            raise ValueError(f"state array {name}: want {n} battles of {least} to {most}")
    lengths = state["snapshot_bytes"]
    whole = (lengths >= 0) & (lengths <= state["snapshot"].shape[1])
    if not (
        whole & ((lengths == 0) == state["undealt"]) & (state["over"] >= state["undealt"])
    ).all():
        raise ValueError("state array snapshot_bytes: want a snapshot of every battle dealt")


class Battles:
    """N engine battles that read actions from, and write what happened to, shared arrays.

    Every slot keeps one engine object for all its battles: making one takes 0.1 s, a reset
    0.3 ms. A slot whose battle is over is left alone until it is reset.
    """

    # Beside `Public.STATE`, what the engine's own snapshot does not hold.
    COUNTED = ("decisions", "choices", "passes", "cards", "leaked", "elixir", "choice")

    def __init__(self, arrays: Mapping[str, np.ndarray], settings: Settings) -> None:
        n = len(arrays["turns"])
        self.n, self.settings, self.arrays = n, settings, arrays
        self._decks, self._pool = settings.deck_ids(), settings.pool_ids()
        delay, overrides = settings.command_delay_ticks, settings.overrides()
        self.engines = [battle(delay, overrides) for _ in range(n)]
        self._checks = [engine.check_deploy for engine in self.engines]
        self.ticks = 0  # a decision; known when the first battle tells its tick
        self.scanned, self.public = Scanned(n, len(overrides)), Public(n)
        self.legality = Legality()
        self.over = np.ones(n, np.bool_)  # no battle, or one that has ended
        self.undealt = np.ones(n, np.bool_)  # no battle yet
        self.decisions, self.choices, self.passes, self.cards, self.leaked = np.zeros(
            (5, n, 2), np.int32
        )
        self.elixir = np.zeros((n, 2))  # summed over decisions, thousandths
        self.choice = np.zeros((n, 2), np.bool_)  # something but a pass was legal
        self._playable = np.zeros((n, 2, SLOTS), np.uint8)
        self._places = np.zeros(n, np.uint64)
        self._worth = unit_worth()
        self._mirror = ids()["Mirror"]
        self._full: list[list[int]] | None = None

    def reset(self) -> None:
        """Deal new battles to those that `deal` marks, from their seeds."""
        games = np.flatnonzero(self.arrays["deal"])
        for game in games:
            self.engines[game].reset(*self.beginning(int(game), self.arrays["seeds"][game]))
        self._read(games)
        self.arrays["frames"][games] = 0
        self.arrays["turns"][games] = 0
        for name in ("done", "truncated"):
            self.arrays[name][games] = False
        self.arrays["winner"][games] = -1
        self.over[games] = self.undealt[games] = False
        for name in self.COUNTED:
            getattr(self, name)[games] = 0
        for game in games:
            self.public.begin(game, int(self.scanned.head[game, TICK]))
        self._report()

    def beginning(self, game: int, seed: np.uint64) -> tuple[Any, ...]:
        """The arguments of the engine's `reset` for the battle with this seed."""
        settings, engine = self.settings, self.engines[game]
        dealt = [list(side) for side in decks.deal(self._decks, self._pool, seed)]
        shuffle = SHUFFLES[settings.shuffle]
        number, start = int(seed & SEED_BITS), settings.start_tick
        hitpoints = None
        if settings.tower_hp_share < 1.0:
            if self._full is None:  # as a battle with full towers tells
                engine.reset(number, dealt, shuffle, 0, None, None, [])
                self._read(np.array([game]))
                towers = self.scanned.players[game, :, P_TOWER_MAX : P_TOWER_MAX + 3]
                self._full = towers.tolist()
            share = settings.tower_hp_share
            hitpoints = [[max(1, round(hp * share)) for hp in side] for side in self._full]
        return number, dealt, shuffle, start, None, hitpoints, []

    def _read(self, games: np.ndarray) -> None:
        """Read the states of `games` anew, and what follows from them for the whole batch."""
        if games.size:
            self.scanned.read([self.engines[g].state_json() for g in games], games)
            self.ticks = decision_ticks(int(self.scanned.head[games[0], TICK_MS]))

    def _report(self) -> None:
        """Write potentials and statistics of all battles."""
        seen, arrays = self.scanned, self.arrays
        encode.potentials(
            seen.players, seen.entities, seen.counts, self._worth, arrays["potentials"]
        )
        out, decisions = arrays["statistics"], np.maximum(self.decisions, 1)
        out[..., 0] = self.cards
        out[..., 1] = self.passes / np.maximum(self.choices, 1)
        out[..., 2] = self.elixir / decisions / 1000
        out[..., 3] = self.leaked / decisions
        out[..., 4] = seen.players[:, :, P_CROWNS]

    def observe(self) -> None:
        """Write what both seats of every battle see, in their frames."""
        arrays, seen, public = self.arrays, self.scanned, self.public
        encode.encode(
            seen.head,
            seen.players,
            seen.entities,
            seen.spells,
            seen.counts,
            public.estimate,
            public.seen,
            public.since,
            public.plays,
            arrays["frames"],
            arrays["codes"],
            arrays["scalars"],
        )
        arrays["codes"][self.undealt], arrays["scalars"][self.undealt] = 0, 0
        self._legal()

    def _legal(self) -> None:
        seen, legal, frames = self.scanned, self.arrays["legal"], self.arrays["frames"]
        encode.prospects(
            seen.head,
            seen.players,
            seen.entities,
            seen.counts,
            self.over,
            self._playable,
            self._places,
        )
        legal[...] = 0
        legal[..., PASS] = 1
        self.choice[...] = False
        for game, seat, slot in np.argwhere(self._playable).tolist():
            player = seen.players[game, seat]
            card = int(player[P_HAND + slot])
            if card == self._mirror:
                card = int(player[P_MIRROR])
            grid = self.legality.grid(
                self._checks[game],
                seat,
                slot,
                card,
                int(self._places[game]),
                int(frames[game, seat]),
            )
            if grid is not None:
                legal[game, seat, slot * TILES : (slot + 1) * TILES] = grid
                self.choice[game, seat] = True
        champions = (seen.players[:, :, P_ABILITIES] > 0) & ~self.over[:, None]
        for game, seat in np.argwhere(champions).tolist():
            for button in range(BUTTONS):
                if self._checks[game](seat, SLOTS + button, 0, 0) == OK:
                    legal[game, seat, PASS + 1 + button] = 1
                    self.choice[game, seat] = True

    def command(self, game: int, seat: int, action: int) -> tuple[int, int, int, int] | None:
        """The engine's command of a flat action in the seat's frame; None for a pass."""
        if 0 <= action < PASS:
            slot, tile = divmod(action, TILES)
            if self.arrays["frames"][game, seat] == 1:
                tile += WIDTH - 1 - 2 * (tile % WIDTH)
            return (seat, slot, *POINTS[seat][tile])
        if PASS < action <= PASS + BUTTONS:
            return seat, SLOTS + action - PASS - 1, 0, 0
        return None

    def step(self) -> None:
        """Play one decision of every battle that goes on."""
        arrays, seen = self.arrays, self.scanned
        actions, turns = arrays["actions"], arrays["turns"]
        games = np.flatnonzero(~self.over)
        bars = seen.players[games, :, P_ELIXIR]
        self.decisions[games] += 1
        self.choices[games] += self.choice[games]
        self.elixir[games] += bars
        self.leaked[games] += bars >= FULL_BAR
        passed = (actions[games] == PASS) | (actions[games] < 0)
        self.passes[games] += self.choice[games] & passed
        rates = seen.head[:, RATE].copy()
        active = np.flatnonzero(~passed.all(1))
        plays = dict(zip(active.tolist(), actions[games[active]].tolist(), strict=True))
        delayed = self.settings.command_delay_ticks > 0
        for k, game in enumerate(games.tolist()):
            engine, commands = self.engines[game], []
            for seat, action in enumerate(plays.get(k, ())):
                command = self.command(game, seat, action)
                if command:
                    commands.append(command)
            answers = engine.step(commands, self.ticks)
            for (team, slot, *_), (card, reason, tick, *_) in zip(commands, answers, strict=True):
                if reason == OK:
                    self.cards[game, team] += slot < SLOTS
                    if not delayed:
                        self._landed(game, team, slot, card, tick, rates[game])
            if delayed:
                for tick, team, kind, what, reason in engine.step_commands_run():
                    if reason == OK:
                        slot = 0 if kind == "deploy" else what
                        self._landed(game, team, slot, what, tick, rates[game])
        self._read(games)
        self.public.grow(seen.head, rates)
        turns[games] += 1
        ended = seen.head[games, GAME_OVER] == 1
        capped = ~ended & (turns[games] >= self.settings.max_turns)
        arrays["done"][...] = self.over
        arrays["done"][games] = ended | capped
        arrays["truncated"][...] = False
        arrays["truncated"][games] = capped
        winner = seen.head[games, WINNER]
        arrays["winner"][games] = np.where(ended & (winner < 2), winner, -1)
        self.over[games] = ended | capped
        self._report()

    def _landed(self, game: int, team: int, slot: int, card: int, tick: int, rate: int) -> None:
        if slot < SLOTS:
            self.public.play(game, team, card, tick, rate)
        else:
            cost = int(self.scanned.players[game, team, P_ABILITY + 2 * (slot - SLOTS) + 1])
            self.public.pay(game, team, cost, tick, rate)

    def state_arrays(self) -> dict[str, np.ndarray]:
        """All that decides the future of these battles (copies); snapshots padded, with lengths."""
        blobs = [b"" if self.undealt[g] else engine.save() for g, engine in enumerate(self.engines)]
        lengths = np.array([len(blob) for blob in blobs], np.int64)
        padded = np.zeros((self.n, max(1, int(lengths.max(initial=0)))), np.uint8)
        for row, blob in zip(padded, blobs, strict=True):
            row[: len(blob)] = np.frombuffer(blob, np.uint8)
        state = {"snapshot": padded, "snapshot_bytes": lengths}
        state |= {name: getattr(self.public, name).copy() for name in Public.STATE}
        state |= {name: getattr(self, name).copy() for name in (*self.COUNTED, "over", "undealt")}
        for name in ("turns", "frames", "done", "truncated", "winner"):
            state[name] = self.arrays[name].copy()
        return state

    def load_state_arrays(self, state: Mapping[str, np.ndarray]) -> None:
        """Restore what `state_arrays` gave. The future is the same to the bit."""
        for game, length in enumerate(state["snapshot_bytes"]):
            if length:
                try:
                    self.engines[game].load(state["snapshot"][game, :length].tobytes())
                except ValueError as error:
                    raise SnapshotError(f"battle {game}: {error}") from None
        for name in Public.STATE:
            getattr(self.public, name)[...] = state[name]
        for name in (*self.COUNTED, "over", "undealt"):
            getattr(self, name)[...] = state[name]
        for name in ("turns", "frames", "done", "truncated", "winner"):
            self.arrays[name][...] = state[name]
        self._read(np.flatnonzero(state["snapshot_bytes"]))
        self._report()
