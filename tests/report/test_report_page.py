"""The report page: whole, offline, and its numbers those of the files."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
import report_parts as parts

from royale.report import tables, words
from royale.report.page import render

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Elements in order, whether they close in turn, and the tables' texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts, self.tables = [], [], [], {}
        self._row = None
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self._rows = self.tables.setdefault(dict(attributes)["id"], [])
        elif tag == "tr":
            self._row = []
            self._rows.append(self._row)
        elif tag in ("td", "th"):
            self._row.append("")

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self._row[-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def csv(self, name):
        (link,) = [a for a in self.all("a") if a.get("download") == f"{name}.csv"]
        kind, _, data = link["href"].partition(",")
        assert kind == "data:text/csv;charset=utf-8"
        return list(csv.DictReader(unquote(data).splitlines()))


@pytest.fixture(scope="module")
def text():
    return render(parts.evidence(), "results/smoke")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_it_needs_nothing_from_outside(page, text):
    assert not re.search(r"https?://|url\(|@import|<script|javascript:", text)
    for _, attributes in page.elements:
        for key in ("href", "src"):
            if key in attributes:
                assert attributes[key].startswith(("#", "data:")), attributes
        assert not any(key.startswith("on") for key in attributes)


def test_its_head_and_structure(page):
    assert page.all("html") == [{"lang": "en"}]
    names = {a.get("name"): a.get("content") for a in page.all("meta")}
    assert names["viewport"] == "width=device-width, initial-scale=1"
    assert names["color-scheme"] == "light dark"
    assert len(page.all("title")) == len(page.all("h1")) == len(page.all("main")) == 1
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        if link["href"].startswith("#"):
            assert link["href"][1:] in ids
    assert len(page.all("figure")) == len(page.all("figcaption")) == 8
    # each figure is drawn for a screen and for a phone, with words for those who cannot see it
    assert len(page.all("svg")) == 16
    assert all(svg["role"] == "img" and len(svg["aria-label"]) > 20 for svg in page.all("svg"))


def test_words_of_the_configuration_stay_words(page, text):
    assert parts.HOSTILE in "".join(page.texts)
    assert "<script" not in text and "<b>" not in text and "for &lt;tests&gt;" in text


def test_every_table_row_has_all_its_columns(page):
    assert len(page.tables) == 11
    for name, rows in page.tables.items():
        assert len(rows) > 1 and len({len(row) for row in rows}) == 1, name


def test_the_ladders_numbers_are_the_files(page):
    rows = page.csv("ladder")
    assert [row["generation"] for row in rows] == ["g02", "g03", "g04", "g05"]
    for row, entry in zip(rows[1:], parts.LINEAGE[1:], strict=True):
        direct = entry["direct"]
        assert row["W-L-D"] == f"{direct['win']}-{direct['loss']}-{direct['draw']}"
        assert float(row["margin"]) == direct["margin"]
        assert float(row["treatment steps/s"]) == entry["arms"]["treatment"]["steps_per_second"]
    assert [float(rows[3][key]) for key in ("Elo", "Elo low", "Elo high")] == [56.1, 20.9, 92.5]
    assert [float(rows[3][key]) for key in ("p", "Holm p")] == [0.0012, 0.0036]
    assert rows[0]["Elo"] == rows[0]["Holm p"] == ""
    shown = {row[0]: row for row in page.tables["table-ladder"]}
    head = shown["generation"]
    assert shown["g03"][head.index("margin")] == "-3.65"  # -40 / sqrt(120)
    assert shown["g05"][head.index("Elo (95%)")] == "+56 (+21 to +92)"
    assert shown["g05"][head.index("p")] == "0.0012"


def test_the_other_tables_numbers(page):
    first, second = page.csv("time_to_target")
    assert first["N control, agent steps"] == first["N control, agent steps high"] == ""
    assert first["N control, agent steps low"] == "1000" and second["a"] == "0.62"
    assert second["sooner"] == "tie"
    shown = page.tables["table-time_to_target"]
    assert shown[1][shown[0].index("N control, agent steps")] == "not reached, above 1,000"
    treatment, control = page.csv("predicted_and_delivered")
    # delivered 200 and 181.8 steps/s, predicted 120 and 240
    assert float(treatment["b predicted"]) == 0.5 and float(treatment["b delivered"]) == 1.1001
    assert float(treatment["delivered / predicted"]) == 1.6667
    assert float(control["delivered / predicted"]) == 0.7575
    assert len(page.csv("narrowing")) == 9
    (arm,) = page.csv("costs_by_arm")
    assert arm["money, EUR"] == "0.75" and arm["steps per EUR"] == "2667"
    (rented,) = page.csv("rentals")
    assert rented["failed"] == "1" and rented["billed for failures, EUR"] == "1.2"
    assert [float(row["Elo"]) for row in page.csv("panel")] == [120.4, 20.0, 0.0, -300.5]
    (timed,) = page.csv("equal_wall_clock")
    assert timed["W-L-D"] == "90-30-8" and timed["verdict"] == "tie: not told apart (3 seeds)"
    assert timed["treatment trained, s"] == "20" and timed["control trained, s"] == "24"
    (trained,) = page.csv("identity")
    assert trained["trained"] == "g02.root.seed0.segment0, g03.control.seed0.segment0"
    assert trained["commit"] == "0123456789ab with edits" and trained["parameters"] == "4321"
    sizes = {row["games"]: row for row in page.csv("resolving_power")}
    # draws: 8, 8 and 28 of 128, 128 and 528 games
    assert sizes["128"]["of them decisive"] == "121"
    # normal approximation: half + (1.65 + 0.8416) / (2 sqrt(121))
    assert float(sizes["128"]["share won, 80% of the time"]) == pytest.approx(0.6133, abs=0.01)


def test_what_was_not_measured_says_how_to_ask():
    bare = render(parts.evidence(measured=False), "results/smoke")
    page = Page(bare)
    for section in ("target", "watch", "panel"):
        assert f"does not list <code>{section}</code>" in bare
    assert "snakemake results/smoke/report/g05.html" in bare
    assert "'report=[target,watch,bench,panel]'" in bare
    assert len(page.all("figure")) == 2
    root = Page(render(parts.evidence(parts.LINEAGE[:1], measured=False), "results"))
    assert "No change has been tried yet" in "".join(root.texts)


def test_a_parent_match_is_never_called_a_success(text):
    assert "improve" not in text.lower()
    # arms that clear the parent gate do not change a verdict
    tie = parts.generation("g03", "q", parts.match(62, 58, 8, "tie"), "treatment")
    tie["sanity"]["treatment"] = {"g02.champion": parts.match(120, 0, 8)}
    assert words.verdict(tie) == "tie: not told apart (one seed)"
    assert words.headline([tie]) == "None of 1 change was shown to help."


def test_the_answer_in_words():
    lineage = parts.LINEAGE
    assert words.headline(lineage) == "1 of 3 changes helped: two epochs over one (g05)."
    assert words.balance(lineage) == (
        "1 is a tie, an open question. 1 was rejected: there the control is stronger. "
        "Where it says one seed, another seed could say otherwise."
    )
    assert "7 arms were trained along this lineage to ask 3 questions" in words.tried(lineage, 1.65)
    assert "by luck would be 14%" in words.tried(lineage, 1.65)  # 1 - 0.9505^3
    assert words.verdict(lineage[3]) == "helped, strong evidence (3 seeds)"
    # what several seeds allow to be said goes before the gate's label
    weak = {**lineage[3], "effect": parts.effect(evidence="tie", note="3 seeds disagree")}
    assert words.verdict(weak) == "tie: not told apart (3 seeds disagree)"
    assert words.headline([weak]) == "None of 1 change was shown to help."


def test_a_panel_that_is_not_transitive_is_told(text):
    assert "Not transitive" in text and "g05.champion beats hunter beats expander beats g05" in text
    assert "leave 25% of the scores" in text


def test_rising_draws_are_an_alarm(text):
    assert "draws_rising" not in text
    evidence = parts.evidence()
    rows = [dict(row) for row in evidence.watch]
    for row in rows:
        if row["generation"] == "g05":
            row |= {"draw_share": 0.8, "games": 512}
        elif row["generation"] == "g02":
            row |= {"draw_share": 0.2, "games": 512}
    page = render(replace(evidence, watch=rows), "results")
    assert "alarm draws_rising: g05 treatment seed 0 segment 0 draws 80%" in page


def test_csv_keeps_awkward_cells():
    table = tables.Table(
        "t", [tables.Column("a, b"), tables.Column("c", "{:.1f}")], [['x "y", z', None]]
    )
    assert list(csv.reader(table.csv().splitlines())) == [["a, b", "c"], ['x "y", z', ""]]
    assert tables.Column("c", "{:.1f}").cell(None) == tables.DASH
