"""Royale: which change really made the self-play bot stronger."""

__version__ = "0.1.0"
