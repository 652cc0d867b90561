"""Errors that are the user's to mend: shown as one line, without a traceback."""


class RoyaleError(Exception):
    """Something the user can mend; the message names the place and the fix."""

    exit_code = 1


class ConfigError(RoyaleError):
    """A config file says something that is not allowed."""


class Preempted(RoyaleError):
    """The host asked the work to stop, and it is saved; the same command goes on from there."""

    exit_code = 75  # EX_TEMPFAIL of sysexits.h
