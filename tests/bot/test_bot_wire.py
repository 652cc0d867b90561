"""The line protocol: the specification's example, and everything that is not right."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from royale.bot import wire

EXAMPLE = b"7 1 5 1 5\n4 1 5\n1 1 0\n1 0 0\n0 0 0\n5 0 0\n0 0 0\n"  # spec section 12, 2x3


def reader(*texts, height=2, width=3, patience=0.2, keep_open=False):
    """A frame reader of texts written at once; the writing end too, if kept open."""
    read, write = os.pipe()
    os.write(write, b"".join(texts))
    if not keep_open:
        os.close(write)
    found = wire.FrameReader(wire.LineReader(read), height, width, patience)
    return (found, write) if keep_open else found


def frame_text(turn, width=3):
    rows = [b" ".join([b"1"] * width)] * 6
    return b"\n".join([b"%d 1 5 1 5" % turn, *rows]) + b"\n"


def test_example_of_the_specification():
    frame = reader(EXAMPLE).read()
    assert (frame.turn, frame.my_land, frame.my_army) == (7, 1, 5)
    assert (frame.opponent_land, frame.opponent_army) == (1, 5)
    assert frame.kind.tolist() == [[wire.GENERAL, 1, 5], [1, 1, 0]]
    assert frame.owner.tolist() == [[wire.ME, 0, 0], [0, 0, 0]]
    assert frame.army.tolist() == [[5, 0, 0], [0, 0, 0]]


def test_handshake_and_order():
    assert wire.parse_handshake(b"1 18 21\n") == (1, 18, 21)
    assert wire.format_order((0, 3, 4, 2, 1)) == b"0 3 4 2 1\n"
    for bad in (b"", b"1 18", b"1 x 3", b"1 0 3", b"1 2 3 4", b"0 9999999 9999999"):
        with pytest.raises(wire.WireError, match="handshake"):
            wire.parse_handshake(bad)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"4 1 5", b"4 1", "line 1"),
        (b"4 1 5", b"4 1 x", "line 1"),
        (b"4 1 5", b"4 1 \xff\xfe", "line 1"),
        (b"4 1 5", b"9 1 5", "type"),
        (b"1 0 0", b"3 0 0", "owner"),
        (b"\n5 0 0", b"\n-5 0 0", "army"),
        (b"\n5 0 0", b"\n99999999999 0 0", "32 bits"),
        (b"7 1 5 1 5", b"-7 1 5 1 5", "first line"),
        (b"7 1 5 1 5", b"hello", "line 0"),
    ],
)
def test_a_wrong_frame_is_told_and_the_next_is_read(old, new, said):
    frames = reader(EXAMPLE.replace(old, new, 1), frame_text(8))
    with pytest.raises(wire.WireError, match=said):
        frames.read()
    assert frames.read().turn == 8
    with pytest.raises(EOFError):
        frames.read()


def test_a_frame_cut_short_by_the_next():
    short = b"".join(EXAMPLE.splitlines(keepends=True)[:4])
    frames = reader(short, frame_text(8), frame_text(9))
    with pytest.raises(wire.WireError, match="cut short after 4 lines"):
        frames.read()
    assert [frames.read().turn for _ in range(2)] == [8, 9]


def test_a_frame_with_a_line_too_many():
    frames = reader(EXAMPLE, b"1 1 1\n", frame_text(8))
    assert [frames.read().turn for _ in range(2)] == [7, 8]


def test_a_frame_that_stops_is_given_up_in_time_and_its_rest_forgotten():
    lines = EXAMPLE.splitlines(keepends=True)
    frames, write = reader(*lines[:3], patience=0.1, keep_open=True)
    began = time.monotonic()
    with pytest.raises(wire.WireError, match="stops after 3 of 7 lines"):
        frames.read()
    assert 0.09 < time.monotonic() - began < 1.0
    os.write(write, b"".join(lines[3:]) + frame_text(8))
    assert frames.read().turn == 8
    os.close(write)


def test_input_that_ends_within_a_frame():
    frames = reader(EXAMPLE[:20])
    with pytest.raises(wire.WireError, match="input ends"):
        frames.read()
    with pytest.raises(EOFError):
        frames.read()


def test_line_ends_of_other_systems_and_blank_lines():
    frames = reader(b"\n\n", EXAMPLE.replace(b"\n", b"\r\n"), b"\n", frame_text(8))
    assert [frames.read().turn for _ in range(2)] == [7, 8]


def test_a_slow_sender_is_waited_for():
    frames, write = reader(patience=2.0, keep_open=True)

    def send():
        for line in EXAMPLE.splitlines(keepends=True):
            os.write(write, line)
            time.sleep(0.01)

    thread = threading.Thread(target=send)
    thread.start()
    assert frames.read().turn == 7
    thread.join()
    os.close(write)


def test_boards_five_wide_whose_rows_look_like_first_lines():
    text = b"3 1 5 1 5\n" + b"1 1 1 1 1\n" * 6
    frames = reader(text, text.replace(b"3", b"4", 1), width=5)
    assert [frames.read().turn for _ in range(2)] == [3, 4]


def test_random_bytes_end_in_errors_and_never_in_a_crash():
    rng = np.random.default_rng(0)
    for _ in range(200):
        text = bytearray(EXAMPLE * 2)
        for place in rng.integers(0, len(text), 3):
            text[place] = rng.integers(256)
        frames = reader(bytes(text[: rng.integers(len(text) + 1)]))
        results = 0
        while results < 50:
            try:
                frames.read()
            except wire.WireError:
                pass
            except EOFError:
                break
            results += 1
        assert results < 50
