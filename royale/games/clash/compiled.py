"""How the kernels are compiled."""

from __future__ import annotations

from numba import njit

# nogil, so that threads could share the work; numba's cache looks at a kernel's own file alone:
# after a change of the numbers in `layout`, touch the files of the kernels.
kernel = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
