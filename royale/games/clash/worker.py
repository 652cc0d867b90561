"""A worker process: its share of the battles, in memory it has in common with the learner.

    python -m royale.games.clash.worker SOCKET MEMORY GAMES FIRST LAST

Started by `workers` alone. SOCKET and MEMORY are open files; settings come first, as JSON. It
ends when the other end of the socket closes, however that came about.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import socket
import sys
import traceback

from royale.errors import RoyaleError
from royale.games.clash import shared
from royale.games.clash.battles import Battles
from royale.games.clash.messages import (
    DONE,
    FAILED,
    LOAD,
    MISTAKE,
    OBSERVE,
    RESET,
    STATE,
    STEP,
    pack,
    receive,
    send,
    unpack,
)
from royale.games.clash.settings import Settings


def serve(connection: socket.socket, battles: Battles) -> None:
    """Do what is asked until the other end is gone."""
    orders = {STEP: battles.step, OBSERVE: battles.observe, RESET: battles.reset}
    while True:
        order, content = receive(connection)
        answer = b""
        if order == STATE:
            answer = pack(battles.state_arrays())
        elif order == LOAD:
            battles.load_state_arrays(unpack(content))
        else:
            orders[order]()
        send(connection, DONE, answer)


def main(words: list[str]) -> None:
    # The learner closes its workers itself. Neither a Ctrl-C nor what Slurm sends to all of a
    # job's processes may end them in mid-air: the learner finishes its iteration then.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    descriptor, memory, n, first, last = map(int, words)
    with socket.socket(fileno=descriptor) as connection:
        try:
            _, text = receive(connection)
            buffer = mmap.mmap(memory, shared.size(n))
            os.close(memory)
            arrays = shared.part(shared.arrays(buffer, n), first, last)
            battles = Battles(arrays, Settings.read(json.loads(text)))
            send(connection, DONE)
            serve(connection, battles)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass  # the learner is gone
        except RoyaleError as error:
            send(connection, FAILED, str(error).encode())
        except Exception:
            send(connection, MISTAKE, traceback.format_exc().encode())


if __name__ == "__main__":
    main(sys.argv[1:])
