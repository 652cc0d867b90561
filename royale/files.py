"""The files that pass between rules: read with a clear error, written whole or not at all.

Every kind of JSON file has a schema in `workflow/schemas/files/`; what is written
is checked against it first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

from royale.errors import RoyaleError
from royale.schemas import schema

# a segment's files are trained anew only if no good copy is kept
RESTORE = "bring it back from a copy, or delete it and run again"


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file under a temporary name and rename it: whole or not at all.

    RoyaleError names the file and the system's reason (a full disk, say).
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise RoyaleError(f"{path}: cannot be written ({error.strerror})") from None


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode())


def write_json(path: str | Path, value: Mapping[str, Any], kind: str) -> None:
    """Check a value against the file schema of its kind and write it.

    A value that does not fit is a fault of the program (jsonschema.ValidationError).
    """
    jsonschema.validate(value, schema(f"files/{kind}"))
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def read_json(path: str | Path, kind: str) -> dict[str, Any]:
    """Read a JSON file of a kind; RoyaleError names the file and what is wrong."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
        jsonschema.validate(value, schema(f"files/{kind}"))
    except OSError as error:
        raise RoyaleError(f"{path}: cannot be read ({error.strerror})") from None
    except json.JSONDecodeError as error:
        raise RoyaleError(f"{path}: not JSON ({error}); delete it and run again") from None
    except (UnicodeDecodeError, RecursionError):
        raise RoyaleError(f"{path}: not JSON text; delete it and run again") from None
    except jsonschema.ValidationError as error:
        raise RoyaleError(
            f"{path}: not a {kind} file: {error.json_path}: {error.message[:200]}; "
            "delete it and run again"
        ) from None
    return value


def read_rows(path: str | Path, empty: bool = False) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines, such as metrics.jsonl.

    RoyaleError names the file and the line that is no JSON object; also if there is no line,
    unless `empty`.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise RoyaleError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise RoyaleError(f"{path}: not text; {RESTORE}") from None
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise RoyaleError(f"{path}: line {number} is cut off or no JSON object; {RESTORE}")
        rows.append(row)
    if not rows and not empty:
        raise RoyaleError(f"{path}: it has no rows; {RESTORE}")
    return rows


def expect_sha256(path: str | Path, expected: str, said_by: str | Path) -> None:
    """Refuse a file whose bytes are not those another file recorded (RoyaleError)."""
    found = sha256(path)
    if found != expected:
        raise RoyaleError(
            f"{path}: its bytes were altered: sha256 is {found[:16]}..., {said_by} says "
            f"{expected[:16]}...; delete both and run again"
        )


def sha256(path: str | Path) -> str:
    """The sha256 of a file's bytes, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
