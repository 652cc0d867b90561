"""A whole Slurm on this machine, on loopback: no systemd, no cgroups, no accounting.

    python tests/cluster/slurm_node.py install    as root on Debian: slurm-wlm and munge

`running(folder)` starts munged, slurmctld and slurmd with all their state in a folder and
ends them again. It needs root, since slurmd does, and /etc/slurm/slurm.conf to be its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
# A job's srun finds the configuration only where it was compiled to look: the executor
# plugin takes SLURM_* out of a job's environment.
SYSTEM_CONFIG = Path("/etc/slurm/slurm.conf")
POLICY = Path("/usr/sbin/policy-rc.d")

CONFIG = """\
ClusterName=one
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmctldPort={port}
SlurmdPort={next_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
MinJobAge=3600
KillWait={kill_wait}
PropagateResourceLimits=NONE
GresTypes=gpu
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} Gres=gpu:1 State=UNKNOWN
PartitionName=local Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """Why there can be no Slurm here, or None."""
    there = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    absent = [name for name in PROGRAMS if shutil.which(name, path=there) is None]
    if absent:
        return f"no {', '.join(absent)}: python tests/cluster/slurm_node.py install"
    if os.geteuid() != 0:
        return "slurmd needs root"
    if SYSTEM_CONFIG.exists():
        return f"{SYSTEM_CONFIG} is another Slurm's"
    return None


def install() -> None:
    """Install the Debian packages without starting their services."""
    held = not POLICY.exists()
    if held:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
    try:
        env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True, env=env)
        words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]
        subprocess.run([*words, "slurm-wlm", "munge"], check=True, env=env)
    finally:
        if held:
            POLICY.unlink()


def _configure(folder: Path, port: int, kill_wait: int) -> None:
    for name in ("munge", "state", "spool", "dev"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "munge").chmod(0o700)
    key = folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    text = CONFIG.format(
        folder=folder,
        port=port,
        next_port=port + 1,
        kill_wait=kill_wait,
        cpus=os.cpu_count(),
        memory=int(psutil.virtual_memory().total / 2**20 * 0.9),
    )
    (folder / "slurm.conf").write_text(text)
    # a GPU is counted only if it has a file; any does
    (folder / "dev" / "gpu0").touch()
    gres = f"AutoDetect=off\nNodeName=localhost Name=gpu File={folder}/dev/gpu0\n"
    (folder / "gres.conf").write_text(gres)


def _stop(pid_file: Path) -> None:
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        daemon = psutil.Process(int(pid_file.read_text()))
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(20)


@contextlib.contextmanager
def running(folder: Path, port: int = 16817, kill_wait: int = 120) -> Iterator[Path]:
    """A Slurm with one partition, `local`; yields its folder.

    kill_wait: seconds from SIGTERM to SIGKILL.
    """
    _configure(folder, port, kill_wait)
    SYSTEM_CONFIG.parent.mkdir(exist_ok=True)
    SYSTEM_CONFIG.symlink_to(folder / "slurm.conf")
    env = os.environ | {
        "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        "SLURM_CONF": str(folder / "slurm.conf"),  # and gres.conf beside it
    }
    munge = folder / "munge"
    try:
        subprocess.run(
            [
                *("munged", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket"),
                *(f"--pid-file={folder}/munged.pid", f"--log-file={munge}/log"),
                f"--seed-file={munge}/seed",
            ],
            check=True,
            env=env,
        )
        subprocess.run(["slurmctld", "-c"], check=True, env=env)
        subprocess.run(["slurmd", "-N", "localhost", "-c"], check=True, env=env)
        for _ in range(240):
            found = subprocess.run(
                ["sinfo", "-h", "-o", "%t"], capture_output=True, text=True, env=env
            )
            if found.stdout.strip() == "idle":
                break
            time.sleep(0.5)
        else:
            raise RuntimeError(f"the node did not become idle; see {folder}/slurmd.log")
        yield folder
    finally:
        for name in ("slurmd", "slurmctld", "munged"):
            _stop(folder / f"{name}.pid")
        SYSTEM_CONFIG.unlink()


if __name__ == "__main__":
    if sys.argv[1:] != ["install"]:
        sys.exit(__doc__)
    install()
