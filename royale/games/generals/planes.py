"""From codes to the planes that a net sees: the table of planes, and `expand`.

Nothing is normalised later, so each plane is scaled to about 0..1. torch is
imported on first use: the names alone must be cheap to read.
"""

from __future__ import annotations

from typing import Any

from royale.games.generals.layout import (
    AGE,
    ARMY_HIGH,
    ARMY_LOW,
    CHANGE,
    LAST_HIGH,
    LAST_LOW,
    MEMORY,
    MOVES,
    PRICE,
    SIGHT,
    UNITS,
)

# Plane by plane, in order: name -> meaning. "In sight" is the 3x3 block around
# any own cell (spec section 10).
BASE: dict[str, str] = {
    # bits of code `sight`
    "inside": "the cell is on the board, not padding",
    "visible": "in sight",
    "own": "owned by this seat",
    "opponent": "in sight and owned by the opponent",
    "mountain": "mountain in sight (padding counts as mountain)",
    "castle": "castle in sight, whoever owns it",
    "general": "general in sight, whoever owns it",
    "structure_in_fog": "out of sight, mountain or castle",
    # bits of code `units`
    "own_castle": "castle owned by this seat",
    "opponent_castle": "castle in sight owned by the opponent",
    "own_general": "this seat's general",
    "opponent_general": "the opponent's general, in sight",
    "neutral": "in sight, unowned, not a mountain",
    "fog": "out of sight, neither mountain nor castle",
    "can_move": "some move from here is legal",
    "can_build": "a castle may be built here now",
    # numbers a cell
    "own_army": "log1p(army) / 5 where owned by this seat",
    "opponent_army": "log1p(army) / 5 of other cells in sight",
    "own_army_linear": "min(army, 50) / 50 where owned by this seat",
    "opponent_army_linear": "min(army, 50) / 50 of other cells in sight",
    "price": "price of a castle here for this seat, clipped to 255, / 50",
    # scalars, the same in every cell; see layout.SCALARS
    "own_land": "own share of the board's cells",
    "opponent_land": "the opponent's share of the board's cells",
    "own_total": "log1p(own army in all) / 8",
    "opponent_total": "log1p(the opponent's army in all) / 8",
    "time": "turns played / max_turns",
    "phase_2": "1 when this turn ends with growth of structures",
    "phase_50": "(turns mod 50) / 50; growth of all land ends the 50th",
    "deathtouch": "1 when a touch wins on this turn",
    "deathtouch_in": "turns until then / deathtouch_turn",
    "castles": "log1p(castles owned) / 3",
}
HISTORY: dict[str, str] = {
    # bits of code `moves`
    "known_mountain": "mountain, in sight or not (the first frame gives all away)",
    "castle_in_fog": "structure in fog that is no mountain: a castle of the opponent",
    "hideout": "on the board, no mountain, never in sight: where a general can be",
    "general_known": "the opponent's general, seen at some time",
    # bits of code `memory`
    "seen": "was in sight at some time",
    "last_opponent": "owned by the opponent when last in sight",
    "last_own": "owned by this seat when last in sight",
    "gained": "owned by this seat, but not one turn ago",
    "lost": "owned by this seat one turn ago, not now",
    "source": "where the previous move came from, or the previous castle was built",
    "target": "where the previous move went, or the previous castle was built",
    # numbers a cell
    "last_army": "log1p(army when last in sight) / 5, out of sight only",
    "age": "turns since in sight / 255; 1 never",
    "change": "sign(x) log1p(|x|) / 5, x the army's change in a turn, in sight both times",
}
ENCODERS: dict[str, dict[str, str]] = {"base": BASE, "history": {**BASE, **HISTORY}}
N_BITS = 16  # planes from the two bytes of bits
N_BASE_NUMBERS = 5
N_BASE_SCALARS = len(BASE) - N_BITS - N_BASE_NUMBERS


def expand(codes: Any, scalars: Any, encoder: str) -> Any:
    """codes torch.uint8 (B, C, H, W), scalars float32 (B, S) -> float32 (B, P, H, W)."""
    import torch

    batch, _, height, width = codes.shape
    shape = (batch, len(ENCODERS[encoder]), height, width)
    out = torch.empty(shape, dtype=torch.float32, device=codes.device)
    shifts = torch.arange(8, dtype=torch.uint8, device=codes.device)[:, None, None]
    out[:, :8] = (codes[:, SIGHT : SIGHT + 1] >> shifts) & 1
    out[:, 8:16] = (codes[:, UNITS : UNITS + 1] >> shifts) & 1
    army = codes[:, ARMY_LOW].float() + codes[:, ARMY_HIGH].float() * 256
    own = out[:, 2]
    log_army = torch.log1p(army) / 5
    linear = army.clamp(max=50) / 50
    torch.mul(log_army, own, out=out[:, 16])
    torch.sub(log_army, out[:, 16], out=out[:, 17])
    torch.mul(linear, own, out=out[:, 18])
    torch.sub(linear, out[:, 18], out=out[:, 19])
    out[:, 20] = codes[:, PRICE].float() / 50
    out[:, 21:31] = scalars[:, :N_BASE_SCALARS, None, None]
    if encoder == "history":
        out[:, 31:35] = (codes[:, MOVES : MOVES + 1] >> shifts[4:]) & 1
        out[:, 35:42] = (codes[:, MEMORY : MEMORY + 1] >> shifts[:7]) & 1
        last = codes[:, LAST_LOW].float() + codes[:, LAST_HIGH].float() * 256
        out[:, 42] = torch.log1p(last) / 5 * (1 - out[:, 1])
        out[:, 43] = codes[:, AGE].float() / 255
        change = codes[:, CHANGE].float() - 128
        out[:, 44] = change.sign() * torch.log1p(change.abs()) / 5
    return out
