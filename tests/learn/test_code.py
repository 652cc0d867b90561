"""A changed learner is another run: what was kept is used again only by the code that made it."""

from __future__ import annotations

import copy
import json

import pytest

from royale.learn import checkpoint, code
from royale.learn.segment import run_segment

WRITTEN = '''"""A module."""
import math


class Thing:
    """A class."""

    def area(self, r):
        """A method."""
        return math.pi * r**2  # of a circle
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("# of a circle", "# nothing to see", True),
        ('"""A method."""', '"""Another word."""', True),
        ('    """A class."""\n\n', "", True),
        ("import math\n\n\n", "import math\n", True),
        ("return math.pi * r**2", "return (math.pi *\n            r**2)", True),
        ("r**2", "r**3", False),
        ("def area(self, r)", "def area(self, r=1)", False),
        ("        return", '        "a text, but no docstring"\n        return', False),
    ],
)
def test_the_digest_is_of_what_python_reads(tmp_path, old, new, same):
    paths = [tmp_path / "a.py", tmp_path / "b.py"]
    for path in paths:
        path.write_text(WRITTEN)
    before = code.source_sha256(paths)
    assert old in WRITTEN
    paths[1].write_text(WRITTEN.replace(old, new))
    assert (code.source_sha256(paths) == before) is same


def test_a_docstring_alone_may_be_a_whole_body(tmp_path):
    path = tmp_path / "a.py"
    path.write_text('class Stop(Exception):\n    """Why."""\n')
    before = code.source_sha256([path])
    path.write_text('class Stop(Exception):\n    """Another why."""\n')
    assert code.source_sha256([path]) == before
    path.write_text("class Stop(Exception):\n    name = 3\n")
    assert code.source_sha256([path]) != before


def test_what_decides_is_named_by_its_parts():
    generals, clash = code.deciding("generals"), code.deciding("clash")
    assert set(generals["source"]) - set(clash["source"]) == {"royale/games/generals"}
    assert "royalesim" in clash["versions"] and "royalesim" not in generals["versions"]
    assert generals["digest"] != clash["digest"]
    assert generals == code.deciding("generals")


NOW = {
    "digest": "0",
    "source": {"royale/learn": "a", "royale/rng.py": "b"},
    "versions": {"torch": "2.13.0", "numpy": "2.4.6"},
    "cpu_capability": "AVX512",
}


def altered(**parts):
    then = copy.deepcopy(NOW)
    for name, value in parts.items():
        then[name] = {**then[name], **value} if isinstance(value, dict) else value
    return then


@pytest.mark.parametrize(
    ("then", "source", "machine"),
    [
        (altered(), None, None),
        (altered(source={"royale/learn": "x"}), "royale/learn changed since", None),
        (altered(versions={"torch": "2.14.1"}), None, "torch 2.14.1 then, 2.13.0 now"),
        (altered(versions={"royalesim": "1"}), None, "royalesim 1 then, None now"),
        (altered(cpu_capability="AVX2"), None, "CPU AVX2 then, AVX512 now"),
    ],
)
def test_what_changed_is_told(then, source, machine):
    assert code.changed_source(then, NOW) == source
    assert code.changed_machine(then, NOW) == machine


def test_a_file_of_before_the_code_was_recorded_is_told_apart():
    assert "did not record its code" in code.changed_source(None, NOW)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"source": {"royale/learn": "x"}}, "royale/learn changed since"),
        ({"versions": {"torch": "9"}}, "then, 9 now"),
        ({"cpu_capability": "SSE2"}, "then, SSE2 now"),
    ],
)
def test_a_kept_segment_of_other_code_is_trained_anew(
    make_plan, tmp_path, monkeypatch, change, words
):
    plan, kept = make_plan(), tmp_path / "kept"
    run_segment(plan, tmp_path / "a", tmp_path / "partial", None, lambda line: None, kept=kept)
    said = []
    run_segment(plan, tmp_path / "b", tmp_path / "partial", None, said.append, kept=kept)
    assert len(said) == 1 and "is used again" in said[0]
    real = code.deciding(plan.game)
    other = {k: {**real[k], **v} if isinstance(v, dict) else v for k, v in change.items()}
    monkeypatch.setattr(code, "deciding", lambda game: {**real, **other, "digest": "1" * 64})
    said.clear()
    run_segment(plan, tmp_path / "c", tmp_path / "partial", None, said.append, kept=kept)
    assert any("kept: trained before, and not used again" in line for line in said)
    assert any(words in line and line.endswith("it is trained anew") for line in said)
    # its files say which code it was, and it is what is kept from now on
    for folder in (tmp_path / "c", kept):
        meta = checkpoint.load(folder / "checkpoint.safetensors")[1]
        identity = json.loads((folder / "identity.json").read_text())
        assert meta["code"] == identity["code"] == {**real, **other, "digest": "1" * 64}


def stopped(make_plan, folder, monkeypatch):
    """Partial work of a segment that was stopped after its second of four iterations."""
    plan, seen = make_plan(checkpoint_iterations=1), []

    class Stop(Exception):
        pass

    def report(row, total):
        seen.append(row["iteration"])
        if len(seen) == 3:
            raise Stop

    with pytest.raises(Stop):
        run_segment(plan, folder / "out", folder / "partial", report, lambda line: None)
    return plan


@pytest.mark.parametrize(
    ("change", "goes_on", "words"),
    [
        ({}, True, "continuing after iteration 2"),
        ({"source": {"royale/learn": "x"}}, False, "starting the segment anew: royale/learn"),
        ({"cpu_capability": "SSE2"}, True, "goes on elsewhere"),
    ],
)
def test_partial_work_of_another_learner_is_begun_anew(
    make_plan, tmp_path, monkeypatch, change, goes_on, words
):
    plan = stopped(make_plan, tmp_path, monkeypatch)
    real = code.deciding(plan.game)
    other = {k: {**real[k], **v} if isinstance(v, dict) else v for k, v in change.items()}
    monkeypatch.setattr(code, "deciding", lambda game: {**real, **other})
    said, seen = [], []
    report = seen.append
    run_segment(
        plan,
        tmp_path / "out",
        tmp_path / "partial",
        lambda row, total: report(row["iteration"]),
        said.append,
    )
    assert seen == ([3, 4] if goes_on else [1, 2, 3, 4])
    assert any(words in line for line in said), said
