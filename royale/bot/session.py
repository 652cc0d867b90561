"""A game from handshake to end of input."""

from __future__ import annotations

import contextlib
import os
import sys

from royale.bot import wire
from royale.bot.play import Bot


def say(text: str) -> None:
    """A line on stderr; stdout is for orders alone."""
    print(f"royale.bot: {text}", file=sys.stderr, flush=True)


def play(bot: Bot, lines: wire.LineReader, answer: int) -> int:
    """Play the game that `lines` tells, writing orders to the descriptor; the exit code."""
    try:
        _, height, width = wire.parse_handshake(lines.line())
    except EOFError:
        say("no game: the input is empty")
        return 0
    except wire.WireError as error:
        say(str(error))
        return 2
    try:
        bot.start(height, width)
    except ValueError as error:
        say(f"error: {error}; every answer will be a pass")
    frames = wire.FrameReader(lines, height, width, bot.pace.budget)
    with contextlib.suppress(EOFError):
        while True:
            try:
                order = bot.move(frames.read(), frames.began)
            except wire.WireError as error:
                say(f"bad frame, passing: {error}")
                order = bot.give_up()
            try:
                os.write(answer, wire.format_order(order))
            except BrokenPipeError:
                say("nobody reads the answers any more")
                break
    say(bot.summary())
    return 0
