"""The machine: its cores, the device asked for, where results are written, what it costs."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

import torch

from royale.preflight.checks import MB, Check


def usable_cores() -> int:
    """Cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def machine_checks(device: str, threads: int, folder: Path, processes: int = 1) -> list[Check]:
    """Look at the machine: Python, cores, the device asked for, disk, the results folder."""
    checks = [
        Check("python", "ok", platform.python_version()),
        Check("torch", "ok", torch.__version__),
    ]
    cores = usable_cores()
    few = threads > cores
    checks.append(
        Check(
            "cores",
            "warning" if few else "ok",
            f"{cores} cores, {threads} threads a segment",
            f"set threads.train to {cores}; more threads than cores only wait" if few else "",
        )
    )
    if device == "cuda" and not torch.cuda.is_available():
        checks.append(
            Check(
                "device",
                "refused",
                "cuda asked for, no GPU found",
                "set device: cpu in the profile, or use a machine with a GPU",
            )
        )
    elif device == "cuda" and torch.cuda.device_count() < processes:
        checks.append(
            Check(
                "device",
                "refused",
                f"{processes} processes asked for, {torch.cuda.device_count()} GPUs found",
                f"set processes: {torch.cuda.device_count()}; each needs a GPU of its own",
            )
        )
    else:
        found = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "cpu"
        checks.append(Check("device", "ok", f"{device} asked for, found {found}"))
    folder.mkdir(parents=True, exist_ok=True)
    writable = os.access(folder, os.W_OK)
    checks.append(
        Check(
            "results",
            "ok" if writable else "refused",
            str(folder),
            "" if writable else "make the folder writable",
        )
    )
    free = shutil.disk_usage(folder).free / MB
    low = free < 500
    checks.append(
        Check(
            "disk", "refused" if low else "ok", f"{free:,.0f} MB free", "free 500 MB" if low else ""
        )
    )
    return checks


def price_check(price: float, currency: str, runtime: int) -> Check:
    """Refuse a rented machine without a price; tell the cost of an attempt of `runtime` minutes."""
    if not price > 0:
        return Check(
            "price", "refused", f"{price:g} {currency} an hour", "set price_per_hour in the profile"
        )
    most = price * runtime / 60
    found = f"{price:g} {currency} an hour, at most {most:.2f} {currency} an attempt of a job"
    return Check("price", "ok", found)
