"""The files that pass between rules: read with a clear error, written whole or not at all.

Every kind of JSON file has a schema in `workflow/schemas/files/`; what is written
is checked against it first.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from royale.errors import RoyaleError

SCHEMAS = Path(__file__).resolve().parents[1] / "workflow" / "schemas"


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """The schema `workflow/schemas/<name>.schema.yaml`."""
    return yaml.safe_load((SCHEMAS / f"{name}.schema.yaml").read_text())


def write_text(path: str | Path, text: str) -> None:
    """Write a text file under a temporary name and rename it: whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


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
    except jsonschema.ValidationError as error:
        raise RoyaleError(
            f"{path}: not a {kind} file: {error.json_path}: {error.message[:200]}; "
            "delete it and run again"
        ) from None
    return value


def sha256(path: str | Path) -> str:
    """The sha256 of a file's bytes, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
