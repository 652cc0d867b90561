"""One turn of many games, in place (spec sections 4 to 9).

Shapes: N games, M = side*side cells of the canvas in row order. `table`
(N, COLUMNS) int32, `owner` (N, M) int8, `army` (N, M) int32, `kind` (N, M)
uint8, `price` (N, 2, M) int32, `structures` (N, M) int32; see `layout`.
Totals and prices are kept up to date move by move, so that a turn costs time
for what happens in it and not for the size of the board.
"""

from __future__ import annotations

import numpy as np

from royale.games.generals.compiled import kernel
from royale.games.generals.layout import (
    ARMY,
    BUILDS,
    CASTLE,
    CASTLES,
    GENERAL,
    IS_GENERAL,
    LAND,
    OVER,
    SOURCE,
    STRUCTURES,
    TARGET,
    TIME,
    TRUNCATED,
    WINNER,
)
from royale.games.generals.settings import (
    RULE_BASE,
    RULE_CAP,
    RULE_DEATHTOUCH,
    RULE_MAX_TURNS,
    RULE_SURCHARGE,
)

# A cell that is priced and grows.
STRUCTURE = CASTLE | IS_GENERAL


@kernel
def decode(actions, frames, cells, directions, orders):
    """Flat actions (N, 2) in each seat's frame -> orders (N, 2, 5) on the board.

    An order is kind, row, column, direction, split (spec section 11). What is
    not an action at all becomes a pass; the rules void the other illegal ones.
    """
    n_cells = cells.shape[1]
    side = int(np.sqrt(n_cells))
    for n in range(actions.shape[0]):
        for seat in range(2):
            action = actions[n, seat]
            frame = frames[n, seat] & 7
            plane = action // n_cells
            order = orders[n, seat]
            if action < 0 or plane > 8:
                order[0] = 1
                continue
            cell = cells[frame, action - plane * n_cells]
            order[1] = cell // side
            order[2] = cell - order[1] * side
            if plane == 8:
                order[0] = 2
            else:
                order[0] = 0
                order[3] = directions[frame, plane & 3]
                order[4] = plane >> 2


@kernel
def _reprice(price, cell, sign, surcharge, side):
    """Add a structure at `cell` to one seat's prices, or (sign -1) take it away."""
    row = cell // side
    column = cell - row * side
    reach = (surcharge - 1) // 2
    for r in range(max(0, row - reach), min(side, row + reach + 1)):
        left = reach - abs(r - row)
        for c in range(max(0, column - left), min(side, column + left + 1)):
            price[r * side + c] += sign * (surcharge - 2 * (abs(r - row) + abs(c - column)))


@kernel
def recount(g, owner, army, kind, price, structures, rules, side):
    """Work out totals, structures and prices of one game from its cells."""
    for seat in range(2):
        g[LAND + seat] = 0
        g[ARMY + seat] = 0
        g[CASTLES + seat] = 0
        price[seat, :] = rules[RULE_BASE]
    count = 0
    for i in range(side * side):
        seat = owner[i]
        if kind[i] & STRUCTURE:
            structures[count] = i
            count += 1
        if seat >= 0:
            g[LAND + seat] += 1
            g[ARMY + seat] += army[i]
            if kind[i] & CASTLE:
                g[CASTLES + seat] += 1
            if kind[i] & STRUCTURE:
                _reprice(price[seat], i, 1, rules[RULE_SURCHARGE], side)
    g[STRUCTURES] = count
    for k in range(count, side * side):
        structures[k] = 0


@kernel
def _build(g, owner, army, kind, price, structures, seat, order, rules, side):
    """Carry out a build (spec section 8) if it is valid."""
    row, column = order[1], order[2]
    if row < 0 or row >= side or column < 0 or column >= side:
        return
    cell = row * side + column
    cost = price[seat, cell]
    if owner[cell] != seat or kind[cell] & STRUCTURE or army[cell] < cost:
        return
    if g[CASTLES + seat] >= rules[RULE_CAP]:
        return
    army[cell] -= cost
    kind[cell] |= CASTLE
    structures[g[STRUCTURES]] = cell
    g[STRUCTURES] += 1
    g[ARMY + seat] -= cost
    g[CASTLES + seat] += 1
    g[BUILDS + seat] += 1
    g[SOURCE + seat] = cell
    g[TARGET + seat] = cell
    _reprice(price[seat], cell, 1, rules[RULE_SURCHARGE], side)


@kernel
def _aim(owner, army, kind, seat, order, side):
    """Source and target cell of a move, or (-1, -1) if it is not valid."""
    row, column, direction = order[1], order[2], order[3]
    if row < 0 or row >= side or column < 0 or column >= side:
        return -1, -1
    source = row * side + column
    if owner[source] != seat or army[source] < 2:
        return -1, -1
    # Out-of-range directions as the reference runs them (spec section 11).
    if direction < 0:
        direction = max(direction + 4, 0)
    if direction == 0:
        row -= 1
    elif direction == 1:
        row += 1
    elif direction == 2:
        column -= 1
    else:
        column += 1
    if row < 0 or row >= side or column < 0 or column >= side:
        return -1, -1
    target = row * side + column
    if kind[target] & 1:  # MOUNTAIN
        return -1, -1
    return source, target


@kernel
def _move(g, owner, army, kind, price, seat, source, target, split, rules, side):
    """Carry out a move (spec section 5); True if the target changed hands."""
    amount = army[source] // 2 if split == 1 else army[source] - 1
    army[source] -= amount
    holder = owner[target]
    defence = army[target]
    if holder == seat:
        army[target] = defence + amount
        return False
    if amount <= defence:  # a tie leaves the cell to its holder, with 0
        army[target] = defence - amount
        g[ARMY + seat] -= amount
        if holder >= 0:
            g[ARMY + holder] -= amount
        return False
    army[target] = amount - defence
    owner[target] = seat
    g[LAND + seat] += 1
    g[ARMY + seat] -= defence
    castle = (kind[target] & CASTLE) // CASTLE
    g[CASTLES + seat] += castle
    if kind[target] & STRUCTURE:
        _reprice(price[seat], target, 1, rules[RULE_SURCHARGE], side)
    if holder >= 0:
        g[LAND + holder] -= 1
        g[ARMY + holder] -= defence
        g[CASTLES + holder] -= castle
        if kind[target] & STRUCTURE:
            _reprice(price[holder], target, -1, rules[RULE_SURCHARGE], side)
    return True


@kernel
def _first(owner, army, source0, target0, source1, target1):
    """The seat that moves first (spec section 6), both moves being valid."""
    chase0 = target0 == source1
    chase1 = target1 == source0
    if chase0 != chase1:
        return 0 if chase0 else 1
    own0 = owner[target0] == 0
    own1 = owner[target1] == 1
    if own0 != own1:
        return 0 if own0 else 1
    return 1 if army[source1] < army[source0] else 0


@kernel
def _grow(g, owner, army, structures):
    """Growth at the end of a turn (spec section 7); TIME is already advanced."""
    if g[TIME] % 2 == 0:
        for k in range(g[STRUCTURES]):
            cell = structures[k]
            if owner[cell] >= 0:
                army[cell] += 1
                g[ARMY + owner[cell]] += 1
    if g[TIME] % 50 == 0:
        for i in range(owner.shape[0]):
            army[i] += np.int32(owner[i] >= 0)
        g[ARMY] += g[LAND]
        g[ARMY + 1] += g[LAND + 1]


@kernel
def _transfer(owner, winner):
    """Give all cells of the loser to the winner."""
    for i in range(owner.shape[0]):
        if owner[i] == 1 - winner:
            owner[i] = winner


@kernel
def _turn(g, owner, army, kind, price, structures, orders, rules, side):
    """One turn of one running game (spec section 4)."""
    for seat in range(2):
        g[SOURCE + seat] = -1
        g[TARGET + seat] = -1
        if orders[seat, 0] == 2:
            _build(g, owner, army, kind, price, structures, seat, orders[seat], rules, side)
    source0 = target0 = source1 = target1 = -1
    if orders[0, 0] != 1 and orders[0, 0] != 2:
        source0, target0 = _aim(owner, army, kind, 0, orders[0], side)
    if orders[1, 0] != 1 and orders[1, 0] != 2:
        source1, target1 = _aim(owner, army, kind, 1, orders[1], side)
    first = 0
    # A move that is void now stays void, so the order matters only if none is.
    if source0 >= 0 and source1 >= 0:
        first = _first(owner, army, source0, target0, source1, target1)
    elif source1 >= 0:
        first = 1
    captured = 0  # bit s: seat s captured the enemy general
    touched = 0
    last_capturer = -1
    for slot in range(2):
        seat = first ^ slot
        source = source1 if seat == 1 else source0
        target = target1 if seat == 1 else target0
        if source < 0:
            continue
        g[SOURCE + seat] = source
        g[TARGET + seat] = target
        if owner[source] != seat or army[source] < 2:
            continue  # the first move took it
        split = orders[seat, 4]
        took = _move(g, owner, army, kind, price, seat, source, target, split, rules, side)
        if target == g[GENERAL + 1 - seat]:
            if orders[seat, 0] == 0:
                touched |= 1 << seat
            if took:
                captured |= 1 << seat
                last_capturer = seat
    deathtouch = g[TIME] >= rules[RULE_DEATHTOUCH]
    g[TIME] += 1
    if captured == 0:
        _grow(g, owner, army, structures)
        if deathtouch and touched:
            g[OVER] = 1
            if touched != 3:
                g[WINNER] = touched - 1
                _transfer(owner, touched - 1)
                recount(g, owner, army, kind, price, structures, rules, side)
    else:
        # No growth; after a mutual capture all cells are the second mover's.
        g[OVER] = 1
        _transfer(owner, last_capturer)
        if captured != 3:
            g[WINNER] = captured - 1
        # The touch overrides the capture (spec section 9).
        if deathtouch and touched == 3:
            g[WINNER] = -1
        elif deathtouch and touched != 0 and captured != 3:
            g[WINNER] = touched - 1
            _transfer(owner, touched - 1)
        recount(g, owner, army, kind, price, structures, rules, side)
    if g[OVER] == 0 and g[TIME] >= rules[RULE_MAX_TURNS]:
        g[OVER] = 1
        g[TRUNCATED] = 1


@kernel
def play(table, owner, army, kind, price, structures, orders, rules, side, done, cut, winner):
    """One turn of all games that are not over; orders (N, 2, 5) int32 on the board."""
    for n in range(table.shape[0]):
        if table[n, OVER] == 0:
            _turn(
                table[n],
                owner[n],
                army[n],
                kind[n],
                price[n],
                structures[n],
                orders[n],
                rules,
                side,
            )
        done[n] = table[n, OVER] != 0
        cut[n] = table[n, TRUNCATED] != 0
        winner[n] = table[n, WINNER]


@kernel
def recount_games(games, table, owner, army, kind, price, structures, rules, side):
    """`recount` for the games with indices `games` (M,)."""
    for n in games:
        recount(table[n], owner[n], army[n], kind[n], price[n], structures[n], rules, side)
