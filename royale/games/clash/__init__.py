"""Battles of Clash Royale on the engine `royalesim`. Importing this is cheap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from royale.errors import RoyaleError
from royale.games.clash import layout
from royale.games.protocol import BatchedGame, GameSpec, Player, Replays

SYMMETRY_NOTE = (
    "the engine is not its own mirror image: a unit is laid down a 1000th of a tile off, keyed on "
    "the half of the arena, and battles drift apart from there (docs/clash.md, Mirror); what is "
    "seen, what is legal and what is done are mirrored exactly"
)
# An engine object takes 2 MB, and 0.1 s to make; a worker without any 230 MB.
GAMES_AT_ONCE, GAME_MB, WORKER_MB = 64, 2.0, 230.0


class ClashGame:
    """What the registry needs; the engine, numba and torch are imported when first used."""

    name = "clash"
    encoders = ("base",)
    speed_settings = ("workers",)
    packages = ("royalesim",)
    programs = False  # the live game has no protocol for them
    scripted = (
        "random",
        "noop",
        "first_affordable",
        "cycle",
        "defend",
        "push",
        "patient",
        "counter",
        "spells",
    )

    @property
    def turn_ms(self) -> float:
        """Milliseconds of the battle between two decisions."""
        from royale.games.clash.engine import DECISION_MS

        return float(DECISION_MS)

    def spec(self, settings: Mapping[str, Any], encoder: str) -> GameSpec:
        """The interface for these settings; ValueError names what does not fit."""
        from royale.games.clash import planes
        from royale.games.clash.settings import Settings

        if encoder not in self.encoders:
            raise ValueError(f"no encoder {encoder!r}; there are {list(self.encoders)}")
        checked = Settings.read(settings)
        return GameSpec(
            name=self.name,
            height=layout.HEIGHT,
            width=layout.WIDTH,
            encoder=encoder,
            code_shape=(layout.ROWS, layout.BYTES),
            scalars=layout.SCALARS,
            planes=tuple(planes.PLANES),
            action_planes=layout.ACTION_PLANES,
            global_actions=layout.GLOBAL_ACTIONS,
            symmetries=layout.SYMMETRIES,
            potentials=layout.POTENTIALS,
            rare_potentials=("crowns", "tower_hp"),
            statistics=layout.STATISTICS,
            max_turns=checked.max_turns,
            vector=tuple(planes.vector_names()),
            games_at_once=GAMES_AT_ONCE,
            workers=checked.workers,
            fixed_mb=WORKER_MB * checked.workers,
            game_mb=GAME_MB,
            symmetry_note=SYMMETRY_NOTE,
        )

    def make(self, n_games: int, settings: Mapping[str, Any], encoder: str) -> BatchedGame:
        """N battles, all over until `reset` deals them."""
        from royale.games.clash.game import Clash

        return Clash(n_games, settings, self.spec(settings, encoder))

    def scripted_player(self, name: str, spec: GameSpec) -> Player:
        """One of `scripted`; ValueError names those there are."""
        from royale.games.clash.players import make

        return make(name)

    def external_player(self, command: str | Sequence[str], limit_ms: float) -> Any:
        """RoyaleError: the live game has no protocol for programs."""
        raise RoyaleError("clash has no door for external programs; only generals has one")

    def expand(self, codes: Any, scalars: Any, encoder: str) -> Any:
        """codes (B, ROWS, BYTES), scalars (B, S) -> planes (B, P, H, W), vector (B, V)."""
        from royale.games.clash.planes import expand

        return expand(codes, scalars)

    def facts(self, settings: Mapping[str, Any]) -> Mapping[str, str]:
        """What the running engine says of itself; EngineError if it is another one."""
        from royale.games.clash.engine import facts
        from royale.games.clash.settings import Settings

        return facts(Settings.read(settings).command_delay_ticks)

    @property
    def replays(self) -> Replays:
        """Records of battles, and what is shown of them."""
        from royale.games.clash.replays import ClashReplays

        return ClashReplays(self)

    def transform(
        self, codes: Any, scalars: Any, legal: Any, actions: Any, elements: Any
    ) -> tuple[Any, Any, Any, Any]:
        """Stored samples in other frames; see the protocol."""
        from royale.games.clash.transform import transform

        return transform(codes, scalars, legal, actions, elements)


GAME = ClashGame()
