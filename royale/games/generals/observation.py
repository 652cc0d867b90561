"""What both seats see, as codes in each seat's frame (spec section 10), and legal actions.

Everything that depends on the seat is worked out in the frame, so that a frame
costs one gather of packed cells. Loops are one a plane over bytes, with guard
zones around the board instead of edge cases: that is what vectorises.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from royale.games.generals.layout import (
    ARMY,
    ARMY_HIGH,
    ARMY_LOW,
    CASTLES,
    HEIGHT,
    LAND,
    MEMORY,
    MOVES,
    N_CODES,
    OBSERVED,
    PRICE,
    SIGHT,
    SOURCE,
    TARGET,
    TIME,
    UNITS,
    WIDTH,
)
from royale.games.generals.settings import RULE_CAP, RULE_DEATHTOUCH, RULE_MAX_TURNS

# Rows of the byte scratch, each M cells between two guard zones of zeros.
OWN, ACROSS, SEEN_NOW, OPEN, OPPONENT, KIND, STRONG, RICH = range(8)
N_SCRATCH = 8
MEM_FLAGS, MEM_LOW, MEM_HIGH, MEM_AGE, MEM_CHANGE = range(5)


def scratch(side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Work space of `observe`: bytes, words, and masks of the inner columns."""
    guard = side + 1
    space = np.zeros((N_SCRATCH, side * side + 2 * guard), np.uint8)
    words = np.zeros((3, side * side), np.int32)
    columns = np.ones((2, side, side), np.uint8)
    columns[0, :, 0] = 0  # cells that have a left neighbour
    columns[1, :, -1] = 0
    return space, words, columns.reshape(2, -1)


@njit(cache=True)
def _pack(owner, army, kind, word):
    """One word a cell: 16 bits of army, clipped, 2 of owner, 4 of kind."""
    for i in range(word.shape[0]):
        low = min(max(army[i], np.int32(0)), np.int32(65535))
        mine = np.int32(65536) if owner[i] == 0 else np.int32(0)
        theirs = np.int32(131072) if owner[i] == 1 else np.int32(0)
        word[i] = low | mine | theirs | (np.int32(kind[i]) << np.int32(18))


@njit(cache=True)
def _split(word, seat, own, opponent, kind):
    """Owner and kind bytes from the words (guard zones left alone)."""
    mine = np.int32(16 + seat)
    theirs = np.int32(17 - seat)
    for i in range(word.shape[0]):
        own[i] = (word[i] >> mine) & np.int32(1)
    for i in range(word.shape[0]):
        opponent[i] = (word[i] >> theirs) & np.int32(1)
    for i in range(word.shape[0]):
        kind[i] = (word[i] >> np.int32(18)) & np.int32(15)


@njit(cache=True)
def _look(own, across, seen, columns, n, side):
    """seen = 1 within the 3x3 block around an own cell; arrays with guard zones."""
    left = own[side:]
    here = own[side + 1 :]
    right = own[side + 2 :]
    middle = across[side + 1 :]
    for i in range(n):
        middle[i] = here[i] | (left[i] & columns[0, i]) | (right[i] & columns[1, i])
    above = across[1:]
    below = across[2 * side + 1 :]
    out = seen[side + 1 :]
    for i in range(n):
        out[i] = above[i] | middle[i] | below[i]


@njit(cache=True)
def _sight(word, own, opponent, kind, seen, codes):
    """The codes that depend on the present alone, but for MOVES and UNITS."""
    n = word.shape[0]
    out = codes[SIGHT]
    for i in range(n):
        # kind is mountain 1, castle 2, general 4, inside 8
        shown = (np.uint8(0) - seen[i]) & (kind[i] & 7)
        fogged = (kind[i] | (kind[i] >> 1)) & 1 & (seen[i] ^ 1)
        out[i] = (
            (kind[i] >> 3)
            | (seen[i] << 1)
            | (own[i] << 2)
            | ((opponent[i] & seen[i]) << 3)
            | (shown << 4)
            | (fogged << 7)
        )
    low = codes[ARMY_LOW]
    for i in range(n):
        low[i] = (word[i] & np.int32(255)) * seen[i]
    high = codes[ARMY_HIGH]
    for i in range(n):
        high[i] = ((word[i] >> np.int32(8)) & np.int32(255)) * seen[i]


@njit(cache=True)
def _remember(own, opponent, seen, codes, memory):
    """Bring the memory (5, M) of a seat up to date with a new turn."""
    n = own.shape[0]
    flags = memory[MEM_FLAGS]
    age = memory[MEM_AGE]
    last_low = memory[MEM_LOW]
    last_high = memory[MEM_HIGH]
    change = memory[MEM_CHANGE]
    low = codes[ARMY_LOW]
    high = codes[ARMY_HIGH]
    for i in range(n):
        before = np.int32(last_low[i]) | (np.int32(last_high[i]) << np.int32(8))
        now = np.int32(low[i]) | (np.int32(high[i]) << np.int32(8))
        move = min(max(now - before, np.int32(-127)), np.int32(127)) + np.int32(128)
        known = (seen[i] != 0) & (age[i] == 0)
        change[i] = move if known else np.int32(128)
    for i in range(n):
        # memory bits: seen 1, last_opponent 2, last_own 4, gained 8, lost 16
        held = (flags[i] >> 2) & np.uint8(age[i] == 0)
        kept = (np.uint8(0) - (seen[i] ^ 1)) & flags[i] & 6
        flags[i] = (
            (flags[i] & 1)
            | seen[i]
            | ((opponent[i] & seen[i]) << 1)
            | (own[i] << 2)
            | kept
            | ((own[i] & (held ^ 1)) << 3)
            | ((held & (own[i] ^ 1)) << 4)
        )
    for i in range(n):
        last_low[i] = low[i] if seen[i] else last_low[i]
    for i in range(n):
        last_high[i] = high[i] if seen[i] else last_high[i]
    for i in range(n):
        older = age[i] + np.uint8(age[i] < 254)
        age[i] = np.uint8(0) if seen[i] else older


@njit(cache=True)
def _choices(word, price, space, columns, memory, codes, may_build, side):
    """The codes MOVES, UNITS and PRICE; `space` rows with guard zones."""
    n = word.shape[0]
    at = side + 1
    own = space[OWN, at:]
    opponent = space[OPPONENT, at:]
    kind = space[KIND, at:]
    seen = space[SEEN_NOW, at:]
    strong = space[STRONG, at:]
    rich = space[RICH, at:]
    free = space[OPEN, at:]
    up = space[OPEN, 1:]
    left = space[OPEN, side:]
    right = space[OPEN, side + 2 :]
    down = space[OPEN, 2 * side + 1 :]
    flags = memory[MEM_FLAGS]
    for i in range(n):
        free[i] = (kind[i] & 1) ^ 1
    for i in range(n):
        strong[i] = np.uint8((word[i] & np.int32(65535)) >= np.int32(2))
    for i in range(n):
        rich[i] = np.uint8((word[i] & np.int32(65535)) >= price[i])
    cost = codes[PRICE]
    for i in range(n):
        cost[i] = min(price[i], np.int32(255))
    moves = codes[MOVES]
    for i in range(n):
        ways = (
            up[i]
            | (down[i] << 1)
            | ((left[i] & columns[0, i]) << 2)
            | ((right[i] & columns[1, i]) << 3)
        )
        moves[i] = (np.uint8(0) - (own[i] & strong[i])) & ways
    for i in range(n):
        # known_mountain: frame 0 shows every mountain, seen or as structure in fog
        built = (kind[i] >> 1) & (seen[i] ^ 1) & 1
        hidden = (kind[i] >> 3) & (flags[i] ^ 1) & (kind[i] ^ 1) & 1
        enemy = (kind[i] >> 2) & flags[i] & (own[i] ^ 1) & 1
        moves[i] |= ((kind[i] & 1) << 4) | (built << 5) | (hidden << 6) | (enemy << 7)
    units = codes[UNITS]
    for i in range(n):
        castle = (kind[i] >> 1) & 1
        general = (kind[i] >> 2) & 1
        enemy = opponent[i] & seen[i]
        neutral = seen[i] & ((own[i] | opponent[i] | kind[i]) ^ 1) & 1
        fog = ((seen[i] | kind[i] | castle) ^ 1) & 1
        units[i] = (
            (castle & own[i])
            | ((castle & enemy) << 1)
            | ((general & own[i]) << 2)
            | ((general & enemy) << 3)
            | (neutral << 4)
            | (fog << 5)
        )
    for i in range(n):
        site = own[i] & rich[i] & (((kind[i] >> 1) | (kind[i] >> 2)) ^ 1) & may_build & 1
        units[i] |= (np.uint8((moves[i] & 15) != 0) << 6) | (site << 7)


@njit(cache=True)
def _legal(codes, legal):
    """Legal actions: 9 planes of M cells, then pass."""
    n = codes.shape[1]
    moves = codes[MOVES]
    for d in range(4):
        bit = np.uint8(d)
        plane = legal[d * n : d * n + n]
        for i in range(n):
            plane[i] = (moves[i] >> bit) & np.uint8(1)
    legal[4 * n : 8 * n] = legal[: 4 * n]
    plane = legal[8 * n : 9 * n]
    units = codes[UNITS]
    for i in range(n):
        plane[i] = units[i] >> np.uint8(7)
    legal[9 * n] = 1


@njit(cache=True)
def _lead(own, other):
    total = own + other
    return (own - other) / total if total > 0 else 0.0


@njit(cache=True)
def _scalars(g, seat, frame, rules, side, out):
    """The scalars of one seat, in the order of `layout.SCALARS`."""
    time = g[TIME]
    land, army = g[LAND + seat], g[ARMY + seat]
    other_land, other_army = g[LAND + 1 - seat], g[ARMY + 1 - seat]
    area = g[HEIGHT] * g[WIDTH]
    touch = rules[RULE_DEATHTOUCH]
    height, width = g[HEIGHT], g[WIDTH]
    if frame & 4:
        height, width = width, height
    out[0] = land / area
    out[1] = other_land / area
    out[2] = np.log1p(army) / 8
    out[3] = np.log1p(other_army) / 8
    out[4] = time / rules[RULE_MAX_TURNS]
    out[5] = time % 2
    out[6] = (time % 50) / 50
    out[7] = 1.0 if time >= touch else 0.0
    out[8] = max(touch - time, 0) / max(touch, 1)
    out[9] = np.log1p(g[CASTLES + seat]) / 3
    out[10] = height / side
    out[11] = width / side
    out[12] = _lead(land, other_land)
    out[13] = _lead(army, other_army)


@njit(cache=True)
def observe(
    table,
    owner,
    army,
    kind,
    price,
    memory,
    frames,
    cells,
    places,
    columns,
    space,
    words,
    rules,
    side,
    codes,
    scalars,
    legal,
):
    """Write codes (N, 2, C, M), scalars (N, 2, S) and legal (N, 2, n_actions).

    memory (N, 2, 5, M) uint8 is the last five codes of the turn before. It
    moves on only where the game's turn is a new one, so that observing twice
    gives the same twice.
    """
    n_cells = side * side
    at = side + 1
    base, turned, turned_price = words[0], words[1], words[2]
    own = space[OWN, at : at + n_cells]
    opponent = space[OPPONENT, at : at + n_cells]
    kinds = space[KIND, at : at + n_cells]
    seen = space[SEEN_NOW, at : at + n_cells]
    for n in range(table.shape[0]):
        g = table[n]
        _pack(owner[n], army[n], kind[n], base)
        for seat in range(2):
            frame = frames[n, seat]
            cost = price[n, seat]
            word = base
            if frame != 0:
                turn = cells[frame]
                for i in range(n_cells):
                    turned[i] = base[turn[i]]
                for i in range(n_cells):
                    turned_price[i] = cost[turn[i]]
                word = turned
                cost = turned_price
            out = codes[n, seat]
            mem = memory[n, seat]
            _split(word, seat, own, opponent, kinds)
            _look(space[OWN], space[ACROSS], space[SEEN_NOW], columns, n_cells, side)
            _sight(word, own, opponent, kinds, seen, out)
            if g[OBSERVED] != g[TIME]:
                _remember(own, opponent, seen, out, mem)
                if g[SOURCE + seat] >= 0:
                    mem[MEM_FLAGS, places[frame, g[SOURCE + seat]]] |= 32
                    mem[MEM_FLAGS, places[frame, g[TARGET + seat]]] |= 64
            out[MEMORY:N_CODES] = mem
            may_build = np.uint8(g[CASTLES + seat] < rules[RULE_CAP])
            _choices(word, cost, space, columns, mem, out, may_build, side)
            _legal(out, legal[n, seat])
            _scalars(g, seat, frame, rules, side, scalars[n, seat])
        g[OBSERVED] = g[TIME]
