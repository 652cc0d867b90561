"""The charts: each stands where its numbers are, alike on the page and as a file."""

from __future__ import annotations

import ast
import copy
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import report_parts as parts

from royale.report import charts, figures
from royale.report.page import PHONE, render

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def attributes(drawing, tag, css):
    return [e.attrib for e in drawing.root.iter(tag) if css in e.get("class", "").split()]


@pytest.mark.parametrize("width", [350, 560])
def test_the_public_case_is_drawn_on_the_diagonal(width):
    drawing = charts.break_even([parts.evidence().targets[1]], width)
    (point,) = attributes(drawing, "circle", "direct")
    (line,) = attributes(drawing, "line", "gate")
    x1, y1, x2, y2 = (float(line[key]) for key in ("x1", "y1", "x2", "y2"))
    x, y = float(point["cx"]), float(point["cy"])
    assert x1 < x < x2
    on_the_line = y1 + (y2 - y1) * (x - x1) / (x2 - x1)
    assert on_the_line == pytest.approx(y, abs=1.5)  # a is 0.5% above b
    far = charts.break_even(
        [parts.target("g09", parts.estimate(0.5, 0.4, 0.6), parts.estimate(1, 0.9, 1.1))], width
    )
    (point,) = attributes(far, "circle", "direct")
    assert float(point["cy"]) > y1 + (y2 - y1) * (float(point["cx"]) - x1) / (x2 - x1) + 20


def test_diamonds_stand_right_of_the_gate_only_if_they_clear_it():
    drawing = charts.margins(parts.evidence().ladder, 700)
    gate = max(float(line["x1"]) for line in attributes(drawing, "line", "gate"))
    diamonds = [
        sum(float(pair.split(",")[0]) for pair in mark["points"].split()) / 4
        for mark in attributes(drawing, "polygon", "direct")
    ][1:]  # the first is the legend's
    assert [x > gate for x in diamonds] == [False, False, True]
    assert diamonds[0] < diamonds[1] < diamonds[2]


@pytest.mark.parametrize("width", [350, 760])
def test_drawings_keep_inside_their_frame(width):
    evidence = parts.evidence()
    for drawing in (
        charts.margins(evidence.ladder, width),
        charts.break_even(evidence.targets, width),
        charts.resolving_power(1.65, {"g03": 120, "g05": 500}, width),
        charts.ratings(parts.panel(), width),
        charts.watch_curve(evidence.watch, charts.watch_panels(evidence.watch)[0], width),
    ):
        for element in drawing.root.iter():
            for key in ("x", "x1", "x2", "cx"):
                assert 0 <= float(element.get(key, 1)) <= drawing.width, (
                    element.tag,
                    element.attrib,
                )
            for key in ("y", "y1", "y2", "cy"):
                assert 0 <= float(element.get(key, 1)) <= drawing.height, (
                    element.tag,
                    element.attrib,
                )


def test_a_drawing_alone_is_a_whole_file():
    text = charts.break_even(parts.evidence().targets, 560).standalone("A title")
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme: dark" in root[0].text
    back = root[1]
    assert back.get("class") == "back" and float(back.get("width")) == 560
    assert title_of(text) == "A title"
    # no viewer has to know what a variable is
    assert "var(" not in text and "svg.chart rect.back { fill: #ffffff; }" in text


def title_of(text):
    """The title of a file, which may stand on several lines."""
    lines = ElementTree.fromstring(text).iter(f"{SVG}text")
    return " ".join(line.text for line in lines if line.get("class") == "title")


def words_of(drawing):
    return " ".join(e.text for e in drawing.root.iter("text"))


def test_the_page_and_the_files_are_the_same_drawings():
    """What is in the page's figure is in the file, element by element."""
    page, drawn = render(parts.evidence(), "results"), parts.files()
    inside = [
        match[1]
        for match in re.finditer(r'<div class="screen"><svg[^>]*>(.*?)</svg></div>', page, re.S)
    ]
    owners = ["margins", "break_even", *4 * ["watch"], "panel"]
    assert len(inside) == len(owners) + 1  # what a match can show is no file
    for elements, name in zip(inside, owners, strict=False):
        assert len(elements) > 500 and elements in drawn[name], name


def test_each_file_says_of_what_it_is():
    assert {name: title_of(text) for name, text in parts.files().items()} == {
        "margins": "Which change helped: generals, profile smoke",
        "break_even": "Sooner at the target: generals, profile smoke",
        "watch": "Against players that do not learn: generals, profile smoke",
        "panel": "Panel of g05, profile smoke; NOT TRANSITIVE",
        "learning": "Does the root learn: profile smoke",
    }


def test_verdict_and_promotion_stand_beside_each_question():
    ladder = parts.evidence().ladder
    for width in (PHONE, figures.WIDE):
        said = words_of(charts.margins(ladder, width))
        assert "rejected: the control is stronger (one seed); parent kept" in said
        assert "tie: not told apart (one seed); control promoted" in said
        assert "helped, strong evidence (3 seeds); treatment promoted" in said
        assert "gate 1.65" in said


@pytest.mark.parametrize("width", [PHONE, figures.WIDE])
def test_no_gate_where_a_sequential_test_decides(width):
    drawing = charts.margins(parts.sequential(), width)
    assert not attributes(drawing, "line", "gate")
    said = words_of(drawing)
    assert "gate 1.65" not in said and "sequential test stopped each match" in said
    assert "not better: a tie or worse (one seed); parent kept" in said
    assert "decided by a sequential test" in drawing.says and "1.65" not in drawing.says


def test_a_ladder_that_is_its_root_alone():
    drawing = charts.margins({**parts.evidence().ladder, "lineage": parts.LINEAGE[:1]}, PHONE)
    assert "No change has been tried yet." in words_of(drawing)
    assert not attributes(drawing, "polygon", "direct")[1:]


def test_one_rule_tells_champions():
    """The panel file does, whatever a player is called, on the page and in the file."""
    panel = copy.deepcopy(parts.panel())
    panel["ratings"][1]["name"] = "old.champion"  # a network that the configuration added
    drawing = charts.ratings(panel, figures.WIDE)
    assert len(attributes(drawing, "polygon", "direct")) == 2  # the legend's and g05's
    # the same weights under two names are a champion by either
    panel["champions"] = ["g04.champion"]
    assert len(attributes(charts.ratings(panel, PHONE), "polygon", "direct")) == 2
    panel["champions"] = []
    assert len(attributes(charts.ratings(panel, PHONE), "polygon", "direct")) == 1


def test_learning_over_steps_and_seconds():
    record = parts.learning()
    drawing = charts.learning_curves(record, figures.CURVE)
    said = words_of(drawing)
    assert "0.5 6 s" in said and "1 1,200 s" in said and "bar 95%" in said and "bar 60%" in said
    assert "random 93%, bar 95%; expander 64%, bar 60%" in drawing.says
    won, shares = drawing.root
    # no game was decided against the random mover at first: no point, and no line to it
    first, second = won.iter("polyline")
    assert len(first.get("points").split()) == 1 and len(second.get("points").split()) == 2
    assert len(list(shares.iter("polyline"))) == 4
    bars = [float(e.get("y1")) for e in won.iter("line") if "open" in e.get("class")]
    assert bars == sorted(bars)  # 95 % above 60 %


DRAW = """
import sys
sys.path.insert(0, sys.argv[1])
from report_parts import files
print(sorted(files().items()))
assert "matplotlib" not in sys.modules
"""


def test_no_setting_of_the_user_reaches_a_chart(tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: nonsense\n")
    environment = {**os.environ, "MPLBACKEND": "nonsense", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", DRAW, str(Path(__file__).parent)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{sorted(parts.files().items())}\n"


def test_there_is_one_way_to_draw():
    for path in [*(ROOT / "royale").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "matplotlib" for name in names), path
