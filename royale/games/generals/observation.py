"""What both seats see, as codes in each seat's frame (spec section 10), and legal actions.

Everything that depends on the seat is worked out in the frame, so that a frame
costs one gather of packed cells. Loops are one a plane over bytes, with guard
zones around the board instead of edge cases: that is what vectorises. An expression
over bytes is compiled to byte instructions only if no part of it has a name.
"""

from __future__ import annotations

import numpy as np

from royale.games.generals.compiled import kernel
from royale.games.generals.layout import (
    ARMY,
    ARMY_HIGH,
    ARMY_LOW,
    CASTLES,
    HEIGHT,
    LAND,
    MEMORY,
    MOUNTAIN,
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
OWN, ACROSS, IN_SIGHT, OPEN, OPPONENT, CELL, STRONG, WAS_SEEN = range(8)
N_SCRATCH = 8
NOW, BEFORE = range(2)  # rows of the army scratch
MOST_ARMY = 32767  # shown of a cell, so that differences fit 16 bits
MEM_FLAGS, MEM_LOW, MEM_HIGH, MEM_AGE, MEM_CHANGE = range(5)


def padded(side: int) -> int:
    """Cells of a stored row: those of the canvas, then mountains.

    A multiple of the bytes that a compiled loop takes at once, because the rest
    of a loop is done byte by byte and would take longer than the loop.
    """
    return -(-side * side // 32) * 32


def scratch(side: int) -> tuple[np.ndarray, ...]:
    """Work space of `observe`: bytes, words, armies, codes, and masks of the inner columns."""
    guard, n, n_cells = side + 1, padded(side), side * side
    space = np.zeros((N_SCRATCH, n + 2 * guard), np.uint8)
    words = np.full((3, n), MOUNTAIN << 18, np.int32)
    armies = np.zeros((2, n), np.int16)
    drawn = np.zeros((MEMORY, n), np.uint8)
    inner = np.ones((2, side, side), np.uint8)
    inner[0, :, 0] = 0  # cells that have a left neighbour
    inner[1, :, -1] = 0
    columns = np.zeros((2, n), np.uint8)
    columns[:, :n_cells] = inner.reshape(2, n_cells)
    return space, words, armies, drawn, columns


@kernel
def _pack(owner, army, kind, base):
    """One word a cell: army, clipped, in bits 0-15, owner in 16-17, kind in 18-21."""
    for i in range(base.shape[0]):
        low = min(army[i], np.int32(MOST_ARMY))
        holder = np.int32(owner[i]) + np.int32(1)
        base[i] = low | (holder << np.int32(16)) | (np.int32(kind[i]) << np.int32(18))


@kernel
def _price(base, army, price, word):
    """Add for one seat: can the army pay a castle, in bit 22, and the price in 23-30."""
    for i in range(base.shape[0]):
        pays = np.int32(army[i] >= price[i]) << np.int32(22)
        word[i] = base[i] | pays | (min(price[i], np.int32(255)) << np.int32(23))


@kernel
def _unpack(word, seat, space, armies, side):
    """Bytes from the words: OWN, OPPONENT, STRONG, OPEN, and CELL.

    CELL holds mountain 1, castle 2, general 4, inside 8, pays 16.
    """
    n = word.shape[0]
    cell = space[CELL, side + 1 :]
    own = space[OWN, side + 1 :]
    opponent = space[OPPONENT, side + 1 :]
    strong = space[STRONG, side + 1 :]
    free = space[OPEN, side + 1 :]
    for i in range(n):
        cell[i] = (word[i] >> np.int32(16)) & 127
    if seat == 0:
        for i in range(n):
            own[i] = cell[i] & 1
        for i in range(n):
            opponent[i] = (cell[i] >> 1) & 1
    else:
        for i in range(n):
            own[i] = (cell[i] >> 1) & 1
        for i in range(n):
            opponent[i] = cell[i] & 1
    for i in range(n):
        cell[i] = cell[i] >> 2
    for i in range(n):
        free[i] = (cell[i] & 1) ^ 1
    now = armies[NOW]
    for i in range(n):
        now[i] = word[i] & np.int32(MOST_ARMY)
    for i in range(n):
        strong[i] = np.uint8(now[i] > 1)


@kernel
def _look(space, columns, n, side):
    """IN_SIGHT = 1 within the 3x3 block around an own cell."""
    left = space[OWN, side:]
    here = space[OWN, side + 1 :]
    right = space[OWN, side + 2 :]
    middle = space[ACROSS, side + 1 :]
    for i in range(n):
        middle[i] = here[i] | (left[i] & columns[0, i]) | (right[i] & columns[1, i])
    above = space[ACROSS, 1:]
    below = space[ACROSS, 2 * side + 1 :]
    seen = space[IN_SIGHT, side + 1 :]
    for i in range(n):
        seen[i] = above[i] | middle[i] | below[i]


@kernel
def _sight(word, space, armies, codes, side):
    """The codes SIGHT, ARMY and PRICE."""
    n = word.shape[0]
    cell = space[CELL, side + 1 :]
    own = space[OWN, side + 1 :]
    opponent = space[OPPONENT, side + 1 :]
    seen = space[IN_SIGHT, side + 1 :]
    out = codes[SIGHT]
    for i in range(n):
        out[i] = (
            ((cell[i] >> 3) & 1)
            | (seen[i] << 1)
            | (own[i] << 2)
            | ((opponent[i] & seen[i]) << 3)
            | (((np.uint8(0) - seen[i]) & cell[i] & 7) << 4)
            | (((cell[i] | (cell[i] >> 1)) & (seen[i] ^ 1)) << 7)
        )
    now = armies[NOW]
    low = codes[ARMY_LOW]
    for i in range(n):
        low[i] = now[i] & (np.uint8(0) - seen[i])
    high = codes[ARMY_HIGH]
    for i in range(n):
        high[i] = (now[i] >> 8) & (np.uint8(0) - seen[i])
    price = codes[PRICE]
    for i in range(n):
        price[i] = word[i] >> np.int32(23)


@kernel
def _change(armies, seen, was, memory):
    """Army less remembered army where both are in sight, about 128."""
    n = seen.shape[0]
    low = memory[MEM_LOW]
    high = memory[MEM_HIGH]
    change = memory[MEM_CHANGE]
    now = armies[NOW]
    before = armies[BEFORE]
    for i in range(n):
        before[i] = low[i] | (np.int16(high[i]) << 8)
    for i in range(n):
        before[i] = now[i] - before[i]
    for i in range(n):
        before[i] = min(max(before[i], np.int16(-127)), np.int16(127))
    for i in range(n):
        change[i] = before[i] + 128
    for i in range(n):
        change[i] = (change[i] & (np.uint8(0) - (seen[i] & was[i]))) | (
            128 & ((seen[i] & was[i]) - np.uint8(1))
        )


@kernel
def _remember(space, armies, codes, memory, side):
    """Bring the memory (5, padded) of a seat up to date with a new turn."""
    n = codes.shape[1]
    own = space[OWN, side + 1 :]
    opponent = space[OPPONENT, side + 1 :]
    seen = space[IN_SIGHT, side + 1 :]
    was = space[WAS_SEEN, side + 1 :]
    flags = memory[MEM_FLAGS]
    age = memory[MEM_AGE]
    for i in range(n):
        was[i] = np.uint8(age[i] == 0)
    _change(armies, seen[:n], was, memory)
    for i in range(n):
        # memory bits: seen 1, last_opponent 2, last_own 4, gained 8, lost 16
        flags[i] = (
            (flags[i] & 1)
            | seen[i]
            | ((opponent[i] & seen[i]) << 1)
            | (own[i] << 2)
            | ((seen[i] - np.uint8(1)) & flags[i] & 6)
            | ((own[i] & (((flags[i] >> 2) & was[i]) ^ 1)) << 3)
            | (((flags[i] >> 2) & was[i] & (own[i] ^ 1)) << 4)
        )
    # Masks and not branches: only these become vector code.
    low, last_low = codes[ARMY_LOW], memory[MEM_LOW]
    for i in range(n):
        last_low[i] = low[i] | (last_low[i] & (seen[i] - np.uint8(1)))
    high, last_high = codes[ARMY_HIGH], memory[MEM_HIGH]
    for i in range(n):
        last_high[i] = high[i] | (last_high[i] & (seen[i] - np.uint8(1)))
    for i in range(n):
        age[i] = (age[i] + np.uint8(age[i] < 254)) & (seen[i] - np.uint8(1))


@kernel
def _choices(space, columns, memory, codes, may_build, side):
    """The codes MOVES and UNITS."""
    n = codes.shape[1]
    own = space[OWN, side + 1 :]
    opponent = space[OPPONENT, side + 1 :]
    cell = space[CELL, side + 1 :]
    seen = space[IN_SIGHT, side + 1 :]
    strong = space[STRONG, side + 1 :]
    up = space[OPEN, 1:]
    left = space[OPEN, side:]
    right = space[OPEN, side + 2 :]
    down = space[OPEN, 2 * side + 1 :]
    flags = memory[MEM_FLAGS]
    moves = codes[MOVES]
    for i in range(n):
        moves[i] = (
            up[i]
            | (down[i] << 1)
            | ((left[i] & columns[0, i]) << 2)
            | ((right[i] & columns[1, i]) << 3)
        )
    for i in range(n):
        moves[i] &= np.uint8(0) - (own[i] & strong[i])
    for i in range(n):
        # known_mountain: frame 0 shows every mountain, seen or as structure in fog
        moves[i] |= (
            ((cell[i] & 1) << 4)
            | (((cell[i] >> 1) & (seen[i] ^ 1)) << 5)
            | (((cell[i] >> 3) & (flags[i] ^ 1) & (cell[i] ^ 1) & 1) << 6)
            | (((cell[i] >> 2) & flags[i] & (own[i] ^ 1)) << 7)
        )
    units = codes[UNITS]
    for i in range(n):
        # castle is bit 1 of a cell and general bit 2
        units[i] = (
            ((cell[i] >> 1) & own[i])
            | (cell[i] & ((opponent[i] & seen[i]) << 1))
            | (cell[i] & (own[i] << 2))
            | ((cell[i] << 1) & ((opponent[i] & seen[i]) << 3))
            | ((seen[i] & ((own[i] | opponent[i] | cell[i]) ^ 1)) << 4)
            | ((((seen[i] | cell[i] | (cell[i] >> 1)) ^ 1) & 1) << 5)
        )
    for i in range(n):
        units[i] |= (np.uint8((moves[i] & 15) != 0) << 6) | (
            (own[i] & (cell[i] >> 4) & (((cell[i] >> 1) | (cell[i] >> 2)) ^ 1) & may_build) << 7
        )


@kernel
def _legal(codes, legal, n):
    """Legal actions: 9 planes of n cells, then pass."""
    moves = codes[MOVES]
    up, down, left, right = legal[:n], legal[n : 2 * n], legal[2 * n : 3 * n], legal[3 * n : 4 * n]
    # Shifts by constants: four loops and not one over directions.
    for i in range(n):
        up[i] = moves[i] & 1
    for i in range(n):
        down[i] = (moves[i] >> 1) & 1
    for i in range(n):
        left[i] = (moves[i] >> 2) & 1
    for i in range(n):
        right[i] = (moves[i] >> 3) & 1
    halves = legal[4 * n : 8 * n]
    for i in range(4 * n):
        halves[i] = legal[i]
    build = legal[8 * n :]
    units = codes[UNITS]
    for i in range(n):
        build[i] = units[i] >> 7
    legal[9 * n] = 1


@kernel
def _copy(plane, to):
    for i in range(to.shape[0]):
        to[i] = plane[i]


@kernel
def _lead(own, other):
    total = own + other
    return (own - other) / total if total > 0 else 0.0


@kernel
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


@kernel
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
    armies,
    drawn,
    rules,
    side,
    codes,
    scalars,
    legal,
):
    """Write codes (N, 2, C, M), scalars (N, 2, S) and legal (N, 2, n_actions).

    State rows have `padded` cells, outputs M. memory (N, 2, 5, padded) uint8 is the last five codes of the turn before. It
    moves on only where the game's turn is a new one, so that observing twice
    gives the same twice.
    """
    n_cells = side * side
    n_stored = owner.shape[1]
    base, word, turned = words[0], words[1], words[2]
    for n in range(table.shape[0]):
        g = table[n]
        _pack(owner[n], army[n], kind[n], base)
        for seat in range(2):
            frame = frames[n, seat] & 7
            mem = memory[n, seat]
            _price(base, army[n], price[n, seat], word)
            shown = word
            if frame != 0:
                turn = cells[frame]
                for i in range(n_cells):
                    turned[i] = word[turn[i]]
                shown = turned
            _unpack(shown, seat, space, armies, side)
            _look(space, columns, n_stored, side)
            _sight(shown, space, armies, drawn, side)
            if g[OBSERVED] != g[TIME]:
                _remember(space, armies, drawn, mem, side)
                if g[SOURCE + seat] >= 0:
                    mem[MEM_FLAGS, places[frame, g[SOURCE + seat]]] |= 32
                    mem[MEM_FLAGS, places[frame, g[TARGET + seat]]] |= 64
            may_build = np.uint8(g[CASTLES + seat] < rules[RULE_CAP])
            _choices(space, columns, mem, drawn, may_build, side)
            for k in range(MEMORY):
                _copy(drawn[k], codes[n, seat, k])
            for k in range(MEMORY, N_CODES):
                _copy(mem[k - MEMORY], codes[n, seat, k])
            _legal(drawn, legal[n, seat], n_cells)
            _scalars(g, seat, frame, rules, side, scalars[n, seat])
        g[OBSERVED] = g[TIME]
