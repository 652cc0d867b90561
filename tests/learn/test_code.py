"""What beside the plan decides a segment's bytes, and what becomes of a segment of other code."""

from __future__ import annotations

import ast
import copy
import json
import re
from pathlib import Path

import jsonschema
import pytest
import toy_game
from segments import Killed, killer, rows

from royale.errors import RoyaleError
from royale.learn import checkpoint, code, segment, trainer
from royale.learn.segment import run_segment
from royale.schemas import schema

SOURCE = '''"""A module."""
# a comment
LIMIT = 3


class Game:
    """What it is."""

    def step(self, move):
        """One step."""
        return move * 2  # twice
'''


def meaning(text):
    return code.meaning(ast.parse(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment\n", "# another one\n\n"),
        ("  # twice", ""),
        ('"""One step."""', '"""A step\n\n        of two lines.\n        """'),
        ('    """What it is."""\n', ""),
        ('"""A module."""\n', ""),
        ("move * 2", "(move\n            * 2)"),
    ],
)
def test_comments_docstrings_and_formatting_mean_nothing(old, new):
    assert old in SOURCE
    assert meaning(SOURCE.replace(old, new)) == meaning(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("move * 2", "move * 3"),
        ("move * 2", "move * 2.0"),
        ("LIMIT = 3", "LIMIT = '3'"),
        ("LIMIT = 3", "LIMIT = None"),
        ("return", "yield"),
        ("(self, move)", "(self, move=None)"),
    ],
)
def test_a_line_of_code_means_something(old, new):
    assert meaning(SOURCE.replace(old, new)) != meaning(SOURCE)


def test_it_covers_the_learner_the_game_and_what_the_game_is_played_with():
    generals, clash = code.code_of("generals"), code.code_of("clash")
    common = {"royale", "royale/games", "royale/learn"}
    assert set(generals["source"]) == common | {"royale/games/generals"}
    assert set(clash["source"]) == common | {"royale/games/clash"}
    assert generals["source"]["royale/learn"] == clash["source"]["royale/learn"]
    assert set(clash["versions"]) - set(generals["versions"]) == {"royalesim"}
    assert "toy_game" in code.code_of("toy")["source"]
    named = {path.relative_to(code.ROOT).as_posix() for path in code._files("generals")}
    wanted = {"rng.py", "errors.py", "learn/ppo.py", "games/protocol.py", "games/generals/maps.py"}
    assert wanted <= named
    assert not any(name.startswith(("games/clash", "evidence", "report")) for name in named)


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A function that edits the toy game's file as the digest finds it, and gives its code."""
    file = tmp_path / "toy_game.py"
    text = Path(toy_game.__file__).read_text(encoding="utf-8")

    def edit(old, new):
        assert old in text
        file.write_text(text.replace(old, new))
        monkeypatch.setattr(toy_game, "__file__", str(file))
        code.code_of.cache_clear()
        return code.code_of("toy")

    yield edit
    code.code_of.cache_clear()


def test_the_digest_changes_with_a_line_of_the_game_and_not_with_a_comment(edited):
    before = code.code_of("toy")
    line = "def register() -> None:\n"
    assert edited(line, line + "    # a comment\n") == before
    after = edited(line, line + "    print()\n")
    assert after["digest"] != before["digest"]
    assert code.changes(before, after) == "it was trained by other code: toy_game changed"


def altered(now, **changes):
    then = copy.deepcopy(now)
    then["versions"] |= changes.pop("versions", {})
    return then | changes


NOW = {
    "digest": "d" * 64,
    "source": {"royale/learn": "a" * 64, "royale/games/x": "b" * 64},
    "versions": {"python": "3.11.7", "torch": "2.14.1"},
    "cpu_capability": "AVX512",
}
OLD = {"versions": {"python": "3.11.7", "torch": "2.13.0"}, "cpu_capability": "AVX2"}


@pytest.mark.parametrize(
    ("then", "why"),
    [
        (NOW, None),
        (None, "it was trained before the code was recorded"),
        (7, "what it says of its code cannot be read"),
        (altered(NOW, versions={"torch": "2.13.0"}), "torch 2.13.0 then, 2.14.1 now"),
        (altered(NOW, versions={"engine": "1"}), "engine 1 then, none now"),
        (altered(NOW, cpu_capability="AVX2"), "CPU capability AVX2 then, AVX512 now"),
        (
            altered(NOW, source=NOW["source"] | {"royale/learn": "c" * 64}),
            "it was trained by other code: royale/learn changed",
        ),
        (
            altered(NOW, source={"royale/learn": "c" * 64, "royale/games/y": "d" * 64}),
            "it was trained by other code: royale/games/x, royale/games/y, royale/learn changed",
        ),
        (
            altered(NOW, begun=[OLD]),
            "torch 2.13.0 then, 2.14.1 now, CPU capability AVX2 then, AVX512 now",
        ),
        (altered(NOW, begun=[7]), "what it says of its code cannot be read"),
        (altered(NOW, source=7), "what it says of its code cannot be read"),
    ],
)
def test_the_reason_in_one_line(then, why):
    assert code.changes(then, NOW) == why


def test_a_segment_of_two_machines_is_neithers():
    there = NOW | OLD
    mixed = code.begun_by(there, NOW)
    assert mixed["begun"] == [OLD] and mixed["digest"] != NOW["digest"]
    assert code.changes(mixed, NOW) and code.changes(mixed, there)
    back = code.begun_by(mixed, there)  # and the first part's again
    assert code.changes(back, NOW) and code.changes(back, there)
    assert code.begun_by(mixed, NOW) == mixed


def trained(plan, folder, kept=None, report=None):
    said = []
    run_segment(plan, folder, folder / "partial", report, said.append, kept)
    return (folder / "checkpoint.safetensors").read_bytes(), said


def of(plan, learner=None, **changes):
    """The plan's code as it would be with `changes`; learner: the digest of its source."""
    parts = altered(code.code_of(plan.game), **changes)
    parts["source"] |= {"royale/learn": learner * 64} if learner else {}
    return parts | {"digest": code._digest({k: v for k, v in parts.items() if k != "digest"})}


@pytest.fixture
def trained_by(monkeypatch):
    """A function that makes the code of now another."""

    def change(other):
        for module in (segment, trainer):
            monkeypatch.setattr(module, "code_of", lambda game: other)

    return change


def test_code_is_in_the_checkpoint_and_the_identity_and_not_in_the_champion(make_plan, tmp_path):
    plan = make_plan()
    trained(plan, tmp_path)
    path = tmp_path / "checkpoint.safetensors"
    meta = checkpoint.load(path)[1]
    identity = json.loads((tmp_path / "identity.json").read_text())
    jsonschema.validate(identity, schema("files/identity"))
    assert meta["code"] == identity["code"] == code.code_of("toy")
    checkpoint.champion_from_checkpoint(path, tmp_path / "champion", [])
    assert "code" not in checkpoint.load(tmp_path / "champion")[1]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"learner": "0"},
            "it was trained by other code: royale/learn changed",
        ),
        ({"versions": {"torch": "2.13.9"}}, r"torch 2\..* then, 2\.13\.9 now"),
        ({"cpu_capability": "NONE"}, "CPU capability .* then, NONE now"),
    ],
)
@pytest.mark.parametrize("where", ["kept", "out"])
def test_finished_work_of_other_code_is_trained_anew(
    make_plan, tmp_path, trained_by, changes, why, where
):
    plan, kept = make_plan(), tmp_path / "kept"
    trained(plan, tmp_path / "a", kept)
    again = tmp_path / ("b" if where == "kept" else "a")
    trained_by(of(plan, **changes))
    seen = []
    report = lambda row, total: seen.append(row["iteration"])  # noqa: E731
    _, said = trained(plan, again, kept, report)
    assert seen == [1, 2, 3, 4]
    assert len(said) == (1 if where == "kept" else 2)
    for line in said:
        assert re.search(f"not used again: {why}", line)
    _, said = trained(plan, tmp_path / "c", kept)  # what is kept now is of the code of now
    assert "used again" in said[0] and "not used" not in said[0]


def test_what_was_kept_before_the_code_was_recorded_is_trained_anew(make_plan, tmp_path):
    plan, kept = make_plan(), tmp_path / "kept"
    trained(plan, tmp_path / "a", kept)
    path = kept / "checkpoint.safetensors"
    arrays, meta = checkpoint.load(path)
    del meta["code"]
    checkpoint.save(path, arrays, meta)
    _, said = trained(plan, tmp_path / "b", kept)
    assert said == [f"{kept}: not used again: it was trained before the code was recorded"]
    # as a start it is as good as any
    start = tmp_path / "old.safetensors"
    checkpoint.save(start, arrays, meta)
    trained(make_plan(segment=1, start="checkpoint", start_file=start), tmp_path / "c")
    assert rows(tmp_path / "c")[0]["iteration"] == 5


def cut(plan, folder, after=2):
    with pytest.raises(Killed):
        trained(plan, folder, report=killer(after + 1))


def test_partial_work_of_other_source_starts_anew(make_plan, tmp_path, trained_by):
    plan = make_plan(checkpoint_iterations=1)
    cut(plan, tmp_path / "cut")
    trained_by(of(plan, learner="0"))
    found, said = trained(plan, tmp_path / "cut")
    assert (
        "starting the segment anew: it was trained by other code: royale/learn changed" in said[0]
    )
    assert found == trained(plan, tmp_path / "whole")[0]


def test_partial_work_of_another_machine_goes_on_and_is_nobodys(make_plan, tmp_path, trained_by):
    plan, kept = make_plan(checkpoint_iterations=1), tmp_path / "kept"
    first = code.code_of(plan.game)
    cut(plan, tmp_path / "cut")
    trained_by(of(plan, versions={"torch": "2.13.9"}))
    _, said = trained(plan, tmp_path / "cut", kept)
    assert said[0].endswith("continuing after iteration 2")
    assert "begun on another machine" in said[1] and "2.13.9 now" in said[1]
    assert [row["iteration"] for row in rows(tmp_path / "cut")] == [1, 2, 3, 4]
    identity = json.loads((tmp_path / "cut/identity.json").read_text())
    jsonschema.validate(identity, schema("files/identity"))
    assert identity["code"] == checkpoint.load(tmp_path / "cut/checkpoint.safetensors")[1]["code"]
    assert identity["code"]["begun"] == [code._machine(first)]
    for now in (of(plan, versions={"torch": "2.13.9"}), first):
        trained_by(now)
        assert not segment._finished(plan, kept, lambda line: None)


@pytest.mark.parametrize(
    "change",
    [
        {"source": [[1, "x"]]},
        {"source": {"royale/learn": 5}},
        {"source": {"royale/learn\n\x1b[2J": "0" * 64}},
        {"versions": {"torch": {"a": 1}}},
        {"versions": {"torch": "2\nerror: a fake line"}},
        {"cpu_capability": "AVX\n\x1b[2Jerror: a fake line"},
        {"cpu_capability": "AVX2\n"},
        {"begun": [{"versions": {"torch": 5}, "cpu_capability": 5}]},
        {"begun": {}},
        {"more": 1},
    ],
)
def test_code_of_a_stranger_is_read_only_as_it_is_written(change):
    now = code.code_of("generals")
    assert code.source_changes(now, now) is None
    assert code.source_changes({**now, **change}, now) == code.UNREADABLE


@pytest.mark.parametrize("hidden", [".#ppo.py", "._ppo.py"])
def test_what_editors_leave_beside_the_code_is_no_code(tmp_path, hidden):
    for name in ("ppo.py", hidden):
        (tmp_path / name).write_bytes(b"\xff not Python")
    assert [path.name for path in code._shown(tmp_path.glob("*.py"))] == ["ppo.py"]
    with pytest.raises(RoyaleError, match=r"ppo\.py: no Python file \(.*\); mend it"):
        code._read(tmp_path / "ppo.py")
