"""What both seats see, as codes in each seat's frame (spec section 10), and legal actions.

Everything that depends on the seat is worked out in the frame, so that a frame costs
one gather of packed cells. The work is done in rows of bytes that stay in the first
cache, written for the compiler to vectorise:

- Rows have fixed places in one array, and their indices are unsigned: then the compiler
  knows without a test that they do not overlap. What a loop reads at a distance of a row of
  the board lies in another array (`board`) than what it writes (`drawn`).
- numba widens what is made of bytes. A part that is used twice is therefore named, as
  `np.uint8`; else the whole loop is compiled to 64-bit instructions.
- Guard zones around the board, which hold what is outside of it, save the edge cases.
"""

from __future__ import annotations

import numpy as np

from royale.games.generals.compiled import kernel
from royale.games.generals.layout import (
    ARMY,
    CASTLES,
    CHANGE,
    HEIGHT,
    LAND,
    N_CODES,
    N_MEMORY,
    OBSERVED,
    SOURCE,
    TARGET,
    TIME,
    WIDTH,
)
from royale.games.generals.settings import RULE_CAP, RULE_DEATHTOUCH, RULE_MAX_TURNS
from royale.games.generals.workspace import (
    ACROSS,
    CELL,
    CELL_LEFT,
    CELL_RIGHT,
    D_AGE,
    D_CHANGE,
    D_FLAGS,
    D_HIGH,
    D_LAST_HIGH,
    D_LAST_LOW,
    D_LOW,
    D_MOVES,
    D_PRICE,
    D_SEEN,
    D_SIGHT,
    D_UNITS,
    EDGES,
    FIRST,
    FLAGS,
    HAS_LEFT,
    HAS_RIGHT,
    HIGH,
    LOW,
    NEXT,
    ONE,
    SEAT_0,
    SEAT_1,
    SINCE,
    TURNED,
    WORDS_0,
    WORDS_1,
)

MOST_ARMY = 32767  # shown of a cell, so that differences fit 16 bits


@kernel
def _mask(condition):
    """255 where true, else 0."""
    return np.uint8(np.uint8(0) - np.uint8(condition))


@kernel
def _is(byte, bits, value):
    """255 where these bits of a byte have this value, else 0."""
    return _mask(np.uint8(byte & bits) == value)


@kernel
def _cells(owner, kind, board, n):
    """The cells as bytes, for either seat, without what an army pays."""
    for i in range(n):
        k = kind[i]
        what = np.uint8(((k >> 3) & 1) | (k << 4 & 0x70) | (_mask((k & 3) != 0) & 0x80))
        zero = _mask(owner[i] == 0)
        one = _mask(owner[i] == 1)
        board[i + SEAT_0] = what | (zero & 4) | (one & 8)
        board[i + SEAT_1] = what | (one & 4) | (zero & 8)


@kernel
def _pack(army, price, board, words, n):
    """One word a cell and seat: army, clipped, in bits 0-15, cell 16-23, price 24-31."""
    price_0, price_1 = price[0], price[1]
    for i in range(n):
        here = army[i]
        shown = min(here, np.int32(MOST_ARMY))
        words[i + WORDS_0] = (
            shown
            | (np.int32(board[i + SEAT_0]) << np.int32(16))
            | (np.int32(here >= price_0[i]) << np.int32(17))
            | (min(price_0[i], np.int32(255)) << np.int32(24))
        )
        words[i + WORDS_1] = (
            shown
            | (np.int32(board[i + SEAT_1]) << np.int32(16))
            | (np.int32(here >= price_1[i]) << np.int32(17))
            | (min(price_1[i], np.int32(255)) << np.int32(24))
        )


@kernel
def _turn(words, row, start, across, down, side):
    """TURNED: the cells of a row of `words` in a frame; see `symmetry.steps`."""
    to = TURNED
    first = row + start
    for _ in range(side):
        at = first
        for _ in range(side):
            words[to] = words[at]
            to += ONE
            at += across
        first += down


@kernel
def _unpack(words, row, board, drawn, n):
    """CELL, the army of every cell, and the code PRICE."""
    for i in range(n):
        word = words[i + row]
        board[i + CELL] = word >> np.int32(16)
        drawn[i + D_LOW] = word
        drawn[i + D_HIGH] = word >> np.int32(8)
        drawn[i + D_PRICE] = word >> np.int32(24)


@kernel
def _look(board, drawn, n, side):
    """D_SEEN: within the 3x3 block around an own cell."""
    for i in range(n):
        board[i + ACROSS] = (
            board[i + CELL]
            | (board[i + CELL_LEFT] & board[i + HAS_LEFT])
            | (board[i + CELL_RIGHT] & board[i + HAS_RIGHT])
        )
    up, down = ACROSS - side, ACROSS + side
    for i in range(n):
        drawn[i + D_SEEN] = _mask(((board[i + up] | board[i + ACROSS] | board[i + down]) & 4) != 0)


@kernel
def _sight(board, drawn, n):
    """The codes SIGHT and ARMY."""
    for i in range(n):
        seen = drawn[i + D_SEEN]
        # In sight all bits but a structure in fog; else that, inside and own.
        drawn[i + D_SIGHT] = (board[i + CELL] & ((seen & 0xF8) ^ 0x85)) | (seen & 2)
        drawn[i + D_LOW] = drawn[i + D_LOW] & seen
        drawn[i + D_HIGH] = drawn[i + D_HIGH] & seen


@kernel
def _remember(board, drawn, memory, n):
    """The memory of a seat after a new turn, from `memory` (5, padded), but for CHANGE."""
    flags, low, high, age = memory[FLAGS], memory[LOW], memory[HIGH], memory[SINCE]
    for i in range(n):
        seen = drawn[i + D_SEEN]
        hidden = np.uint8(seen ^ 255)
        cell = board[i + CELL]
        known = flags[i]
        own = np.uint8(cell & 4)
        before = np.uint8(known & 4 & _mask(age[i] == 0))
        turned = np.uint8(own ^ before)
        # bits: seen 1, last_opponent 2, last_own 4, gained 8, lost 16
        drawn[i + D_FLAGS] = (
            ((own | ((cell >> 2) & 2) | 1) & seen)
            | (known & ((hidden & 6) | 1))
            | ((turned & own) << 1)
            | ((turned & before) << 2)
        )
        drawn[i + D_LAST_LOW] = drawn[i + D_LOW] | (low[i] & hidden)
        drawn[i + D_LAST_HIGH] = drawn[i + D_HIGH] | (high[i] & hidden)
        drawn[i + D_AGE] = (age[i] + np.uint8(age[i] < 254)) & hidden


@kernel
def _change(drawn, memory, n):
    """Army less remembered army where both are in sight, about 128."""
    low, high, age = memory[LOW], memory[HIGH], memory[SINCE]
    for i in range(n):
        both = np.uint8(drawn[i + D_SEEN] & _mask(age[i] == 0))
        now = np.int16(np.int16(drawn[i + D_LOW]) | (np.int16(drawn[i + D_HIGH]) << 8))
        then = np.int16(np.int16(low[i]) | (np.int16(high[i]) << 8))
        more = np.int16(now - then)
        # Saturation to a byte is an instruction; then -128 is made -127.
        near = np.int8(min(max(more, np.int16(-128)), np.int16(127)))
        near = max(near, np.int8(-127))
        drawn[i + D_CHANGE] = (np.uint8(near) & both) ^ np.uint8(128)


@kernel
def _choices(board, drawn, build, n, side):
    """The codes MOVES and UNITS; `build` is 128 if the seat may build one more castle."""
    up, down = CELL - side, CELL + side
    for i in range(n):
        cell = board[i + CELL]
        own = _mask((cell & 4) != 0)
        strong = _mask((drawn[i + D_HIGH] | (drawn[i + D_LOW] & 254)) != 0)
        walls = np.uint8(
            ((board[i + up] >> 4) & 1)
            | ((board[i + down] >> 3) & 2)
            | ((board[i + CELL_LEFT] >> 2) & 4)
            | ((board[i + CELL_RIGHT] >> 1) & 8)
        )
        moves = np.uint8((walls ^ 15) & board[i + EDGES] & own & strong)
        seen = drawn[i + D_SEEN]
        hidden = np.uint8(seen ^ 255)
        ever = _mask((drawn[i + D_FLAGS] & 1) != 0)
        # known_mountain: frame 0 shows every mountain, seen or as structure in fog
        drawn[i + D_MOVES] = (
            moves
            | (cell & ((hidden & 32) | 16))  # castle_in_fog, known_mountain
            | (_is(cell, 0x11, 0x01) & (ever ^ 255) & 64)  # hideout
            | (_is(cell, 0x44, 0x40) & ever & 128)  # general_known
        )
        special = np.uint8(((cell >> 5) & 1) | ((cell >> 4) & 4))  # castle 1, general 4
        drawn[i + D_UNITS] = (
            (special & own)
            | ((special << 1) & _is(cell, 0x08, 0x08) & seen)
            | (_is(cell, 0x1C, 0) & seen & 16)  # neutral
            | (_is(cell, 0x80, 0) & hidden & 32)  # fog
            | (_mask(moves != 0) & 64)
            | (_is(cell, 0x66, 0x06) & build)
        )


@kernel
def _copy(drawn, row, to, n):
    for i in range(n):
        to[i] = drawn[i + row]


@kernel
def _legal(drawn, legal, n, n_cells):
    """Legal actions: 9 planes of n_cells cells, then pass.

    n >= n_cells of a plane are written, for whole instructions; what is beyond its end is
    overwritten by the next.
    """
    to = np.uint64(0)
    for _ in range(2):
        # Shifts by constants: four loops and not one over directions.
        for i in range(n):
            legal[i + to] = drawn[i + D_MOVES] & 1
        to += n_cells
        for i in range(n):
            legal[i + to] = (drawn[i + D_MOVES] >> 1) & 1
        to += n_cells
        for i in range(n):
            legal[i + to] = (drawn[i + D_MOVES] >> 2) & 1
        to += n_cells
        for i in range(n):
            legal[i + to] = (drawn[i + D_MOVES] >> 3) & 1
        to += n_cells
    for i in range(n_cells):
        legal[i + to] = drawn[i + D_UNITS] >> 7
    legal[to + n_cells] = 1


@kernel
def _lead(own, other):
    total = own + other
    return (own - other) / total if total > 0 else 0.0


@kernel
def _scalars(g, seat, frame, rules, side, log_own, log_other, out):
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
    out[2] = log_own / 8
    out[3] = log_other / 8
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
    steps,
    places,
    board,
    drawn,
    words,
    rules,
    side,
    codes,
    scalars,
    legal,
):
    """Write codes (N, 2, C, M), scalars (N, 2, S) and legal (N, 2, n_actions).

    State rows have `padded` cells, outputs M. memory (N, 2, 5, padded) uint8 is the last
    five codes of the turn before. It moves on only where the game's turn is a new one, so
    that observing twice gives the same twice. steps (8, 3) is `symmetry.steps`.
    """
    width = np.uint64(side)
    n_cells = width * width
    n = np.uint64(owner.shape[1])
    # As in `_legal`, all planes but the last are written beyond their end, and none
    # beyond the end of the next.
    whole = min(n, n_cells + n_cells)
    for game in range(table.shape[0]):
        g = table[game]
        _cells(owner[game], kind[game], board, n)
        _pack(army[game], price[game], board, words, n)
        log_0, log_1 = np.log1p(g[ARMY]), np.log1p(g[ARMY + 1])
        for seat in range(2):
            frame = frames[game, seat] & 7
            mem = memory[game, seat]
            row = WORDS_1 if seat == 1 else WORDS_0
            if frame != 0:
                _turn(words, row, steps[frame, 0], steps[frame, 1], steps[frame, 2], width)
                row = TURNED
            _unpack(words, row, board, drawn, n)
            _look(board, drawn, n, width)
            _sight(board, drawn, n)
            if g[OBSERVED] != g[TIME]:
                _remember(board, drawn, mem, n)
                _change(drawn, mem, n)
                if g[SOURCE + seat] >= 0:
                    drawn[np.uint64(places[frame, g[SOURCE + seat]]) + D_FLAGS] |= 32
                    drawn[np.uint64(places[frame, g[TARGET + seat]]) + D_FLAGS] |= 64
                for k in range(N_MEMORY):
                    _copy(drawn, D_FLAGS + np.uint64(k) * NEXT, mem[k], n)
            else:
                for k in range(N_MEMORY):
                    for i in range(n):
                        drawn[i + D_FLAGS + np.uint64(k) * NEXT] = mem[k, i]
            build = np.uint8(128) if g[CASTLES + seat] < rules[RULE_CAP] else np.uint8(0)
            _choices(board, drawn, build, n, width)
            for k in range(N_CODES - 1):
                _copy(drawn, FIRST + np.uint64(k) * NEXT, codes[game, seat, k], whole)
            _copy(drawn, D_CHANGE, codes[game, seat, CHANGE], n_cells)
            _legal(drawn, legal[game, seat], whole, n_cells)
            own, other = (log_1, log_0) if seat == 1 else (log_0, log_1)
            _scalars(g, seat, frame, rules, side, own, other, scalars[game, seat])
        g[OBSERVED] = g[TIME]
