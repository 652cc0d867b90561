"""onnxruntime-web from the npm registry: what runs a network in a browser."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from royale.errors import RoyaleError
from royale.files import write_bytes

# A new version: change both; `npm view onnxruntime-web@VERSION dist.integrity` tells the second.
PACKAGE = "onnxruntime-web@1.30.0"
INTEGRITY = (
    "sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7sv"
    "Nc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
)
# Of all that is in the package: the CPU runtime, for one thread or several.
MODULE = "package/dist/ort.wasm.bundle.min.mjs"
WASM = "package/dist/ort-wasm-simd-threaded.wasm"


def fetch(module: Path, wasm: Path) -> None:
    """Write the runtime's two files; RoyaleError if npm is missing or gives another package."""
    npm = shutil.which("npm")
    if npm is None:
        raise RoyaleError(
            "npm is not installed, and the page needs onnxruntime-web from its registry: "
            "install it (Debian: apt-get install npm) and run again"
        )
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [npm, "pack", PACKAGE, "--pack-destination", folder],
            capture_output=True,
            text=True,
        )
        found = list(Path(folder).glob("*.tgz"))
        if done.returncode or len(found) != 1:
            said = [line for line in done.stderr.splitlines() if "npm error" in line]
            reason = said[0] if said else f"exit code {done.returncode}"
            raise RoyaleError(f"npm pack {PACKAGE}: {reason}; is the registry within reach?")
        check(found[0])
        with tarfile.open(found[0]) as archive:
            for name, path in ((MODULE, module), (WASM, wasm)):
                write_bytes(path, archive.extractfile(name).read())


def check(package: Path, integrity: str = INTEGRITY) -> None:
    """Refuse a package whose bytes are not the pinned ones (RoyaleError)."""
    digest = hashlib.sha512(package.read_bytes()).digest()
    found = "sha512-" + base64.b64encode(digest).decode()
    if found != integrity:
        raise RoyaleError(
            f"{PACKAGE}: the registry's package is not the pinned one: its integrity is "
            f"{found[:24]}..., royale/play/runtime.py says {integrity[:24]}..."
        )
