"""Pages that people open: a champion to play against, and games of matches to watch."""

from pathlib import Path

from royale import games

PAGE = Path(__file__).parent / "page"  # the pages' files


def page_file(name: str) -> Path:
    """A file that pages of all games may load: one of `PAGE`, or one that games share."""
    own = PAGE / name
    return own if own.exists() else games.PAGE / name
