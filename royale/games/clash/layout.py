"""Names of the positions in the observation arrays, and the arena's measures. Imports nothing.

A stored observation is a list of the things on the board, one row each, not a picture of it:
a battle shows about ten things, and a picture of 576 cells would hold mostly zeros. `planes`
scatters the list to the board on the learner's device.
"""

HEIGHT, WIDTH = 32, 18  # tiles; row 0 is the seat's own back line
TILES = HEIGHT * WIDTH
SUBTILES = 18000  # the engine's units a tile
STEP = SUBTILES // 16  # positions are stored to the nearest sixteenth of a tile
SLOTS = 4  # of the hand
BUTTONS = 3  # abilities of champions
DECK = 8
N_CARDS = 145  # of the engine's catalogue
N_UNITS = 237  # types of units

# Rows of the codes: the things, then what this seat holds, then what it saw of the other.
THINGS = 40
OWN, OTHER = THINGS, THINGS + 1
ROWS = THINGS + 2

# Bytes of a thing's row.
THING = (
    "kind",  # see KINDS; 0 is an empty row, and all rows behind it are empty
    "enemy",  # 1 the opponent's
    "type",  # unit type; of spells and pending plays the card id
    "card",  # 1 + id of the card whose play made it; 0 none
    "column",  # tile, in the seat's frame ..
    "row",
    "part",  # .. and sixteenths of a tile to the right (low four bits) and forward
    "hp",  # hitpoints / 20, rounded up, clipped to 255
    "hp_share",  # of the full hitpoints, 0..255, rounded up
    "timers",  # ticks / 2 rounded up, to 15: deploying or pending (low four bits), stunned
    "flags",  # bits FLAGS
    "right",  # heading: 128 + 127 * component
    "forward",
    "charge",  # permille / 4
    "shield",  # hitpoints / 8, rounded up, clipped to 255
    "buffs",  # how many are on it
)
(KIND, ENEMY, TYPE, CARD, COLUMN, ROW, PART, HP, HP_SHARE, TIMERS, FLAG, RIGHT, FORWARD, CHARGE) = (
    range(14)
)
SHIELD, BUFFS = 14, 15
BYTES = len(THING)
KINDS = ("empty", "troop", "building", "king", "princess", "spell", "pending")
EMPTY, TROOP, BUILDING, KING, PRINCESS, SPELL, PENDING = range(7)
FLAGS = (
    "winding up",  # of an attack
    "cooling down",
    "flying",
    "charged",
    "ability",  # winding up or active
    "hidden",  # underground, invisible or in hiding
    "pushed",
    "tower",  # attacks a crown tower
)

# Bytes of row OWN: cards as 1 + id, 0 none.
HAND, NEXT, OWN_DECK, ABILITY = 0, 4, 5, 13  # 4, 1, 8 and 3 bytes
# Bytes of row OTHER: the opponent's cards in the order first seen, and how many of its plays
# lie behind the last play of each (255: none seen).
SEEN, SINCE = 0, 8

SCALARS = (
    "elixir",  # own, / 10
    "pending_cost",  # elixir of own plays that have not landed yet, / 10
    "enemy_elixir",  # / 10, counted from the plays seen
    "elixir_rate",  # 1, 2 or 3 times, / 3
    "time",  # ticks / ticks of regular time, to 1
    "overtime",  # 1 in overtime
    "overtime_time",  # ticks of overtime / ticks it lasts, to 1
    "opening",  # ticks until the first play is allowed / 90
    "cost_0",  # of the card in each hand slot, / 10; 0 where none
    "cost_1",
    "cost_2",
    "cost_3",
    "waiting_0",  # 1: the slot's card is played already, and has not landed yet
    "waiting_1",
    "waiting_2",
    "waiting_3",
    "own_king",  # hitpoints as a share of the full ones
    "own_left",
    "own_right",
    "enemy_king",
    "enemy_left",
    "enemy_right",
    "own_king_active",
    "enemy_king_active",
    "own_crowns",  # / 3
    "enemy_crowns",
    "enemy_plays",  # seen so far, / 40, to 1
    "left_out",  # things that did not fit in the list, / 16
)
MIRRORED_SCALARS = (("own_left", "own_right"), ("enemy_left", "enemy_right"))

ACTION_PLANES = ("slot_0", "slot_1", "slot_2", "slot_3")
GLOBAL_ACTIONS = ("pass", "ability_0", "ability_1", "ability_2")
PASS = SLOTS * TILES
N_ACTIONS = PASS + 1 + BUTTONS
SYMMETRIES = ("identity", "mirror")
POTENTIALS = ("crowns", "tower_hp", "elixir")
STATISTICS = (
    "cards",  # played
    "pass_share",  # of the decisions where something else was legal
    "elixir",  # mean when deciding
    "leaked_share",  # of the decisions, with a full bar
    "crowns",
)

# Of the state as `scan` reads it. Head of a battle:
TICK, TICK_MS, REGULAR, OVERTIME_TICKS, RATE, IN_OVERTIME, GAME_OVER, WINNER = range(8)
N_HEAD = 8
# A player:
P_ELIXIR, P_HAND, P_COST, P_MIRROR, P_DECK, P_PENDING_COST = 0, 1, 5, 9, 10, 18
P_PENDINGS, P_PENDING = 19, 20  # number, then up to 4 of card, x, y, ticks
P_ABILITIES, P_ABILITY = 36, 37  # number, then up to 3 of ready, cost
P_NEXT, P_CROWNS, P_TOWER, P_TOWER_MAX, P_ACTIVE = 43, 44, 45, 48, 51
N_PLAYER = 52
# An entity and a spell: the columns that are used, of the engine's own.
(
    E_UID,
    E_TEAM,
    E_KIND,
    E_CARD,
    E_SLOT,
    E_X,
    E_Y,
    E_HP,
    E_MAX,
    E_FLYING,
    E_DEPLOY,
    E_STUN,
    E_KNOCK,
    E_BOX,  # its left side; NONE where the thing has no footprint
    E_TARGET,
    E_PHASE,
    E_FX,
    E_FY,
    E_SHIELD,
    E_BUFFS,
    E_FLAGS,
    E_CHARGE,
    E_TYPE,
) = range(23)
N_ENTITY = 23
S_TEAM, S_CARD, S_MOTION, S_X, S_Y, S_AIM_X, S_AIM_Y, S_DELAY = range(8)
N_SPELL = 8
MOST_ENTITIES, MOST_SPELLS = 128, 32
NONE = -(1 << 30)

# Bits of an entity's status flags, and the motion of a spell that has not begun.
UNDERGROUND, INVISIBLE, IN_HIDING, ABILITY_BITS, CHARGED, GROUNDED = 1, 2, 4, 192, 256, 512
SCHEDULED = 7
