"""Generals, by the rules of the 2026 competition. Importing this is cheap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from royale.games.generals import layout, planes, symmetry
from royale.games.generals.settings import Settings
from royale.games.protocol import BatchedGame, GameSpec, Player, Replays


class GeneralsGame:
    """What the registry needs; numba and torch are imported when first used."""

    name = "generals"
    encoders = tuple(planes.ENCODERS)
    programs = True
    scripted = (
        "random",
        "expander",
        "hunter",
        "castle_builder",
        "defender",
        "raider",
        "staller",
    )

    def spec(self, settings: Mapping[str, Any], encoder: str) -> GameSpec:
        """The interface for these settings; ValueError names the encoders there are."""
        if encoder not in planes.ENCODERS:
            raise ValueError(f"no encoder {encoder!r}; there are {list(planes.ENCODERS)}")
        numbers = Settings.read(settings)
        return GameSpec(
            name=self.name,
            height=numbers.side,
            width=numbers.side,
            encoder=encoder,
            code_shape=(layout.N_CODES, numbers.side, numbers.side),
            scalars=layout.SCALARS,
            planes=tuple(planes.ENCODERS[encoder]),
            action_planes=layout.ACTION_PLANES,
            global_actions=layout.GLOBAL_ACTIONS,
            symmetries=symmetry.NAMES,
            potentials=layout.POTENTIALS,
            rare_potentials=("army",),  # armies differ only once the players have met
            statistics=layout.STATISTICS,
            max_turns=numbers.max_turns,
        )

    def make(self, n_games: int, settings: Mapping[str, Any], encoder: str) -> BatchedGame:
        """N games, all over until `reset` deals them boards."""
        from royale.games.generals.game import Generals

        return Generals(n_games, settings, self.spec(settings, encoder))

    def scripted_player(self, name: str, spec: GameSpec) -> Player:
        """One of `scripted`; ValueError names those there are."""
        from royale.games.generals.players import make

        return make(name, spec)

    def external_player(self, command: str | Sequence[str], limit_ms: float) -> Any:
        """A program that speaks the competition's line protocol, one process a game."""
        from royale.games.generals.external import external_player

        return external_player(command, limit_ms)

    def expand(self, codes: Any, scalars: Any, encoder: str) -> Any:
        """codes (B, C, H, W), scalars (B, S) -> planes (B, P, H, W)."""
        return planes.expand(codes, scalars, encoder)

    @property
    def replays(self) -> Replays:
        """Records of games, and what is shown of them."""
        from royale.games.generals.replays import GeneralsReplays

        return GeneralsReplays(self)

    def transform(
        self, codes: Any, scalars: Any, legal: Any, actions: Any, elements: Any
    ) -> tuple[Any, Any, Any, Any]:
        """Stored samples in other frames; see the protocol."""
        from royale.games.generals.transform import transform

        return transform(codes, scalars, legal, actions, elements)


GAME = GeneralsGame()
