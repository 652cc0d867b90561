"""Random boards (spec section 3), each a function of its seed alone."""

from __future__ import annotations

import numpy as np
from numba import njit

from royale.games.generals.compiled import kernel
from royale.games.generals.layout import (
    COLUMNS,
    GENERAL,
    HEIGHT,
    INSIDE,
    IS_GENERAL,
    MOUNTAIN,
    OBSERVED,
    SOURCE,
    TARGET,
    WIDTH,
    WINNER,
)
from royale.games.generals.settings import (
    MAP_CASTLES,
    MAP_DISTANCE,
    MAP_HEIGHT,
    MAP_ROOM,
    MAP_TOLERANCE,
    MAP_WIDTH,
    MAP_ZONE,
)
from royale.rng import mix, unit

CANDIDATES = 8  # cells tried for the first general
ATTEMPTS = 64  # boards tried until the generals stand on two cells
ZONE_LOG_WEIGHT = 20.0
FAR_AWAY = 1 << 20
ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def _draw(key, tag, index):
    """A uniform on [0, 1): number `index` of the choices named `tag`."""
    return unit(mix(mix(key ^ mix(np.uint64(tag))) ^ np.uint64(index)))


@kernel
def _between(key, tag, low, high):
    """A uniform integer, both ends included."""
    return low + min(int(_draw(key, tag, 0) * (high - low + 1)), high - low)


@kernel
def walk(blocked, height, width, starts, limit, distance, queue):
    """Steps from the nearest of the cells `starts` over unblocked cells, -1 unreached.

    Stops at `limit` steps. Returns how many cells were reached, starts included.
    """
    for i in range(height * width):
        distance[i] = -1
    tail = 0
    for k in range(starts.shape[0]):
        distance[starts[k]] = 0
        queue[tail] = starts[k]
        tail += 1
    head = 0
    while head < tail:
        cell = queue[head]
        head += 1
        steps = distance[cell] + 1
        if steps > limit:
            break
        row = cell // width
        column = cell - row * width
        if row > 0:
            tail = _visit(blocked, cell - width, steps, distance, queue, tail)
        if row + 1 < height:
            tail = _visit(blocked, cell + width, steps, distance, queue, tail)
        if column > 0:
            tail = _visit(blocked, cell - 1, steps, distance, queue, tail)
        if column + 1 < width:
            tail = _visit(blocked, cell + 1, steps, distance, queue, tail)
    return tail


@kernel
def _visit(blocked, cell, steps, distance, queue, tail):
    if blocked[cell] or distance[cell] >= 0:
        return tail
    distance[cell] = steps
    queue[tail] = cell
    return tail + 1


@kernel
def _shuffle_first(key, tag, values, count):
    """Bring a uniformly random subset of size `count` to the front of `values`."""
    n = values.shape[0]
    for k in range(count):
        j = k + min(int(_draw(key, tag, k) * (n - k)), n - k - 1)
        values[k], values[j] = values[j], values[k]


@kernel
def _room(free, height, row, column, steps, reached):
    """Cells reached from a cell in at most `steps` steps, itself not counted.

    `free` (height + 2,) has one bit a column and an empty row at either end;
    `reached` is work space of that size. All cells of a row spread at once.
    """
    for r in range(height + 2):
        reached[r] = ZERO
    reached[row + 1] = ONE << np.uint64(column)
    top = bottom = row + 1
    for _ in range(steps):
        top, bottom = max(1, top - 1), min(height, bottom + 1)
        above = ZERO
        for r in range(top, bottom + 1):
            here = reached[r]
            spread = here | (here << ONE) | (here >> ONE) | above | reached[r + 1]
            reached[r] = spread & free[r]
            above = here
    count = -1
    for r in range(top, bottom + 1):
        bits = reached[r]
        while bits:
            bits &= bits - ONE
            count += 1
    return count


@njit(cache=True, nogil=True)
def _candidates(key, blocked, zone, chosen):
    """Draw the candidate cells for the first general; returns how many there are.

    Without replacement, in descending order of noise: Gumbel noise, raised by
    ZONE_LOG_WEIGHT within the castle zone.
    """
    noise = np.full(blocked.shape[0], -np.inf)
    for i in range(blocked.shape[0]):
        if not blocked[i]:
            u = max(_draw(key, 5, i), 1e-300)
            noise[i] = -np.log(-np.log(u)) + (ZONE_LOG_WEIGHT if zone[i] >= 0 else 0.0)
    count = 0
    while count < chosen.shape[0]:
        best = np.argmax(noise)
        if noise[best] == -np.inf:
            break
        noise[best] = -np.inf
        chosen[count] = best
        count += 1
    return count


@njit(cache=True, nogil=True)
def _place(key, blocked, zone, height, width, numbers):
    """Cells of the two generals (steps 4 to 8); both -1 if there is no such pair."""
    area = height * width
    queue = np.empty(area, np.int32)
    distance = np.empty(area, np.int32)
    start = np.empty(1, np.int32)
    room = np.full(area, -1, np.int32)
    free = np.zeros(height + 2, np.uint64)
    reached = np.zeros(height + 2, np.uint64)
    for i in range(area):
        if not blocked[i]:
            free[i // width + 1] |= ONE << np.uint64(i % width)
    for i in range(area):
        if not blocked[i]:
            room[i] = _room(free, height, i // width, i % width, numbers[MAP_ROOM], reached)
    chosen = np.empty(CANDIDATES, np.int32)
    count = _candidates(key, blocked, zone, chosen)
    best_score = -FAR_AWAY * 1000
    best = -1
    best_gap = 0
    best_span = 0
    best_fair = False
    for order in range(count):
        start[0] = chosen[order]
        walk(blocked, height, width, start, area, distance, queue)
        gap = area
        span = 0
        for i in range(area):
            span = max(span, distance[i])
            if distance[i] >= numbers[MAP_DISTANCE]:
                gap = min(gap, abs(room[i] - room[chosen[order]]))
        far = gap < area
        fair = far and gap <= numbers[MAP_TOLERANCE]
        score = 100000 * (2 * fair + far) - 100 * gap + span - order
        if score > best_score:
            best_score, best, best_gap, best_span = score, chosen[order], gap, span
            best_fair = fair
    if best < 0 or best_span == 0:
        return -1, -1
    start[0] = best
    walk(blocked, height, width, start, area, distance, queue)
    # Fair cells, else the far cells of least gap, else the farthest cells.
    partners = 0
    for i in range(area):
        if best_gap < area:
            limit = numbers[MAP_TOLERANCE] if best_fair else best_gap
            gap = abs(room[i] - room[best])
            take = distance[i] >= numbers[MAP_DISTANCE] and gap <= limit
        else:
            take = distance[i] == best_span
        if take:
            queue[partners] = i
            partners += 1
    second = queue[_between(key, 6, 0, partners - 1)]
    if _draw(key, 7, 0) < 0.5:
        return best, second
    return second, best


@njit(cache=True, nogil=True)
def _attempt(key, height, width, numbers, shares, blocked):
    """Fill `blocked` (area,) and return the generals' cells, -1 if they do not fit."""
    area = height * width
    low = int(np.floor(shares[0] * area))
    high = int(np.floor(shares[1] * area))
    # The reference takes mountains from the top quarter of its noise.
    n_mountains = min(_between(key, 1, low, high), area // 4)
    n_castles = min(_between(key, 2, numbers[MAP_CASTLES], numbers[MAP_CASTLES + 1]), n_mountains)
    order = np.arange(area).astype(np.int32)
    _shuffle_first(key, 3, order, n_mountains)
    mountains = order[:n_mountains]
    _shuffle_first(key, 4, mountains, n_castles)
    blocked[:] = False
    for k in range(n_castles, n_mountains):
        blocked[mountains[k]] = True
    zone = np.empty(area, np.int32)
    queue = np.empty(area, np.int32)
    castles = mountains[:n_castles]
    walk(blocked, height, width, castles, numbers[MAP_ZONE], zone, queue)
    return _place(key, blocked, zone, height, width, numbers)


@njit(cache=True, nogil=True)
def deal(games, seeds, numbers, shares, side, table, owner, army, kind):
    """Deal new boards to `games` (M,) from `seeds` (M,) uint64.

    Writes the games' rows of `table`, `owner`, `army` and `kind` (see `layout`);
    totals and prices are left to `kernels.recount`.
    """
    for k in range(games.shape[0]):
        n = games[k]
        height = _between(seeds[k], 10, numbers[MAP_HEIGHT], numbers[MAP_HEIGHT + 1])
        width = _between(seeds[k], 11, numbers[MAP_WIDTH], numbers[MAP_WIDTH + 1])
        blocked = np.zeros(height * width, np.bool_)
        first = second = -1
        for attempt in range(ATTEMPTS):
            key = mix(seeds[k] ^ mix(np.uint64(1000 + attempt)))
            first, second = _attempt(key, height, width, numbers, shares, blocked)
            if first >= 0:
                break
        if first < 0:  # not seen in practice; keeps the function total
            blocked[:] = False
            first, second = 0, height * width - 1
        table[n, :COLUMNS] = 0
        table[n, WINNER] = -1
        table[n, OBSERVED] = -1
        table[n, HEIGHT] = height
        table[n, WIDTH] = width
        owner[n, :] = -1
        army[n, :] = 0
        kind[n, :] = MOUNTAIN
        for row in range(height):
            for column in range(width):
                stone = MOUNTAIN if blocked[row * width + column] else 0
                kind[n, row * side + column] = INSIDE | stone
        for seat in range(2):
            place = first if seat == 0 else second
            cell = place // width * side + place % width
            table[n, GENERAL + seat] = cell
            table[n, SOURCE + seat] = -1
            table[n, TARGET + seat] = -1
            owner[n, cell] = seat
            army[n, cell] = 1
            kind[n, cell] |= IS_GENERAL
