"""The clock of an iteration's parts, on a time of its own."""

from __future__ import annotations

import pytest

from royale.learn import timing


@pytest.fixture
def now(monkeypatch):
    """A time that only the test moves: [seconds]."""
    now = [100.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])
    return now


def test_parts_within_parts_suspend_the_outer_and_add_up(now):
    clock = timing.Clock(("env", "codec", "inference"))
    now[0] += 7  # in no part
    with clock("env"):
        now[0] += 1
        with clock("codec"):
            now[0] += 2
            with clock("inference"):
                now[0] += 4
        now[0] += 8
        with clock("codec"):
            now[0] += 16
    now[0] += 32
    with clock("inference"):
        now[0] += 64
    assert clock.seconds == {"env": 9, "codec": 18, "inference": 68}
    clock.reset()
    assert clock.seconds == {"env": 0, "codec": 0, "inference": 0}


def test_a_part_that_fails_is_counted_and_ended(now):
    clock = timing.Clock(("outer", "inner"))
    with pytest.raises(ZeroDivisionError), clock("outer"), clock("inner"):
        now[0] += 1
        raise ZeroDivisionError
    now[0] += 2
    with clock("outer"):
        now[0] += 4
    assert clock.seconds == {"outer": 4, "inner": 1}


def test_a_part_unknown_beforehand_is_refused(now):
    clock = timing.Clock(("env",))
    with pytest.raises(KeyError, match="envv"), clock("envv"):
        now[0] += 1


@pytest.mark.parametrize(("device", "waits"), [("cpu", 0), ("cuda", 4), ("cuda:1", 4)])
def test_a_gpus_work_is_waited_for_whenever_the_part_changes(monkeypatch, device, waits):
    calls = []
    monkeypatch.setattr(timing.torch.cuda, "synchronize", lambda: calls.append(1))
    clock = timing.Clock(("outer", "inner"), device)
    with clock("outer"), clock("inner"):
        pass
    assert len(calls) == waits
