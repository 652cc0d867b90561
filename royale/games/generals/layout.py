"""Names of the positions in the state and observation arrays. Imports nothing.

State of a game: `table` (one int32 row of the columns below) and, per cell of
the canvas, `owner` int8 (-1 neutral, 0, 1), `army` int32, `kind` uint8 (bits
below), `price` int32 (2,) and the list of `structures` (cells of the generals,
then of the castles in the order built).
"""

# Columns of `table`. Those marked 2 have one column a seat.
TIME = 0
WINNER = 1
OVER = 2
TRUNCATED = 3
HEIGHT = 4
WIDTH = 5
STRUCTURES = 6  # length of the list of structures
OBSERVED = 7  # the turn that memory is up to date with, -1 none
GENERAL = 8  # 2: cell
LAND = 10  # 2: cells owned
ARMY = 12  # 2: sum of armies
CASTLES = 14  # 2: castles owned
BUILDS = 16  # 2: castles built so far
SOURCE = 18  # 2: cell of the last order carried out, -1 none
TARGET = 20  # 2: the cell it went to (a build: the same cell)
COLUMNS = 22

# Bits of `kind`. Padding is mountain outside the board.
MOUNTAIN = 1
CASTLE = 2
IS_GENERAL = 4
INSIDE = 8

# Code bytes of an observation, per cell, in the seat's frame. Codes 6 to 10 are
# the seat's memory and are stored with the state.
CODES = (
    "sight",  # bits SIGHT_BITS: what is seen now
    "units",  # bits UNIT_BITS: conjunctions of these that a player needs
    "army_low",  # army in sight, clipped to 32767, low byte
    "army_high",
    "price",  # price of a castle here for this seat, clipped to 255
    "moves",  # bits MOVE_BITS
    "memory",  # bits MEMORY_BITS
    "last_army_low",  # army when last in sight (now, if in sight)
    "last_army_high",
    "age",  # turns since in sight, clipped to 254; 255 never seen
    "change",  # 128 + army less army one turn ago, where both were in sight, clipped to +-127
)
SIGHT, UNITS, ARMY_LOW, ARMY_HIGH, PRICE, MOVES, MEMORY, LAST_LOW, LAST_HIGH, AGE, CHANGE = range(
    11
)
N_CODES = 11
N_MEMORY = 5

SIGHT_BITS = (
    "inside",
    "visible",
    "own",
    "opponent",
    "mountain",
    "castle",
    "general",
    "structure_in_fog",
)
UNIT_BITS = (
    "own_castle",
    "opponent_castle",
    "own_general",
    "opponent_general",
    "neutral",
    "fog",
    "can_move",
    "can_build",
)
MOVE_BITS = (
    "move_up",
    "move_down",
    "move_left",
    "move_right",
    "known_mountain",
    "castle_in_fog",
    "hideout",
    "general_known",
)
MEMORY_BITS = ("seen", "last_opponent", "last_own", "gained", "lost", "source", "target")

SCALARS = (
    "own_land",  # share of the board's cells
    "opponent_land",
    "own_army",  # log1p(army) / 8
    "opponent_army",
    "time",  # turns / max_turns
    "phase_2",  # 1 when the turn to be played ends with growth of structures
    "phase_50",  # (turns mod 50) / 50
    "deathtouch",  # 1 when a touch wins on the turn to be played
    "deathtouch_in",  # turns until then / deathtouch_turn
    "castles",  # log1p(castles owned) / 3
    "height",  # rows of the board as seen in the frame / side of the canvas
    "width",
    "land_lead",  # (own - opponent) / (own + opponent)
    "army_lead",
)
ACTION_PLANES = (
    "move_up",
    "move_down",
    "move_left",
    "move_right",
    "half_up",
    "half_down",
    "half_left",
    "half_right",
    "build",
)
GLOBAL_ACTIONS = ("pass",)
POTENTIALS = ("land", "army")
STATISTICS = ("castles", "land", "army", "builds")
