"""The small protocol between a game and everything that plays or learns it.

A game knows nothing of learning: it steps N two-player games together and
describes what each seat sees. Learner, matches and bench import only this
module and `royale.games.load`.

Letters used in shapes: N games stepped together, 2 seats, R rows (one row is
one seat of one game), C... the codes of a row, H x W the canvas, S scalars,
P planes, V features without a place, A spatial action planes, G global
actions, K potentials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True)
class GameSpec:
    """Everything about a game's interface that is constant during a run."""

    name: str
    height: int  # H, of the canvas that boards are padded to
    width: int  # W
    encoder: str  # which set of planes `expand` writes
    code_shape: tuple[int, ...]  # C...: of the uint8 codes of a stored observation
    scalars: tuple[str, ...]  # S names of the float32 scalars of an observation
    planes: tuple[str, ...]  # P names of the planes after expansion
    action_planes: tuple[str, ...]  # A names; one action a plane a cell
    global_actions: tuple[str, ...]  # G names; actions without a cell
    symmetries: tuple[str, ...]  # names of the symmetry group, the identity first
    potentials: tuple[str, ...]  # K names of the shaping potentials
    statistics: tuple[str, ...]  # names of the per-seat statistics of behaviour
    max_turns: int  # truncation after this many turns
    # Potentials of rare events (a tower falls, armies meet): a short look may not see them move.
    rare_potentials: tuple[str, ...] = ()
    vector: tuple[str, ...] = ()  # V names of the features without a place, after expansion
    # Even, None without limit: battles that a match plays at a time, where each costs memory.
    games_at_once: int | None = None
    workers: int = 0  # processes of its own that the games are played in
    fixed_mb: float = 0.0  # memory that the games take beside their arrays, in worker processes
    game_mb: float = 0.0  # and for each game
    symmetry_note: str = ""  # how the symmetries are only approximate; shown as a warning

    @property
    def n_actions(self) -> int:
        """Size of the flat action space: A*H*W spatial actions, then G global.

        The flat index of a spatial action is plane*H*W + row*W + column.
        """
        return len(self.action_planes) * self.height * self.width + len(self.global_actions)


@dataclass
class StepResult:
    """What one turn did to each of the N games."""

    done: np.ndarray  # (N,) bool: the game is over, for whatever reason
    truncated: np.ndarray  # (N,) bool: over only because of the turn cap
    winner: np.ndarray  # (N,) int8: seat 0 or 1; -1 draw or still running
    # (N,) bool: the process that played the game died. It is done without a result (winner
    # -1, not truncated), what was seen of it since it was dealt is not learned from, and
    # nobody counts it. None where none can be lost.
    lost: np.ndarray | None = None


class BatchedGame(Protocol):
    """N games of two seats, stepped together. Finished games are not reset.

    Each seat sees the board in its own frame: `frames[n, s]` is an index into
    `spec.symmetries`. Observations, legal actions and the actions handed to
    `step` are all in that frame, so a frame may change only between games.
    """

    spec: GameSpec
    n_games: int
    frames: np.ndarray  # (N, 2) int8, zero (identity) after `reset`
    turns: np.ndarray  # (N,) int32: turns played so far
    # Optional: lost, (N,) bool: games lost since the last step, which the next one tells.

    def reset(self, games: np.ndarray, seeds: np.ndarray) -> None:
        """Start anew the games with indices `games` (M,), from `seeds` (M,) uint64.

        The same seed gives the same board whatever the batch it is dealt in.
        """

    def observe(self, codes: np.ndarray, scalars: np.ndarray, legal: np.ndarray) -> None:
        """Write what both seats of every game see, in their frames.

        codes (N, 2, C...) uint8; scalars (N, 2, S) float32;
        legal (N, 2, n_actions) uint8, 1 where the action is legal. At least
        one action is legal in every row. Call once a turn, after `reset` or
        `step`: the memory of earlier turns is kept up to date here.
        """

    def step(self, actions: np.ndarray) -> StepResult:
        """Play one turn. actions (N, 2) int32, flat indices in the seat's frame.

        An illegal action is a pass. Games that are over do not change.
        """

    def potentials(self, out: np.ndarray) -> None:
        """Write the shaping potentials, (N, 2, K) float32, each about -1..1."""

    def statistics(self, out: np.ndarray) -> None:
        """Write the statistics of behaviour, (N, 2, len(spec.statistics)) float32."""

    def state_arrays(self) -> dict[str, np.ndarray]:
        """Everything that decides the future of the games, as arrays (copies)."""

    def load_state_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `state_arrays` returned; the future is bit-identical."""


@dataclass
class View:
    """What a player is shown when it must choose: R rows, one a game."""

    codes: np.ndarray  # (R, C...) uint8
    scalars: np.ndarray  # (R, S) float32
    legal: np.ndarray  # (R, n_actions) uint8
    turns: np.ndarray  # (R,) int32
    keys: np.ndarray  # (R,) uint64: the row's random key for this turn


class Player(Protocol):
    """Anything that chooses actions for a batch of rows.

    A player keeps no memory between calls: what it may remember is in the
    codes. Its randomness comes from `view.keys` alone, so that a recorded
    game can be played again.
    """

    def act(self, view: View) -> np.ndarray:
        """Choose flat actions (R,) int32, each legal."""


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


class Replays(Protocol):
    """Records of single games: made, played again, shown.

    The game's folder also has `replay.schema.yaml`, of its records.
    """

    # Modules of the page in the order of their imports, without `.js`, found by
    # `royale.games.page_file`; one defines `openReplay(element, shown)`. A `page/replay.css`
    # of the game is added to the page's style.
    scripts: Sequence[str]

    def record(
        self, settings: Mapping[str, Any], seed: int, actions: Sequence[Sequence[int]]
    ) -> dict[str, Any]:
        """All that decides a game, and its states' hashes: JSON that fits the game's schema.

        actions (turns, 2) as `step` takes them in the identity's frame; -1 gave up.
        """

    def shown(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Play a game again from its record alone, and tell what the page needs, as JSON.

        `seed` (text), `turns`, `winner` (seat or None) and `truncated` are among it, and
        `state`, the hash at the end. RoyaleError if the record is of other rules, or a state
        differs.
        """

    def picture(self, shown: Mapping[str, Any], names: Sequence[str]) -> str:
        """The last position as SVG text; names: of the players by seat."""


class Game(Protocol):
    """What a game's folder registers (its module-level `GAME`)."""

    name: str
    encoders: Sequence[str]  # the first is the default
    scripted: Sequence[str]  # names of the scripted players
    programs: bool  # whether it has a door for programs, `external_player`
    # Optional: turn_ms, float, milliseconds of the game's own time between two decisions;
    # speed_settings, names of settings that decide how fast it plays and nothing else;
    # packages, names of installed packages of others that it is played with, whose versions
    # decide what is trained; replays, a `Replays`, without which no game of a match can be
    # watched.

    def spec(self, settings: Mapping[str, Any], encoder: str) -> GameSpec:
        """The interface for these settings (cheap; no game is made)."""

    def make(self, n_games: int, settings: Mapping[str, Any], encoder: str) -> BatchedGame:
        """Make N games; `settings` fit the game's `settings.schema.yaml`."""

    def scripted_player(self, name: str, spec: GameSpec) -> Player:
        """Make a scripted player by name."""

    def external_player(self, command: str | Sequence[str], limit_ms: float) -> StatefulPlayer:
        """A program as a player.

        limit_ms: time for a reply. RoyaleError if the game has no door for programs.
        """

    def expand(self, codes: Any, scalars: Any, encoder: str) -> Any:
        """Expand codes to planes on the device they are on.

        codes torch.uint8 (B, C...), scalars torch.float32 (B, S) -> torch.float32
        (B, P, H, W); where the spec names a `vector`, that and the vector (B, V).
        """

    def facts(self, settings: Mapping[str, Any]) -> Mapping[str, str]:
        """What preflight shows of the game, name -> text, read from what really runs.

        Optional: for a game whose rules come from an engine of another project.
        """

    def transform(
        self,
        codes: np.ndarray,
        scalars: np.ndarray,
        legal: np.ndarray,
        actions: np.ndarray,
        elements: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Stored samples as the identity's frame gave them -> as frames `elements` would have.

        Optional: only the learner's `symmetry: stored_samples` asks for it. codes
        (B, C...) uint8; scalars (B, S) float32; legal (B, n_actions) uint8; actions (B,)
        int32; elements (B,) int8, indices into `spec.symmetries`. New arrays come back.
        """
