"""The bot as the competition starts it, and its clock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque

import numpy as np
import pytest
from bot_helpers import GAME, ROOT, TINY

from royale.bot import bundle, choose, wire
from royale.bot.play import Bot
from royale.export.parity import wire_frame

BLOCKED = ("torch", "numba", "safetensors", "yaml", "jsonschema", "scipy", "royale.games")


def run(bundle_file, text, *options):
    """Run the bot on a text; the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "royale.bot", "--weights", str(bundle_file), *options],
        input=text,
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=60,
    )


def opening(seat=0, height=5, width=6):
    """Handshake and first frame of a tiny game, and that game."""
    game = GAME.make(1, {**TINY, "height": [height] * 2, "width": [width] * 2}, "base")
    game.reset(np.array([0]), np.array([3], np.uint64))
    game.army[game.army == 1] = 9  # so that the generals can move
    lines = wire_frame(game, 0, seat)
    return b"%d %d %d\n" % (seat, height, width), b"\n".join(lines) + b"\n"


def test_it_runs_with_numpy_alone(tiny):
    code = (
        "import sys\n"
        f"for name in {BLOCKED!r}: sys.modules[name] = None\n"
        "sys.argv = ['royale.bot', '--weights', sys.argv[1]]\n"
        "from royale.bot.__main__ import main\n"
        "code = main()\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}",
            tiny,
        ],
        input=b"".join(opening()),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert len(done.stdout.splitlines()) == 1


def test_one_order_a_frame_and_nothing_else(tiny):
    start, frame = opening(seat=1)
    frames = [frame.replace(b"0", b"%d" % turn, 1) for turn in range(5)]
    done = run(tiny, start + b"".join(frames), "--limit-ms", "5000")
    assert done.returncode == 0
    replies = done.stdout.splitlines()
    assert len(replies) == 5
    assert all(len(wire.numbers(reply)) == 5 for reply in replies)
    assert b"5 moves, 0 without the network" in done.stderr
    again = run(tiny, start + b"".join(frames), "--limit-ms", "5000")
    assert again.stdout == done.stdout
    sampled = [
        run(tiny, start + b"".join(frames), "--limit-ms", "5000", "--sample", "--seed", seed).stdout
        for seed in "112"
    ]
    assert sampled[0] == sampled[1] != sampled[2]


def test_bad_frames_are_passes_with_a_word_on_stderr(tiny):
    start, frame = opening()
    later = frame.replace(b"0", b"1", 1)
    done = run(tiny, start + frame[: len(frame) // 2 + 1].rsplit(b"\n", 1)[0] + b"\n" + later)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == b"1 0 0 0 0"
    assert len(done.stdout.splitlines()) == 2
    assert b"bad frame, passing: frame cut short" in done.stderr
    assert b"1 bad frames" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_board_larger_than_the_canvas_is_told_and_passed(tiny):
    text = b"0 9 9\n" + b"0 1 1 1 1\n" + b"0 0 0 0 0 0 0 0 0\n" * 27
    done = run(tiny, text)
    assert done.returncode == 0
    assert done.stdout == b"1 0 0 0 0\n"
    assert b"the board is 9x9, the net's canvas 7x7" in done.stderr


@pytest.mark.parametrize("text", [b"what\n", b"0 5\n", b"0 -1 5\n"])
def test_a_bad_handshake_ends_it(tiny, text):
    done = run(tiny, text)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1 and b"handshake" in done.stderr


def test_bad_weights_end_it_in_one_line(tiny, tmp_path):
    cut = tmp_path / "cut.npz"
    cut.write_bytes(tiny.read_bytes()[:3000])
    for path in (cut, tmp_path / "none.npz", tmp_path):
        done = run(path, b"")
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.count(b"\n") == 1 and str(path).encode() in done.stderr


def test_no_game_at_all(tiny):
    done = run(tiny, b"")
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_closed_reader_ends_it_quietly(tiny):
    start, frame = opening()
    read, write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "royale.bot", "--weights", str(tiny)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    os.close(read)
    _, said = process.communicate(start + frame, timeout=60)
    assert process.returncode == 0
    assert b"Traceback" not in said


class FakeClock:
    """A clock that each reading moves on by `step` seconds."""

    def __init__(self, step=0.0):
        self.now, self.step = 100.0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def frame():
    start, text = opening()
    _, height, width = wire.parse_handshake(start)
    return wire.parse_frame(text.splitlines(), height, width)


def test_without_time_a_cheap_legal_move_is_made_and_counted(tiny, frame):
    clock = FakeClock(0.001)
    bot = Bot(bundle.read(tiny), 150, clock=clock)
    bot.start(*frame.kind.shape)
    assert bot.pace.stage == pytest.approx(0.001, rel=0.5)
    bot.move(frame, clock.now)
    assert (bot.moves, bot.fallbacks) == (1, 0)
    clock.step = 0.040  # the machine became slow: four stages no longer fit
    order = bot.move(frame, clock.now)
    assert (bot.moves, bot.fallbacks) == (2, 1)
    assert order[0] == wire.MOVE
    late = clock.now - 0.149  # most of the limit went by before the frame was read
    clock.step = 0.0
    bot.move(frame, late)
    assert bot.fallbacks == 2


def test_the_estimate_recovers_after_a_slow_spell(tiny, frame):
    clock = FakeClock(0.0)
    bot = Bot(bundle.read(tiny), 150, clock=clock)
    bot.start(*frame.kind.shape)
    bot.pace._stages = deque([1.0] * 9, maxlen=9)
    for _ in range(60):
        bot.move(frame, clock.now)
    assert 0 < bot.fallbacks < 60
    before = bot.fallbacks
    bot.move(frame, clock.now)
    assert bot.fallbacks == before


def test_the_cheap_move_takes_the_largest_army_off_its_land(tiny, frame):
    bot = Bot(bundle.read(tiny), 150)
    bot.start(*frame.kind.shape)
    row, column = np.argwhere(frame.owner == wire.ME)[0]
    seen = bot.memory.observe(frame)
    action = choose.cheap(seen)
    assert seen.legal[action] and action < seen.legal.size - 1
    kind, r, c, _, split = choose.to_order(action, 7)
    assert (kind, r, c, split) == (wire.MOVE, row, column, 0)
