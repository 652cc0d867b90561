"""What each seat sees, in its own frame: the list of things, the cards, the scalars.

Blue's frame is the engine's; Red's is turned by 180 degrees; a mirrored frame exchanges left
and right. Positions are rounded to a grid that is its own mirror image, so that a frame's
picture is exactly the mirror image of the other's.
"""

from __future__ import annotations

import numpy as np

from royale.games.clash.compiled import kernel
from royale.games.clash.layout import (
    ABILITY,
    ABILITY_BITS,
    BUFFS,
    BYTES,
    CARD,
    CHARGE,
    CHARGED,
    COLUMN,
    DECK,
    E_BOX,
    E_BUFFS,
    E_CARD,
    E_CHARGE,
    E_DEPLOY,
    E_FLAGS,
    E_FLYING,
    E_FX,
    E_FY,
    E_HP,
    E_KIND,
    E_KNOCK,
    E_MAX,
    E_PHASE,
    E_SHIELD,
    E_STUN,
    E_TARGET,
    E_TEAM,
    E_TYPE,
    E_X,
    E_Y,
    ENEMY,
    FLAG,
    FORWARD,
    GAME_OVER,
    GROUNDED,
    HAND,
    HEIGHT,
    HP,
    HP_SHARE,
    IN_HIDING,
    IN_OVERTIME,
    INVISIBLE,
    KIND,
    MOST_ENTITIES,
    MOST_SPELLS,
    NEXT,
    NONE,
    OTHER,
    OVERTIME_TICKS,
    OWN,
    OWN_DECK,
    P_ABILITIES,
    P_ABILITY,
    P_ACTIVE,
    P_COST,
    P_CROWNS,
    P_DECK,
    P_ELIXIR,
    P_HAND,
    P_NEXT,
    P_PENDING,
    P_PENDING_COST,
    P_PENDINGS,
    P_TOWER,
    P_TOWER_MAX,
    PART,
    PENDING,
    RATE,
    REGULAR,
    RIGHT,
    ROW,
    S_AIM_X,
    S_AIM_Y,
    S_CARD,
    S_DELAY,
    S_MOTION,
    S_TEAM,
    S_X,
    S_Y,
    SCALARS,
    SCHEDULED,
    SEEN,
    SHIELD,
    SINCE,
    SLOTS,
    SPELL,
    STEP,
    SUBTILES,
    THINGS,
    TICK,
    TIMERS,
    TYPE,
    UNDERGROUND,
    WIDTH,
)

LOCKOUT = 90  # ticks at a battle's start in which nothing may be played
TOWER_UIDS = 6  # the towers have the first numbers
COSTS, WAITING = SCALARS.index("cost_0"), SCALARS.index("waiting_0")
TOWERS, ACTIVE = SCALARS.index("own_king"), SCALARS.index("own_king_active")
CROWNS, PLAYS = SCALARS.index("own_crowns"), SCALARS.index("enemy_plays")
LEFT_OUT = SCALARS.index("left_out")
# A princess falls first; the king's fall ends the battle.
PRINCESS_WEIGHT, KING_WEIGHT = 0.3, 0.4


@kernel
def _up(value, unit, most):
    """value / unit, rounded up and clipped."""
    return min((value + unit - 1) // unit, most)


@kernel
def _place(row, x, y, seat, mirrored):
    """Write the place (x, y) of the engine, as the frame shows it."""
    if (seat == 1) != mirrored:
        x = WIDTH * SUBTILES - x
    if seat == 1:
        y = HEIGHT * SUBTILES - y
    right = min(max((x + STEP // 2) // STEP, 0), 16 * WIDTH)
    forward = min(max((y + STEP // 2) // STEP, 0), 16 * HEIGHT)
    row[COLUMN], row[ROW] = right // 16, forward // 16
    row[PART] = right % 16 + 16 * (forward % 16)


@kernel
def _heading(component):
    """A component of a heading, -256..256, as 1..255."""
    size = (abs(component) * 127 + 128) // 256
    return 128 + size if component >= 0 else 128 - size


@kernel
def _unit(row, e, seat, mirrored):
    """Write the row of a troop, a building or a tower."""
    enemy = e[E_TEAM] != seat
    row[KIND], row[ENEMY], row[TYPE], row[CARD] = e[E_KIND] + 1, enemy, e[E_TYPE], e[E_CARD] + 1
    _place(row, e[E_X], e[E_Y], seat, mirrored)
    row[HP] = _up(max(e[E_HP], 0), 20, 255)
    row[HP_SHARE] = _up(max(e[E_HP], 0) * 255, max(e[E_MAX], 1), 255)
    row[TIMERS] = _up(e[E_DEPLOY], 2, 15) + 16 * _up(e[E_STUN], 2, 15)
    status = e[E_FLAGS]
    flags = (e[E_PHASE] == 1) + 2 * (e[E_PHASE] == 2)
    flags += 4 * (e[E_FLYING] != 0 and status & GROUNDED == 0)
    flags += 8 * (status & CHARGED != 0) + 16 * (status & ABILITY_BITS != 0)
    flags += 32 * (status & (UNDERGROUND | INVISIBLE | IN_HIDING) != 0)
    flags += 64 * (e[E_KNOCK] > 0) + 128 * (0 <= e[E_TARGET] < TOWER_UIDS)
    row[FLAG] = flags
    row[RIGHT] = _heading(-e[E_FX] if (seat == 1) != mirrored else e[E_FX])
    row[FORWARD] = _heading(-e[E_FY] if seat == 1 else e[E_FY])
    row[CHARGE] = min(max(e[E_CHARGE], 0) // 4, 255)
    row[SHIELD] = _up(max(e[E_SHIELD], 0), 8, 255)
    row[BUFFS] = min(e[E_BUFFS], 255)


@kernel
def _shown(e, seat):
    """Can the seat see this entity?"""
    return e[E_TEAM] == seat or e[E_FLAGS] & INVISIBLE == 0


@kernel
def _things(player, entities, spells, counts, seat, mirrored, codes):
    """Write the rows of things; how many were left out."""
    n = 0
    for k in range(player[P_PENDINGS]):
        row, at = codes[n], P_PENDING + 4 * k
        row[KIND], row[TYPE], row[CARD] = PENDING, player[at], player[at] + 1
        _place(row, player[at + 1], player[at + 2], seat, mirrored)
        row[TIMERS] = _up(player[at + 3], 2, 15)
        n += 1
    out = 0
    for k in range(min(counts[1], MOST_SPELLS)):
        spell = spells[k]
        enemy = spell[S_TEAM] != seat
        if enemy and spell[S_MOTION] == SCHEDULED:
            continue
        if n == THINGS - 8:  # more spells than there can be; the towers must fit
            out += 1
            continue
        row = codes[n]
        row[KIND], row[ENEMY], row[TYPE] = SPELL, enemy, spell[S_CARD]
        row[CARD] = spell[S_CARD] + 1
        # Where an enemy spell is going to strike is its own secret while it flies.
        if enemy:
            _place(row, spell[S_X], spell[S_Y], seat, mirrored)
        else:
            _place(row, spell[S_AIM_X], spell[S_AIM_Y], seat, mirrored)
            row[TIMERS] = _up(max(spell[S_DELAY], 0), 2, 15)
        n += 1
    most = min(counts[0], MOST_ENTITIES)
    shown = 0
    for k in range(most):
        shown += _shown(entities[k], seat)
    room = THINGS - n
    for k in range(most):
        e = entities[k]
        if not _shown(e, seat):
            continue
        if shown > room:
            # Those of the least full hitpoints are left out, the later ones first.
            rank = 0
            for j in range(most):
                other = entities[j]
                if _shown(other, seat) and (
                    other[E_MAX] > e[E_MAX] or (other[E_MAX] == e[E_MAX] and j < k)
                ):
                    rank += 1
            if rank >= room:
                out += 1
                continue
        _unit(codes[n], e, seat, mirrored)
        n += 1
    return out + counts[0] - most


@kernel
def _scalars(head, mine, theirs, estimate, plays, left_out, mirrored, out):
    """Write the scalars; see `layout.SCALARS`."""
    tick = head[TICK]
    out[0] = mine[P_ELIXIR] / 10000.0
    out[1] = mine[P_PENDING_COST] / 10.0
    out[2] = estimate / 10000.0
    out[3] = head[RATE] / 3.0
    out[4] = min(1.0, tick / head[REGULAR])
    out[5] = head[IN_OVERTIME]
    out[6] = min(1.0, max(0, tick - head[REGULAR]) / max(head[OVERTIME_TICKS], 1))
    out[7] = max(0, LOCKOUT - tick) / LOCKOUT
    for k in range(SLOTS):
        out[COSTS + k] = max(mine[P_COST + k], 0) / 10.0
        out[WAITING + k] = 0.0
        for j in range(mine[P_PENDINGS]):
            if mine[P_PENDING + 4 * j] == mine[P_HAND + k]:
                out[WAITING + k] = 1.0
    for k in range(3):
        # The opponent's left is on this seat's right.
        own = 3 - k if k and mirrored else k
        other = k if k == 0 or mirrored else 3 - k
        out[TOWERS + k] = mine[P_TOWER + own] / max(mine[P_TOWER_MAX + own], 1)
        out[TOWERS + 3 + k] = theirs[P_TOWER + other] / max(theirs[P_TOWER_MAX + other], 1)
    out[ACTIVE], out[ACTIVE + 1] = mine[P_ACTIVE], theirs[P_ACTIVE]
    out[CROWNS], out[CROWNS + 1] = mine[P_CROWNS] / 3.0, theirs[P_CROWNS] / 3.0
    out[PLAYS] = min(1.0, plays / 40.0)
    out[LEFT_OUT] = left_out / 16.0


@kernel
def encode(
    head, players, entities, spells, counts, estimate, seen, since, plays, frames, codes, scalars
):
    """Write codes (N, 2, ROWS, BYTES) and scalars (N, 2, S) of all battles.

    What a seat is shown of its opponent follows from the board and from `estimate` (N, 2),
    `seen` and `since` (N, 2, 8) and `plays` (N, 2), which are counted from plays that landed.
    """
    for g in range(head.shape[0]):
        for seat in range(2):
            mirrored = frames[g, seat] == 1
            code, mine, other = codes[g, seat], players[g, seat], 1 - seat
            for r in range(code.shape[0]):
                for k in range(BYTES):
                    code[r, k] = 0
            left_out = _things(mine, entities[g], spells[g], counts[g], seat, mirrored, code)
            own, theirs = code[OWN], code[OTHER]
            for k in range(SLOTS):
                own[HAND + k] = mine[P_HAND + k] + 1
            own[NEXT] = mine[P_NEXT] + 1
            for k in range(mine[P_ABILITIES]):
                own[ABILITY + k] = 1 + (mine[P_ABILITY + 2 * k] > 0)
            for k in range(DECK):
                own[OWN_DECK + k] = mine[P_DECK + k] + 1
                theirs[SEEN + k] = seen[g, other, k] + 1
                theirs[SINCE + k] = since[g, other, k]
            _scalars(
                head[g],
                mine,
                players[g, other],
                estimate[g, other],
                plays[g, other],
                left_out,
                mirrored,
                scalars[g, seat],
            )


@kernel
def prospects(head, players, entities, counts, over, playable, places):
    """Which hand slots could be paid, and a key of all that decides where cards may be put.

    playable (N, 2, 4) uint8; places (N,) uint64: a hash of the towers and buildings that stand.
    """
    for g in range(head.shape[0]):
        for seat in range(2):
            mine = players[g, seat]
            left = mine[P_ELIXIR] - 1000 * mine[P_PENDING_COST]
            asleep = over[g] or head[g, GAME_OVER] or head[g, TICK] < LOCKOUT
            for k in range(SLOTS):
                cost = mine[P_COST + k]
                playable[g, seat, k] = not asleep and cost >= 0 and 1000 * cost <= left
        key = np.uint64(0xCBF29CE484222325)
        for j in range(min(counts[g, 0], MOST_ENTITIES)):
            e = entities[g, j]
            if e[E_KIND] == 0 and e[E_BOX] == NONE:
                continue
            # Each part below 2^20 and not negative, but for the box of a thing without one.
            part = np.uint64(e[E_TEAM] + 2 * e[E_KIND])
            part = (part << np.uint64(20)) ^ np.uint64(e[E_X])
            part = (part << np.uint64(20)) ^ np.uint64(e[E_Y])
            key = (key ^ part) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
            key = (key ^ np.uint64(e[E_BOX] - NONE)) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
        places[g] = key


@kernel
def potentials(players, entities, counts, unit_worth, out):
    """Write the shaping potentials (N, 2, 3); unit_worth: see `engine.unit_worth`."""
    for g in range(players.shape[0]):
        crowns = (players[g, 0, P_CROWNS] - players[g, 1, P_CROWNS]) / 3.0
        lead, worth = 0.0, 0.0
        for team in range(2):
            sign = 1 - 2 * team
            worth += sign * players[g, team, P_ELIXIR] / 1000.0
            for k in range(3):
                full = max(players[g, team, P_TOWER_MAX + k], 1)
                share = players[g, team, P_TOWER + k] / full
                lead += sign * share * (KING_WEIGHT if k == 0 else PRINCESS_WEIGHT)
        for j in range(min(counts[g, 0], MOST_ENTITIES)):
            e = entities[g, j]
            if e[E_CARD] >= 0:
                share = e[E_HP] / max(e[E_MAX], 1)
                worth += (1 - 2 * e[E_TEAM]) * share * unit_worth[e[E_CARD], e[E_TYPE]]
        worth = min(1.0, max(-1.0, worth / 10.0))
        for seat in range(2):
            sign = 1 - 2 * seat
            out[g, seat, 0], out[g, seat, 1] = sign * crowns, sign * lead
            out[g, seat, 2] = sign * worth
