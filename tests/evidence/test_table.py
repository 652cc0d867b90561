"""The table of a ladder tells what was shown and no more."""

from __future__ import annotations

import copy
import csv
import io
from xml.dom import minidom

import pytest
from evidence_parts import GATE, generation

from royale.evidence.generation import at_equal_time
from royale.report import figures, table


def match(win, loss):
    pairs = [loss // 2, 0, 0, 0, win // 2]
    return {
        "a": "t",
        "b": "c",
        "mode": "fixed",
        "win": win,
        "loss": loss,
        "draw": 0,
        "pairs": pairs,
    }


@pytest.fixture(scope="module")
def ladder():
    ladder = generation("g0", None, None)
    for name, win in (("g1", 560), ("g2", 510), ("g3", 420)):
        ends = {
            "treatment": {"segment": 1, "steps": 2000, "seconds": 61.0},
            "control": {"segment": 2, "steps": 3000, "seconds": 58.0},
        }
        clock = at_equal_time({"0": match(500, 500)}, {"0": ends}, GATE) if name == "g3" else None
        ladder = generation(name, ladder, match(win, 1000 - win), clock)
    return ladder


def test_csv_holds_the_numbers(ladder):
    rows = list(csv.DictReader(io.StringIO(table.to_csv(ladder))))
    assert [row["generation"] for row in rows] == ["g0", "g1", "g2", "g3"]
    assert [row["evidence"] for row in rows] == ["", "strong", "tie", "rejected"]
    assert [row["w_minus_l"] for row in rows] == ["", "120", "20", "-160"]
    assert {row["tried"] for row in rows[1:]} == {"3"}
    for row in rows[1:]:
        assert float(row["p"]) <= float(row["p_holm"])
        assert float(row["elo_low"]) < float(row["elo"]) < float(row["elo_high"])
        assert row["treatment_parent_clears"] == "True"
        assert row["note"] == "one seed" and row["unit"] == "games"
    assert [row["wall_clock_evidence"] for row in rows] == ["", "", "", "tie"]


@pytest.mark.parametrize("show", [table.render, table.markdown])
def test_what_people_read(ladder, show):
    text = " ".join(show(ladder).replace("│", " ").split())
    assert "3 tried" in text and "sanity check" in text
    assert "g3 at equal wall clock: 500-500-0" in text
    assert "treatment 61 s, 2,000 steps, control 58 s, 3,000 steps" in text
    for word in ("improve", "better", "significant"):
        assert word not in text.lower()


def test_ties_are_called_ties(ladder):
    cells = {row[0]: row[table.COLUMNS.index("evidence")] for row in table.rows(ladder)}
    assert cells == {
        "g0": "-",
        "g1": "strong (one seed)",
        "g2": "tie (one seed)",
        "g3": "rejected (one seed)",
    }


HOSTILE = "[/red] a|b <script>x</script> `$\\nosuch{$ [l](u) *b*"


def test_a_question_is_no_markup(ladder):
    asked = copy.deepcopy(ladder)
    asked["note"] = "[/note]"
    for entry in asked["lineage"]:
        entry["question"] = HOSTILE
    shown = "".join(table.render(asked, width=400).split())
    assert "".join(HOSTILE.split()) in shown and "[/note]" in shown
    lines = table.markdown(asked).splitlines()
    for line in lines[2:6]:
        # bars that are not escaped, one more than columns
        assert line.replace(r"\|", "").count("|") == len(table.COLUMNS) + 1
        assert r"\<script\>" in line and r"\[l\](u)" in line and r"\`" in line
    drawn = figures.margins(asked)
    assert r"nosuch{$" in drawn
    minidom.parseString(drawn)
