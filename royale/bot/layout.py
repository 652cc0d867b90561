"""Positions and bits of the codes that the network's planes are made from.

These are the engine's (`royale.games.generals.layout`), said again here so that
the bot stands alone; a test compares the codes of whole games byte by byte.
"""

from __future__ import annotations

SIGHT, UNITS, ARMY_LOW, ARMY_HIGH, PRICE, MOVES, MEMORY, LAST_LOW, LAST_HIGH, AGE, CHANGE = range(
    11
)
N_CODES = 11
MOVE_PLANES = 4  # up, down, left, right; then the same for half the army, then build
N_ACTION_PLANES = 9
N_SCALARS = 14
NEVER = 255  # age of a cell that was never in sight
NO_CHANGE = 128
MAX_ARMY = 32767
MAX_PRICE = 255
