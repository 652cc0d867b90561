"""`python -m royale.live FOLDER`: serve one page on this machine that follows a run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from royale.errors import RoyaleError
from royale.live.runs import Runs
from royale.live.server import serve


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m royale.live", description="Follow runs in a browser as they train."
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("results/train"),
        help="what to follow: results/train or a folder below it (default: all)",
    )
    parser.add_argument("--port", type=int, default=8123, help="0 takes a free one (default 8123)")
    return parser.parse_args(words)


def main() -> int:
    """Entry point; exit code 2 for a folder or a port that will not do."""
    chosen = arguments()
    os.nice(19)  # whatever is asked for, training goes first
    try:
        serve(Runs(chosen.folder), chosen.port)
    except RoyaleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
