"""An entropy floor held by a control loop, not by a constant bonus."""

from __future__ import annotations

SMALLEST = 1e-5  # of the coefficient: no influence on training
LARGEST = 0.3
RISE = 1.3  # an iteration below the floor
FALL = 0.8  # an iteration above it


def next_coefficient(coefficient: float, entropy: float, floor: float) -> float:
    """The entropy bonus's coefficient for the next iteration.

    entropy: the iteration's mean normalised entropy (0..1). Below the floor the
    coefficient grows by RISE, else it shrinks by FALL down to a negligible value: a
    policy that keeps clear of the floor is not pushed at all.
    """
    factor = RISE if entropy < floor else FALL
    return min(LARGEST, max(SMALLEST, coefficient * factor))
