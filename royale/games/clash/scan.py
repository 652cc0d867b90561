"""From the engine's JSON to integers, without an object a field.

The engine gives its state as JSON text only. Its keys and columns always come in the same
order (`engine` checks them at the start), so the text is cut into a row of integers, and these
are read by position.
"""

from __future__ import annotations

import numpy as np

from royale.games.clash.compiled import kernel
from royale.games.clash.layout import (
    E_BOX,
    E_BUFFS,
    E_CHARGE,
    E_FLAGS,
    E_FLYING,
    E_FX,
    E_FY,
    E_PHASE,
    E_SHIELD,
    E_TARGET,
    E_TYPE,
    MOST_ENTITIES,
    MOST_SPELLS,
    N_ENTITY,
    N_HEAD,
    N_PLAYER,
    N_SPELL,
    NONE,
    P_ABILITIES,
    P_ABILITY,
    P_ACTIVE,
    P_COST,
    P_CROWNS,
    P_DECK,
    P_ELIXIR,
    P_HAND,
    P_MIRROR,
    P_NEXT,
    P_PENDING,
    P_PENDING_COST,
    P_PENDINGS,
    P_TOWER,
    P_TOWER_MAX,
)

QUOTE, COLON, OPEN, CLOSE, MINUS, ESCAPE = 34, 58, 91, 93, 45, 92
# Tokens of where a list begins and ends; all others are values.
BEGIN, END = NONE - 1, NONE - 2
MOST_TOKENS = 1 << 15


class Scanned:
    """What was read of N battles; the columns are named in `layout`.

    head (N, 8), players (N, 2, 52), entities (N, 128, 23) and spells (N, 32, 8), int32;
    counts (N, 2) int32 of entities and of spells, which may be more than there is room for.
    overrides: how many numbers of the engine's calibration are overridden; a state ends with them.
    """

    def __init__(self, n: int, overrides: int = 0) -> None:
        self._overrides = overrides
        self.head = np.zeros((n, N_HEAD), np.int32)
        self.players = np.zeros((n, 2, N_PLAYER), np.int32)
        self.entities = np.zeros((n, MOST_ENTITIES, N_ENTITY), np.int32)
        self.spells = np.zeros((n, MOST_SPELLS, N_SPELL), np.int32)
        self.counts = np.zeros((n, 2), np.int32)
        self._tokens = np.zeros(MOST_TOKENS, np.int32)

    def read(self, texts: list[bytes], games: np.ndarray) -> None:
        """Read the states `texts` of `games` (M,). ValueError where one is not as expected."""
        ends = np.cumsum([len(text) for text in texts])
        bad = scan_all(
            np.frombuffer(b"".join(texts), np.uint8),
            ends,
            games,
            self._tokens,
            self._overrides,
            self.head,
            self.players,
            self.entities,
            self.spells,
            self.counts,
        )
        if bad >= 0:
            raise ValueError(f"a state of the engine cannot be read: {texts[bad][:200]!r}")


@kernel
def _cut(text, start, end, tokens):
    """Cut text[start:end] into tokens; how many, or -1 where there are too many.

    Keys are left out; true is 1, false 0, null NONE, and a string that is no key 0.
    """
    i, n = start, 0
    while i < end:
        byte = text[i]
        i += 1
        if n >= tokens.shape[0]:
            return -1
        if 48 <= byte <= 57 or byte == MINUS:
            number = 0 if byte == MINUS else byte - 48
            while i < end and 48 <= text[i] <= 57:
                number = number * 10 + (text[i] - 48)
                i += 1
            tokens[n] = -number if byte == MINUS else number
            n += 1
        elif byte in (OPEN, CLOSE):
            tokens[n] = BEGIN if byte == OPEN else END
            n += 1
        elif byte == QUOTE:
            while i < end and text[i] != QUOTE:
                i += 2 if text[i] == ESCAPE else 1
            i += 1
            if i < end and text[i] != COLON:
                tokens[n] = 0
                n += 1
        elif byte == 116 or byte == 102 or byte == 110:  # true, false, null
            tokens[n] = 1 if byte == 116 else (0 if byte == 102 else NONE)
            n += 1
            i += 4 if byte == 102 else 3
    return n


@kernel
def _behind(tokens, i):
    """The place behind the list that begins at i."""
    depth = 0
    while True:
        depth += (tokens[i] == BEGIN) - (tokens[i] == END)
        i += 1
        if depth == 0:
            return i


@kernel
def _player(tokens, i, out):
    """One player, whose first token (the team) is at i; the place behind."""
    out[P_ELIXIR] = tokens[i + 1]
    i += 3
    for k in range(4):
        out[P_HAND + k], out[P_COST + k] = tokens[i + k], tokens[i + 6 + k]
    out[P_MIRROR] = tokens[i + 11]
    i += 13
    for k in range(8):
        out[P_DECK + k] = tokens[i + k]
    i = _behind(tokens, i + 9)  # forms
    out[P_PENDING_COST] = tokens[i]
    i += 2
    n = 0
    while tokens[i] == BEGIN:  # pending: kind, card, x, y, ticks left, cost
        if tokens[i + 1] == 0 and n < 4:
            for k in range(4):
                out[P_PENDING + 4 * n + k] = tokens[i + 2 + k]
            n += 1
        i = _behind(tokens, i)
    out[P_PENDINGS] = n
    i = _behind(tokens, i + 1) + 1  # evo
    n = 0
    while tokens[i] == BEGIN:  # abilities: ready, spent, cost, card, ticks
        if n < 3:
            out[P_ABILITY + 2 * n], out[P_ABILITY + 2 * n + 1] = tokens[i + 1], tokens[i + 3]
            n += 1
        i = _behind(tokens, i)
    out[P_ABILITIES] = n
    out[P_NEXT], out[P_CROWNS] = tokens[i + 1], tokens[i + 2]
    for k in range(3):
        out[P_TOWER + k], out[P_TOWER_MAX + k] = tokens[i + 4 + k], tokens[i + 9 + k]
    out[P_ACTIVE] = tokens[i + 13]
    return i + 14


@kernel
def _entity(tokens, i, out):
    """One entity, whose list begins at i; the place behind, or -1."""
    i += 1
    for k in range(9):  # uid .. max_hp
        out[k] = tokens[i + k]
    for k in range(4):  # flying .. knockback_ticks
        out[E_FLYING + k] = tokens[i + 10 + k]
    i += 14
    if tokens[i] == BEGIN:
        out[E_BOX] = tokens[i + 1]
        i = _behind(tokens, i)
    else:
        out[E_BOX] = NONE
        i += 1
    out[E_TARGET], out[E_PHASE] = tokens[i], tokens[i + 1]
    out[E_FX], out[E_FY], out[E_SHIELD] = tokens[i + 3], tokens[i + 4], tokens[i + 6]
    i += 8
    n = 0
    while tokens[i] != END:
        n += 1
        i = _behind(tokens, i)
    out[E_BUFFS], out[E_FLAGS] = n, tokens[i + 1]
    out[E_CHARGE], out[E_TYPE] = tokens[i + 4], tokens[i + 8]
    return i + 10 if tokens[i + 9] == END else -1


@kernel
def _scan(tokens, head, players, entities, spells, counts):
    """One state from its tokens; how many they were, or -1."""
    for k in range(N_HEAD):
        head[k] = tokens[k]
    i = N_HEAD + 1
    for team in range(2):
        i = _player(tokens, i, players[team])
    i += 2
    n = 0
    while tokens[i] == BEGIN:
        if n < MOST_ENTITIES:
            i = _entity(tokens, i, entities[n])
            if i < 0:
                return -1
        else:
            i = _behind(tokens, i)
        n += 1
    counts[0] = n
    i += 2
    n = 0
    while tokens[i] == BEGIN:
        if n < MOST_SPELLS:
            for k in range(N_SPELL):
                spells[n, k] = tokens[i + 1 + k]
        i = _behind(tokens, i)
        n += 1
    counts[1] = n
    return _behind(tokens, i + 1)  # projectiles


@kernel
def scan_all(text, ends, games, tokens, overrides, head, players, entities, spells, counts):
    """States of `games` that lie one behind the other in `text`; -1, or the first bad one."""
    start = 0
    for k in range(games.shape[0]):
        g = games[k]
        n = _cut(text, start, ends[k], tokens)
        if n < 0:
            return k
        read = _scan(tokens, head[g], players[g], entities[g], spells[g], counts[g])
        if read + overrides != n:
            return k
        start = ends[k]
    return -1
