"""Pages that people open: a champion to play against, and games of matches to watch."""

from pathlib import Path

PAGE = Path(__file__).parent / "page"  # the files that only these pages use
