"""The engine: opened once, and refused where it is not the one this code was written for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from royale.errors import RoyaleError
from royale.games.clash.layout import BUTTONS, N_CARDS, N_UNITS, SLOTS, SUBTILES

VERSION = "0.1.42"
CARD_TABLE = "cards-15535.1"
# Red's towers are named in Red's own frame: king, left, right.
SLOT_OF_K = [[0, 1, 2], [0, 2, 1]]
DECISION_MS = 500
OK = 0
# What a refused play says of the place, whoever plays what: see `DEPLOY_REASONS`.
PLACE_REASONS = (5, 6, 7, 8, 9)


def _words(text: str) -> list[str]:
    return text.split()


# State and reason codes are read by position, so each list must be the very one.
EXPECTED: dict[str, Any] = {
    "ENTITY_FIELDS": _words(
        "uid team kind card_id tower_slot x y hp max_hp radius flying deploy_ticks stun_ticks "
        "knockback_ticks footprint target_uid attack_phase facing shield buffs status_flags level "
        "mount_uid charge dest_x dest_y ability_ticks unit_type"
    ),
    "SPELL_FIELDS": _words(
        "team card_id motion x y aim_x aim_y delay_ticks travelled length hits ticks_flown"
    ),
    "SPELL_MOTIONS": _words("FLIGHT AIRBORNE ROLLING AREA PULSING FUSE STRIKES SCHEDULED"),
    "STATUS_BITS": _words(
        "underground invisible hidden evolved hero clone ability_windup ability_active charged "
        "grounded"
    ),
    "DEPLOY_REASONS": _words(
        "OK BAD_TEAM BAD_SLOT EMPTY_SLOT NOT_ENOUGH_ELIXIR OUT_OF_ARENA WATER NO_DEPLOY "
        "OUT_OF_TERRITORY OCCUPIED GAME_OVER DUPLICATE_TEAM ENGINE_ERROR TOO_EARLY "
        "NOTHING_TO_MIRROR NO_HERO ABILITY_NOT_READY ABILITY_SPENT CARD_PENDING"
    ),
    "HAND_SIZE": SLOTS,
    "ABILITY_BUTTONS": BUTTONS,
    "SUBTILE": SUBTILES,
}
STATE_KEYS = _words(
    "tick tick_ms regular_ticks overtime_ticks elixir_rate overtime game_over winner players "
    "entities spells projectiles"
)
PLAYER_KEYS = _words(
    "team elixir_milli hand hand_costs mirror_target deck forms pending_cost pending evo abilities "
    "next_card crowns tower_hp tower_max_hp king_active"
)


class EngineError(RoyaleError):
    """An engine that is not the one this code was written for, or a state it cannot read."""


@dataclass(frozen=True)
class Card:
    """A row of the engine's catalogue; `placement` is the class of places it may be put."""

    name: str
    placement: int
    elixir: int
    count: int  # units it puts down
    flying: bool
    hitpoints: int
    footprint: int  # side of its box in tiles; 0 none
    kind: str  # TROOP, BUILDING or SPELL
    champion: bool


@cache
def engine() -> Any:
    """The engine's module. EngineError, one line, unless it is exactly the expected one."""
    import royalesim

    if royalesim.__version__ != VERSION:
        raise EngineError(
            f"royalesim {royalesim.__version__} is installed; this code reads the states of "
            f"{VERSION} by position: pip install royalesim=={VERSION}"
        )
    for name, wanted in EXPECTED.items():
        found = getattr(royalesim, name)
        if found != wanted:
            raise EngineError(
                f"royalesim {VERSION}: {name} is {found}, not {wanted}; this build has "
                f"other states than this code reads: "
                f"pip install --force-reinstall royalesim=={VERSION}"
            )
    return royalesim


def battle(delay: int = 0, overrides: dict[str, str] | None = None) -> Any:
    """A new engine object for many battles (0.1 s); plays land `delay` ticks after they are made.

    The delay takes effect at a reset only, so it is set here, before any.
    """
    made = engine().Battle(None, SLOT_OF_K, calibration_overrides=overrides or None)
    made.set_command_delay_ticks(delay, delay)
    if made.command_delay_ticks() != (delay, delay):
        raise EngineError(f"royalesim: asked a delay of {delay} ticks, it says otherwise")
    return made


@cache
def cards() -> tuple[Card, ...]:
    """The catalogue, in the order of card ids."""
    made = battle()
    if made.card_table() != CARD_TABLE:
        raise EngineError(f"royalesim: card table {made.card_table()}, not {CARD_TABLE}")
    rows = json.loads(made.catalogue_json())
    types = json.loads(made.unit_types_json())
    if (len(rows), len(types)) != (N_CARDS, N_UNITS):
        raise EngineError(
            f"royalesim: {len(rows)} cards and {len(types)} types of units, "
            f"not {N_CARDS} and {N_UNITS}"
        )
    state = started(made)
    if list(state) != STATE_KEYS or list(state["players"][0]) != PLAYER_KEYS:
        raise EngineError(
            f"royalesim: a state has keys {list(state)}, a player {list(state['players'][0])}"
        )
    return tuple(
        Card(
            name=row[0],
            placement=row[1],
            elixir=row[2],
            count=row[3],
            flying=row[5],
            hitpoints=row[6],
            footprint=row[7] or 0,
            kind=row[8],
            champion=bool(row[11]),
        )
        for row in rows
    )


def started(made: Any) -> dict[str, Any]:
    """The first state of some battle."""
    deck = list(range(8))
    made.reset(0, [deck, deck], 0, 0, None, None, [])
    return json.loads(made.state_json())


@cache
def ids() -> dict[str, int]:
    """Card id by name."""
    return {card.name: number for number, card in enumerate(cards())}


@cache
def unit_types() -> tuple[str, ...]:
    """Names of the types of units, in the order of their numbers."""
    return tuple(json.loads(battle().unit_types_json()))


@cache
def embedded() -> dict[str, Any]:
    """The engine's own card table."""
    return json.loads(engine().EMBEDDED_CARDS_JSON)


@cache
def unit_worth() -> np.ndarray:
    """(cards, types of units) float64: the elixir that a unit stands for, by the card it is of.

    Those that a card puts down share its cost evenly. What these make later (skeletons of a
    Witch, a Golem's golemites) stands for nothing: it was paid for with them.
    """
    rows = {row["name"]: row for row in embedded()["cards"]}
    numbers = {name: number for number, name in enumerate(unit_types())}
    out = np.zeros((N_CARDS, N_UNITS))
    for number, card in enumerate(cards()):
        units = _put_down(rows[card.name], card)
        for name in units:
            out[number, numbers[name]] = card.elixir / sum(units.values())
        # what a drill becomes, or the forms of what the table does not name
        if card.kind == "BUILDING" or (card.kind == "TROOP" and not units):
            for name, unit in numbers.items():
                if name == card.name or (not units and name.startswith(f"{card.name}_")):
                    out[number, unit] = card.elixir
    return out


def _put_down(row: Mapping[str, Any], card: Card) -> dict[str, int]:
    """How many units of which types a card puts down; none of most spells."""
    several = (row.get("summon_resolution") or {}).get("characters")
    if several:
        return dict.fromkeys(several, 1)
    units = {row["summon_character"]: card.count} if row.get("summon_character") else {}
    for more in (row.get("second_summon"), (row.get("spell") or {}).get("spawn")):
        if more:
            units[more["character"]] = more["count"]
    return units


def decision_ticks(tick_ms: int) -> int:
    """Ticks a decision takes, from the tick that the running engine states."""
    if DECISION_MS % tick_ms:
        raise EngineError(f"royalesim: a tick of {tick_ms} ms does not divide {DECISION_MS} ms")
    return DECISION_MS // tick_ms


def facts(delay: int) -> dict[str, str]:
    """What the running engine says of itself, read back from a battle."""
    made = battle(delay)
    first = started(made)
    ticks = decision_ticks(first["tick_ms"])
    made.step([], ticks)
    passed = json.loads(made.state_json())["tick"] - first["tick"]
    return {
        "engine": f"royalesim {engine().__version__}",
        "card table": f"{made.card_table()} ({made.card_table_fnv1a64()}), {len(cards())} cards",
        "decision": f"every {passed * first['tick_ms']} ms "
        f"({passed} ticks of {first['tick_ms']} ms)",
        "command delay": f"{made.command_delay_ticks()[0]} ticks "
        f"({made.command_delay_ticks()[0] * first['tick_ms']} ms)",
    }
