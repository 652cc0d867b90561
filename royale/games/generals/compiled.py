"""How the kernels are compiled."""

from __future__ import annotations

from numba import njit

# Kernels allocate nothing, so they need no reference counts: counting the
# slices of one turn costs six times the turn. nogil lets threads share a core's
# wait, and error_model spares a test for zero before each division. numba's
# cache looks at a kernel's own file alone: after a change of the numbers in
# `layout` or `settings`, touch the files of the kernels.
kernel = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
