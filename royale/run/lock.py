"""One run at a time in a results folder, and a killed run never blocks the next.

Snakemake's own lock outlives a `kill -9`; this one is held by the kernel for as
long as the process lives.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from royale.errors import RoyaleError


def hold(folder: str | Path) -> IO[str]:
    """Take the lock of a folder until the process ends (keep the returned file).

    RoyaleError names the process that has it.
    """
    path = Path(folder) / ".lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "a+", encoding="utf-8")  # noqa: SIM115  (open until the process ends)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        holder = file.read().strip() or "another process"
        raise RoyaleError(
            f"{holder} is running in {folder}; wait for it, or stop it, or use another profile"
        ) from None
    file.truncate(0)
    file.write(f"process {os.getpid()}")
    file.flush()
    return file
