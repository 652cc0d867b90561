"""Scripted players. They see what a learner sees, and keep nothing between turns.

All but `random` choose the action of the highest score. Scores come from a map
of walking distances to what the player is after, and differ between players in
the numbers of `Style` alone; ties are broken by the row's key.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numba import njit

from royale.games.generals.compiled import kernel
from royale.games.generals.layout import (
    ARMY_HIGH,
    ARMY_LOW,
    MEMORY,
    MOVES,
    PRICE,
    SCALARS,
    SIGHT,
    UNITS,
)
from royale.games.protocol import GameSpec, View
from royale.rng import mix, unit

PASS_SHARE = 0.05
BLOCK = 128
LAND, OWNED = SCALARS.index("own_land"), SCALARS.index("castles")
UNREACHED = 1 << 14


@dataclass(frozen=True)
class Style:
    """What a player cares for: weights of its scores, in about cells of walking."""

    neutral: float = 6.0  # taking a free cell
    enemy: float = 12.0  # taking a cell of the opponent
    build: float = 0.0  # a castle; 0 never builds
    army: float = 3.0  # moving a large army rather than a small one
    guard: float = 0.0  # keeping army close to the own general, per log of army
    explore: float = 1.0  # walking to where the enemy general may be; 0 to any border
    attack: float = 0.0  # walking to the enemy general where it is known
    rest: float = 2.0  # share of the land, from which on the player sits still
    save: float = 2.0  # share of the land, from which on structures save for a castle ..
    castles: float = 0.0  # .. while the player owns fewer castles than this


STYLES = {
    "expander": Style(explore=0.0, army=2.0),
    "hunter": Style(neutral=4.0, enemy=16.0, army=4.0, attack=6.0),
    "castle_builder": Style(build=60.0, attack=4.0, save=0.3, castles=1.0),
    "defender": Style(
        neutral=6.0, enemy=10.0, build=60.0, guard=6.0, explore=0.0, save=0.4, castles=1.0
    ),
    "raider": Style(neutral=2.0, enemy=3.0, army=6.0, explore=3.0, attack=30.0),
    "staller": Style(neutral=6.0, enemy=4.0, explore=0.0, rest=0.25),
}
NEUTRAL, ENEMY, BUILD, ARMY, GUARD, EXPLORE, ATTACK, REST, SAVE, CASTLES = range(10)


@kernel
def _uniform(legal, keys, chosen):
    """A legal action of each row, uniformly; a pass in PASS_SHARE of the rows."""
    last = legal.shape[1] - 1
    for r in range(legal.shape[0]):
        row = legal[r]
        count = 0
        for a in range(last):
            count += row[a]
        chosen[r] = last
        if count == 0 or unit(mix(keys[r])) < PASS_SHARE:
            continue
        left = min(int(unit(mix(keys[r] ^ np.uint64(1))) * count), count - 1)
        at = 0
        while True:  # skip whole blocks, whose sums are fast
            inside = 0
            for a in range(at, min(at + BLOCK, last)):
                inside += row[a]
            if left < inside:
                break
            left -= inside
            at += BLOCK
        while row[at] == 0 or left > 0:
            left -= row[at]
            at += 1
        chosen[r] = at


@kernel
def _spread(codes, side, distance, queue):
    """Fill in the steps from the nearest cell of distance 0, over open land."""
    tail = 0
    for i in range(side * side):
        if distance[i] == 0:
            queue[tail] = i
            tail += 1
    head = 0
    while head < tail:
        cell = queue[head]
        head += 1
        row = cell // side
        column = cell - row * side
        for d in range(4):
            r = row + (d == 1) - (d == 0)
            c = column + (d == 3) - (d == 2)
            if r < 0 or r >= side or c < 0 or c >= side:
                continue
            to = r * side + c
            if distance[to] == UNREACHED and codes[MOVES, to] & 16 == 0:
                distance[to] = distance[cell] + 1
                queue[tail] = to
                tail += 1


@kernel
def _goals(codes, style, distance):
    """Distance 0 at what the player walks to, else UNREACHED; True if that is the general."""
    n = codes.shape[1]
    known = False
    for i in range(n):
        distance[i] = UNREACHED
        known = known or (codes[MOVES, i] & 128 != 0)
    if known and style[ATTACK] > 0:
        for i in range(n):
            if codes[MOVES, i] & 128:
                distance[i] = 0
        return True
    found = False
    for i in range(n):
        land = codes[MOVES, i] & 16 == 0
        enemy = codes[SIGHT, i] & 8 != 0 or codes[MEMORY, i] & 6 == 2
        hideout = codes[MOVES, i] & 64 != 0
        border = land and codes[SIGHT, i] & 4 == 0
        if (enemy or hideout) if style[EXPLORE] > 0 else border:
            distance[i] = 0
            found = True
    if not found:
        for i in range(n):
            if codes[MOVES, i] & 16 == 0 and codes[SIGHT, i] & 4 == 0:
                distance[i] = 0
    return False


@kernel
def _score_move(codes, style, distance, home, cell, to, half, hunting):
    """Worth of moving from a cell to a neighbour."""
    army = codes[ARMY_LOW, cell] + 256 * codes[ARMY_HIGH, cell]
    amount = army // 2 if half else army - 1
    there = codes[ARMY_LOW, to] + 256 * codes[ARMY_HIGH, to]
    own = codes[SIGHT, to] & 4 != 0
    size = np.log2(1.0 + amount)
    pull = style[EXPLORE] if style[EXPLORE] > 0 else 1.0
    if hunting:
        pull = style[ATTACK]
    step = distance[cell] - distance[to]
    worth = pull * size * step
    if own:
        # Walking without fighting pays only if it brings army nearer.
        if step <= 0 or army < 4:
            return -1000.0
    elif amount > there:
        enemy = codes[SIGHT, to] & 8 != 0
        worth += 20.0 + (style[ENEMY] if enemy else style[NEUTRAL])
        if codes[UNITS, to] & 8:
            worth += 100000.0
        if codes[UNITS, to] & 2:
            worth += style[ENEMY]
    else:
        worth -= 40.0
    worth += style[ARMY] * size
    if half:
        worth -= 4.0
    if codes[UNITS, cell] & 4 and style[GUARD] > 0 and not half:
        worth -= style[GUARD] * size
    if home >= 0 and style[GUARD] > 0 and own:
        worth -= style[GUARD]
    return worth


@kernel
def _can_pay(codes, cell, to, half):
    """Would this move bring the price of a castle to a bare cell?"""
    if codes[SIGHT, to] & 96 or codes[SIGHT, to] & 4 == 0:
        return False
    army = codes[ARMY_LOW, cell] + 256 * codes[ARMY_HIGH, cell]
    there = codes[ARMY_LOW, to] + 256 * codes[ARMY_HIGH, to]
    return (army // 2 if half else army - 1) + there >= codes[PRICE, to]


@njit(cache=True, nogil=True)
def _choose(codes, scalars, legal, keys, touch, style, side, chosen):
    """The action of the highest score of each row; codes (R, C, M)."""
    n = side * side
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    for r in range(codes.shape[0]):
        code = codes[r]
        chosen[r] = 9 * n
        hunting = _goals(code, style, distance)
        _spread(code, side, distance, queue)
        home = -1
        for i in range(n):
            if code[UNITS, i] & 4:
                home = i
        best = -500.0
        resting = scalars[r, LAND] >= style[REST]
        castles = np.expm1(3 * scalars[r, OWNED]) + 0.5
        saving = scalars[r, LAND] >= style[SAVE] and castles < style[CASTLES] + 0.5
        for cell in range(n):
            if code[UNITS, cell] & 192 == 0:
                continue
            for d in range(4):
                if not legal[r, d * n + cell]:
                    continue
                to = cell + (side if d == 1 else 0) - (side if d == 0 else 0)
                to += (1 if d == 3 else 0) - (1 if d == 2 else 0)
                wins = code[UNITS, to] & 8 != 0 and touch[r]
                for half in range(2):
                    worth = _score_move(code, style, distance, home, cell, to, half, hunting)
                    if wins:
                        worth += 1e6
                    # A resting player only takes back what it lost, and strikes.
                    if resting and worth < 90000.0 and code[SIGHT, to] & 8 == 0:
                        continue
                    if saving and code[UNITS, cell] & 5:
                        # Army of a structure leaves it only to pay a castle next to it.
                        pays = _can_pay(code, cell, to, half)
                        if not pays and code[SIGHT, to] & 8 == 0:
                            continue
                        worth += style[BUILD] if pays else 0.0
                    action = (d + 4 * half) * n + cell
                    worth += unit(mix(keys[r] ^ np.uint64(action)))
                    if worth > best:
                        best, chosen[r] = worth, action
            if style[BUILD] > 0 and legal[r, 8 * n + cell]:
                worth = style[BUILD] + unit(mix(keys[r] ^ np.uint64(8 * n + cell)))
                if worth > best:
                    best, chosen[r] = worth, 8 * n + cell


class RandomPlayer:
    """Uniform over the legal actions, a build counting as one action; 5 % passes."""

    def act(self, view: View) -> np.ndarray:
        """Flat actions (R,) int32."""
        chosen = np.empty(len(view.keys), np.int32)
        _uniform(view.legal, view.keys, chosen)
        return chosen


class StyledPlayer:
    """Takes the action of the highest score in its style."""

    def __init__(self, style: Style, spec: GameSpec) -> None:
        self._style = np.array(astuple(style))
        self._touch = spec.scalars.index("deathtouch")

    def act(self, view: View) -> np.ndarray:
        """Flat actions (R,) int32."""
        rows, n_codes, side, _ = view.codes.shape
        chosen = np.empty(rows, np.int32)
        _choose(
            view.codes.reshape(rows, n_codes, side * side),
            view.scalars,
            view.legal,
            view.keys,
            view.scalars[:, self._touch] > 0,
            self._style,
            side,
            chosen,
        )
        return chosen


def make(name: str, spec: GameSpec) -> RandomPlayer | StyledPlayer:
    """The scripted player of that name; ValueError names those there are."""
    if name == "random":
        return RandomPlayer()
    if name not in STYLES:
        raise ValueError(f"no scripted player {name!r}; there are {['random', *STYLES]}")
    return StyledPlayer(STYLES[name], spec)
