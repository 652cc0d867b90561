"""Errors that are the user's to mend: shown as one line, without a traceback."""


class RoyaleError(Exception):
    """Something the user can mend; the message names the place and the fix."""


class ConfigError(RoyaleError):
    """A config file says something that is not allowed."""
