"""Decks by name, and dealing them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from royale import rng
from royale.games.clash.engine import cards, ids
from royale.games.clash.layout import DECK

# The engine's own names of the cards.
DECKS: dict[str, tuple[str, ...]] = {
    "starter": (
        "Knight",
        "Archer",
        "Giant",
        "Minions",
        "Fireball",
        "Zap",
        "Cannon",
        "Musketeer",
    ),
    "hog_cycle": (
        "HogRider",
        "Musketeer",
        "IceGolemite",
        "IceSpirits",
        "Skeletons",
        "Cannon",
        "Fireball",
        "Log",
    ),
    "log_bait": (
        "GoblinBarrel",
        "Princess",
        "GoblinGang",
        "Knight",
        "InfernoTower",
        "Rocket",
        "Log",
        "IceSpirits",
    ),
    "lava_balloon": (
        "LavaHound",
        "Balloon",
        "MegaMinion",
        "Minions",
        "Tombstone",
        "Fireball",
        "Zap",
        "SkeletonWarriors",
    ),
    "golem_beatdown": (
        "Golem",
        "DarkWitch",
        "BabyDragon",
        "MegaMinion",
        "Lightning",
        "Tornado",
        "Zap",
        "Elixir Collector",
    ),
    "queen_giant": (
        "ArcherQueen",
        "Giant",
        "DarkPrince",
        "Bats",
        "ElectroSpirit",
        "Arrows",
        "Poison",
        "Tesla",
    ),
}


def card_ids(names: Sequence[str], at: str) -> tuple[int, ...]:
    """Ids of cards by name; ValueError names what is wrong, since the engine takes anything."""
    known = ids()
    for name in names:
        if name not in known:
            raise ValueError(f"{at}: no card {name!r} (the engine's own names, such as Archer)")
    if len(set(names)) < len(names):
        raise ValueError(f"{at}: a card twice in {list(names)}")
    return tuple(known[name] for name in names)


def deck_ids(deck: str | Sequence[str], at: str) -> tuple[int, ...]:
    """A deck by its name or its eight cards, as ids. ValueError if it is no deck."""
    if isinstance(deck, str):
        if deck not in DECKS:
            raise ValueError(f"{at}: no deck {deck!r}; there are {sorted(DECKS)}")
        deck = DECKS[deck]
    if len(deck) != DECK:
        raise ValueError(f"{at}: {len(deck)} cards, a deck has {DECK}")
    found = card_ids(deck, at)
    champions = [cards()[card].name for card in found if cards()[card].champion]
    if len(champions) > 1:
        raise ValueError(f"{at}: a deck has at most one champion, not {champions}")
    return found


def deal(
    decks: Sequence[Sequence[int]], pool: Sequence[int], seed: np.uint64
) -> tuple[list[int], list[int]]:
    """Both sides' decks of the battle with this seed.

    From a pool each side draws eight cards of its own, at most one champion among them; else
    each draws one of `decks`.
    """
    dealt = []
    for side in range(2):
        key = rng.fold(seed, 11, side)
        if not pool:
            dealt.append(list(decks[int(rng.uniform(key) * len(decks))]))
            continue
        order = [pool[i] for i in rng.permutation(int(key), len(pool))]
        champions = [card for card in order if cards()[card].champion]
        others = set(champions[1:])
        dealt.append([card for card in order if card not in others][:DECK])
    return dealt[0], dealt[1]
