"""From the list of things to what a net sees: planes of the board, and a vector without a place.

Nothing is normalised later, so each number is scaled to about 0..1. torch is imported on first
use: the names alone must be cheap to read.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from royale.games.clash import engine
from royale.games.clash.layout import (
    BUFFS,
    BUILDING,
    CARD,
    CHARGE,
    COLUMN,
    DECK,
    ENEMY,
    FLAG,
    FORWARD,
    HAND,
    HEIGHT,
    HP,
    HP_SHARE,
    KIND,
    KING,
    N_CARDS,
    NEXT,
    OTHER,
    OWN,
    OWN_DECK,
    PART,
    PENDING,
    PRINCESS,
    RIGHT,
    ROW,
    SCALARS,
    SEEN,
    SHIELD,
    SINCE,
    SLOTS,
    SPELL,
    THINGS,
    TIMERS,
    TROOP,
    TYPE,
    WIDTH,
)

# Of both sides, in this order: name -> meaning. Each thing is spread over the four tiles
# nearest to it, by its distance, so that its place is finer than a tile.
SIDED: dict[str, str] = {
    "ground_troop": "1 a troop that walks",
    "air_troop": "1 a troop that flies",
    "building": "1 a building that a card made",
    "tower": "1 a crown tower",
    "troop_hp": "hitpoints of troops / 2000",
    "building_hp": "hitpoints of buildings and towers / 4000",
    "hurt": "1 - share of the full hitpoints, of troops and buildings",
    "value": "elixir that a unit stands for / 4, by the share of hitpoints left",
    "speed": "speed of troops that are on the board for good / 120",
    "range": "range of the attack / 8 tiles",
    "damage": "damage a second at level 1 / 100",
    "anti_air": "1 where it attacks what flies",
    "forward": "heading of troops, forward in the seat's frame, -1..1",
    "sideways": "heading of troops to the right, -1..1",
    "deploying": "ticks until it acts / 20",
    "stunned": "ticks of stun / 20",
    "attacking": "1 winding up an attack, 1/2 cooling down",
    "at_tower": "1 attacks a crown tower",
    "charge": "run-up of a charge, to 1",
    "shield": "hitpoints of the shield / 1000",
    "status": "buffs, ability, pushed: a third each",
    "spell": "1 a spell; the own where it is aimed at, the enemy's where it is",
}
ALONE: dict[str, str] = {
    "hidden": "1 an own unit that the enemy does not see, or a unit under ground",
    "pending": "cost / 10 of an own play that has not landed yet, where it will",
    "pending_time": "ticks until it lands / 20",
}
FIXED: dict[str, str] = {
    "water": "the river, where there is no bridge",
    "no_troops": "no troop may ever be put here",
    "own_side": "troops may be put here while all enemy towers stand",
    "behind_left": "and here once the enemy's left princess tower has fallen; 1 if it has",
    "behind_right": "the same of the right one",
    "row": "row / 31",
    "middle": "1 in the middle columns, 0 at the sides",
}
PLANES = (
    *(f"{side}_{name}" for side in ("own", "enemy") for name in SIDED),
    *ALONE,
    *FIXED,
)
# Of the card in each hand slot.
PROPERTIES = ("troop", "building", "spell", "flies", "hitpoints", "units")
SPELL_PLANE = list(SIDED).index("spell")


def vector_names() -> list[str]:
    """Names of the features without a place, in order."""
    names = [card.name for card in engine.cards()]
    return [
        *SCALARS,
        *(f"slot_{k}_{name}" for k in range(SLOTS) for name in PROPERTIES),
        *(f"slot_{k}: {name}" for k in range(SLOTS) for name in names),
        *(f"next: {name}" for name in names),
        *(f"out of hand: {name}" for name in names),
        *(f"enemy has: {name}" for name in names),
        *(f"enemy just played: {name}" for name in names),
    ]


@cache
def unit_table() -> np.ndarray:
    """(types of units, 4) float32: speed, range, damage a second, attacks air; scaled.

    From the engine's own card table; a form of a unit without a row there has zeros.
    """
    text = engine.embedded()
    rows = {row["name"]: row for row in (*text["evolutions"], *text["towers"], *text["cards"])}
    rows |= text["units"]
    out = np.zeros((len(engine.unit_types()), 4), np.float32)
    for number, name in enumerate(engine.unit_types()):
        row = rows.get(name)
        if row is None:
            continue
        damage, pause = row["damage"] or 0, row["hit_speed_ms"] or 1000
        out[number] = (
            (row["speed"] or 0) / 120,
            (row["range_milli"] or 0) / 8000,
            damage / pause * 1000 / 100,
            bool(row["attacks_air"]),
        )
    return out


@cache
def card_table() -> np.ndarray:
    """(1 + cards, 1 + properties) float32: cost, `PROPERTIES`; row 0 no card."""
    out = np.zeros((1 + N_CARDS, 1 + len(PROPERTIES)), np.float32)
    for number, card in enumerate(engine.cards(), 1):
        kinds = (card.kind == kind for kind in ("TROOP", "BUILDING", "SPELL"))
        out[number] = (
            card.elixir,
            *kinds,
            card.flying,
            min(card.hitpoints / 4000, 1.5),
            card.count / 8,
        )
    return out


@cache
def fixed_planes() -> np.ndarray:
    """(32, 18, 7) float32: `FIXED`, the fallen towers' planes as if they had fallen.

    As the engine answers: a troop and a spell that goes anywhere on land, with all enemy
    towers and without one.
    """
    made, ids = engine.battle(), engine.ids()
    deck = [ids[name] for name in ("Knight", "Miner", "Fireball")] + [10, 30, 31, 78, 1]
    tiles = [
        (column * 18000 + 9000, row * 18000 + 9000)
        for row in range(HEIGHT)
        for column in range(WIDTH)
    ]
    full = engine.started(made)["players"][0]["tower_max_hp"]

    def legal(slot: int, down: int) -> np.ndarray:
        towers = [full, [hp * (k != down) for k, hp in enumerate(full)]]
        made.reset(0, [deck, deck], 0, 100, [10000, 10000], towers, [])
        answers = [made.check_deploy(0, slot, x, y) == engine.OK for x, y in tiles]
        return np.array(answers, np.float32).reshape(HEIGHT, WIDTH)

    made.reset(0, [deck, deck], 0, 100, [10000, 10000], None, [])
    asked = np.array([[made.check_deploy(0, slot, x, y) for x, y in tiles] for slot in (0, 1)])
    names = engine.engine().DEPLOY_REASONS
    water = (asked[1] == names.index("WATER")).reshape(HEIGHT, WIDTH)
    # In the enemy's half that it is the enemy's comes first, so that half is the own one turned.
    never = (asked[0] == names.index("NO_DEPLOY")).reshape(HEIGHT, WIDTH)
    never[HEIGHT // 2 :] = never[HEIGHT // 2 - 1 :: -1, ::-1]
    # A troop may be put on three tiles to the right of the king, but not to the left: a picture
    # that serves both frames has neither. The mask has what is so.
    never = never & never[:, ::-1]
    side = legal(0, -1)
    # The towers by the engine's order: the king, then its left and right as Blue sees them.
    first, second = legal(0, 1) - side, legal(0, 2) - side
    left, right = (first, second) if first[:, : WIDTH // 2].any() else (second, first)
    side = side * side[:, ::-1]
    columns = np.arange(WIDTH)
    middle = 1 - np.abs(columns - (WIDTH - 1) / 2) / ((WIDTH - 1) / 2)
    return np.stack(
        [
            water,
            never,
            side,
            left,
            right,
            np.repeat(np.arange(HEIGHT) / (HEIGHT - 1), WIDTH).reshape(HEIGHT, WIDTH),
            np.tile(middle, (HEIGHT, 1)),
        ],
        axis=2,
    ).astype(np.float32)


@cache
def _tables(device: str) -> tuple[Any, Any, Any, Any]:
    import torch

    worth = np.pad(engine.unit_worth(), ((1, 0), (0, 0))).astype(np.float32)  # row 0 no card
    tables = (unit_table(), card_table(), worth, fixed_planes())
    return tuple(torch.from_numpy(table).to(device) for table in tables)


def expand(codes: Any, scalars: Any) -> tuple[Any, Any]:
    """codes torch.uint8 (B, ROWS, BYTES), scalars float32 (B, S) -> planes, vector.

    planes float32 (B, P, H, W), see `PLANES`; vector float32 (B, V), see `vector_names`.
    """
    import torch

    units, cards, worth, fixed = _tables(str(codes.device))
    batch = codes.shape[0]
    used = int((codes[:, :THINGS, KIND] > 0).sum(1).max()) if batch else 0
    things = codes[:, :used].float().unbind(2)
    features = _features(codes[:, :used], things, units, cards, worth)
    enemy = things[ENEMY][..., None]
    sided = features[..., : len(SIDED)]
    spread = torch.cat([sided * (1 - enemy), sided * enemy, features[..., len(SIDED) :]], 2)

    right = things[COLUMN] + things[PART] % 16 / 16 - 0.5
    forward = things[ROW] + torch.floor(things[PART] / 16) / 16 - 0.5
    columns = torch.arange(WIDTH, device=codes.device)
    rows = torch.arange(HEIGHT, device=codes.device)
    across = (1 - (right[:, None] - columns[:, None]).abs()).clamp(min=0)
    along = (1 - (forward[:, None] - rows[:, None]).abs()).clamp(min=0)
    weights = (along[:, :, None] * across[:, None]).flatten(1, 2)  # (B, tiles, things)

    # Channels last, as convolutions want them.
    planes = codes.new_empty((batch, HEIGHT, WIDTH, len(PLANES)), dtype=torch.float32)
    moving = len(PLANES) - fixed.shape[2]
    planes[..., :moving] = torch.bmm(weights, spread).unflatten(1, (HEIGHT, WIDTH))
    planes[..., moving:] = fixed
    for name in ("left", "right"):
        gone = scalars[:, SCALARS.index(f"enemy_{name}")] <= 0
        planes[..., PLANES.index(f"behind_{name}")] *= gone[:, None, None]
    return planes.permute(0, 3, 1, 2), _vector(codes, scalars, cards)


def _features(codes: Any, things: Any, units: Any, cards: Any, worth: Any) -> Any:
    """(B, things, features): `SIDED`, then `ALONE`."""
    import torch

    kind, flag = things[KIND], codes[..., FLAG]
    troop, tower = kind == TROOP, (kind == KING) | (kind == PRINCESS)
    building, spell, pending = kind == BUILDING, kind == SPELL, kind == PENDING
    unit = troop | building | tower

    def bit(number: int) -> Any:
        return (flag >> number & 1).float() * unit

    number = codes[..., TYPE].long().clamp(max=len(units) - 1)
    card = codes[..., CARD].long().clamp(max=N_CARDS)
    table, cost = units[number] * unit[..., None], cards[card][..., 0]
    flies = bit(2)
    share, hp = things[HP_SHARE] / 255, things[HP] * 20
    timers = codes[..., TIMERS]
    first, second = (timers & 15).float() / 10, (timers >> 4).float() / 10
    walks = troop.float()
    columns = [
        walks * (1 - flies),
        walks * flies,
        building,
        tower,
        walks * hp / 2000,
        (building | tower) * hp / 4000,
        (troop | building) * (1 - share),
        (troop | building) * worth[card, number] * share / 4,
        table[..., 0],
        table[..., 1],
        table[..., 2],
        table[..., 3],
        walks * (things[FORWARD] - 128) / 127,
        walks * (things[RIGHT] - 128) / 127,
        unit * first,
        unit * second,
        bit(0) + bit(1) / 2,
        bit(7),
        unit * things[CHARGE] / 250,
        unit * things[SHIELD] * 8 / 1000,
        ((things[BUFFS] > 0) * unit + bit(4) + bit(6)) / 3,
        spell,
        bit(5),
        pending * cost / 10,
        pending * first,
    ]
    return torch.stack([column.float() for column in columns], 2)


def _vector(codes: Any, scalars: Any, cards: Any) -> Any:
    """(B, V); see `vector_names`."""
    import torch

    batch = codes.shape[0]
    own, other = codes[:, OWN].long(), codes[:, OTHER].long()
    hand, following = own[:, HAND : HAND + SLOTS], own[:, NEXT : NEXT + 1]

    def marked(numbers: Any, weights: Any = None) -> Any:  # (B, k) of 1 + card -> (B, cards)
        out = scalars.new_zeros((batch, 1 + N_CARDS))
        ones = torch.ones_like(numbers, dtype=scalars.dtype) if weights is None else weights
        return out.scatter_(1, numbers.clamp(max=N_CARDS), ones)[:, 1:]

    slots = scalars.new_zeros((batch, SLOTS, 1 + N_CARDS)).scatter_(2, hand[..., None], 1.0)
    held = torch.zeros((batch, 1 + N_CARDS), device=codes.device, dtype=torch.bool)
    held.scatter_(1, torch.cat([hand, following], 1), True)
    seen, since = other[:, SEEN : SEEN + DECK], other[:, SINCE : SINCE + DECK]
    return torch.cat(
        [
            scalars,
            cards[hand][..., 1:].flatten(1),
            slots[..., 1:].flatten(1),
            marked(following),
            marked(own[:, OWN_DECK : OWN_DECK + DECK]) * ~held[:, 1:],
            marked(seen),
            # A card comes back to the hand after four others.
            marked(seen, (since < 4).float()),
        ],
        1,
    )
