"""Recorded games of the reference, turn by turn, and the errors of the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from royale.games.generals import conformance

DATA = Path(__file__).parents[2] / "data" / "generals"
FILES = sorted(DATA.glob("*.npz"))
TURNS = {"game_101": 1200, "game_103": 1200, "game_104": 1200, "game_106": 217, "game_108": 823}
TURNS["transitions"] = 4000


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_recorded_turns_match(path):
    turns, found = conformance.check(path)
    assert not found
    assert turns == TURNS[path.stem]


def test_all_files_are_there():
    assert {p.stem for p in FILES} == set(TURNS)


def changed(tmp_path, name, **changes):
    arrays = conformance.read(DATA / f"{name}.npz")
    for key, change in changes.items():
        if change is None:
            del arrays[key]
        else:
            where, value = change
            arrays[key] = arrays[key].copy()
            arrays[key][where] = value
    path = tmp_path / "changed.npz"
    np.savez(path, **arrays)
    return path


def test_command_reports_matches(capsys):
    assert conformance.main([str(DATA / "game_106.npz")]) == 0
    assert capsys.readouterr().out.endswith("turns 217 matched 217\n")


@pytest.mark.parametrize(
    ("name", "key", "where", "value", "line"),
    [
        ("game_106", "army", (30, 4, 5), 77, "turn 30 cell 4,5 field army: expected 77, got "),
        ("game_106", "owner", (217, 0, 0), 1, "turn 217 cell 0,0 field owner: expected 1, got 0"),
        ("game_106", "is_done", (216,), False, "field is_done: expected False, got True"),
        ("game_106", "result", (), 1, "turn 217 cell - field result: expected 1, got 0"),
        ("game_106", "land", (9, 1), 99, "turn 9 cell 1 field land: expected 99, got "),
        ("game_106", "obs_armies", (1, 1, 0, 0), 5, "turn 20 cell 1,0,0 field obs_armies: "),
        ("game_106", "obs_owned_army_count", (1, 0), 999, "field obs_owned_army_count: "),
        ("transitions", "build_cost", (7, 1, 2, 3), 999, "turn 7 cell 1,2,3 field build_cost: "),
        ("transitions", "next_army", (9, 2, 3), 999, "turn 9 cell 2,3 field next_army: "),
        ("transitions", "fog", (11, 0, 0, 0), True, "field fog: "),
    ],
)
def test_command_finds_one_changed_value(tmp_path, capsys, name, key, where, value, line):
    arrays = conformance.read(DATA / f"{name}.npz")
    if key == "fog":
        value = not arrays[key][where]
    path = changed(tmp_path, name, **{key: (where, value)})
    assert conformance.main([str(path)]) == 1
    out = capsys.readouterr().out
    assert line in out
    assert len(out.splitlines()) == 2


def test_command_refuses_what_it_cannot_read(tmp_path, capsys):
    text = tmp_path / "text.npz"
    text.write_text("not an archive")
    torn = tmp_path / "torn.npz"
    torn.write_bytes((DATA / "game_106.npz").read_bytes()[:9000])
    lone = tmp_path / "lone.npz"
    np.save(lone.open("wb"), np.zeros(3))
    objects = tmp_path / "objects.npz"
    np.savez(objects, owner=np.array([{}], dtype=object))
    missing = changed(tmp_path, "game_106", actions=None)
    for path in (text, torn, lone, objects, missing, tmp_path / "none.npz", tmp_path):
        assert conformance.main([str(path)]) == 2
        captured = capsys.readouterr()
        assert len(captured.err.splitlines()) == 1 and str(path) in captured.err
        assert not captured.out
    assert conformance.main([]) == 2


def test_command_refuses_arrays_that_do_not_fit(tmp_path, capsys):
    arrays = conformance.read(DATA / "game_106.npz")
    for key, value in (
        ("army", arrays["army"][:50]),
        ("actions", arrays["actions"][:, :, :3]),
        ("obs_turns", arrays["obs_turns"] + 10**6),
        ("owner", arrays["owner"][:, :, 0]),
        ("general_positions", arrays["general_positions"] + 40),
    ):
        path = tmp_path / "bad.npz"
        np.savez(path, **{**arrays, key: value})
        assert conformance.main([str(path)]) == 2, key
        assert len(capsys.readouterr().err.splitlines()) == 1
