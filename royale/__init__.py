"""Royale: which change really made the self-play bot stronger."""

import os

# OpenMP's threads wait for more work by spinning, for milliseconds, on cores that the games'
# threads and workers need by then: 8 % of a Clash iteration on two cores. A wait of this length
# still bridges the pauses within a network's pass. It is read once, when torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

__version__ = "0.1.0"
