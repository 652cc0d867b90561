"""`python -m royale.bot --weights FILE.npz`: play one game on stdin and stdout."""

from __future__ import annotations

import argparse
import gc
import os
import sys


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m royale.bot", description="Play a champion over the line protocol."
    )
    parser.add_argument("--weights", required=True, metavar="FILE.npz", help="the exported bundle")
    parser.add_argument(
        "--limit-ms", type=float, default=150.0, help="time an answer may take (default 150)"
    )
    parser.add_argument("--sample", action="store_true", help="sample the policy, not its maximum")
    parser.add_argument("--seed", type=int, default=0, help="of the samples (default 0)")
    found = parser.parse_args(words)
    if not found.limit_ms > 0:
        parser.error("--limit-ms must be positive")
    return found


def main() -> int:
    """Entry point; exit code 2 for a bad command line, weights or handshake."""
    chosen = arguments()
    # One core, as in the competition; numpy reads these when it is first imported.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    from royale.bot import bundle, session, wire
    from royale.bot.play import Bot

    try:
        found = bundle.read(chosen.weights)
        bot = Bot(found, chosen.limit_ms, chosen.seed if chosen.sample else None)
    except ValueError as error:
        session.say(f"error: {error}")
        return 2
    gc.disable()  # no pause in the middle of a move; nothing here makes cycles
    return session.play(bot, wire.LineReader(0), 1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
