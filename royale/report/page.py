"""The report as one HTML file: sections of words, charts and tables, put into the template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2

from royale.evidence.watch import draws_rising, margins_over_parent
from royale.report import charts, figures, tables, words
from royale.report.collect import Evidence
from royale.report.svg import Drawing
from royale.report.tables import Table

HERE = Path(__file__).parent
PHONE = 350  # width in CSS pixels of a chart on a phone of 390


@dataclass(frozen=True)
class Figure:
    """A chart drawn for a screen and for a phone, and how to read it in one line."""

    screen: str  # SVG
    phone: str
    reading: str


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    name: str
    title: str
    lead: str
    figures: list[Figure] = field(default_factory=list)
    tables: list[tuple[str, Table]] = field(default_factory=list)  # caption, table
    alarms: list[str] = field(default_factory=list)
    ask: str = ""  # what to add to the config key `report`, where nothing was measured


def render(evidence: Evidence, results: str) -> str:
    """The whole page, which needs no network and no script; `results` is the folder to ask in."""
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    ladder = evidence.ladder
    lineage = ladder["lineage"]
    return environment.get_template("page.html.jinja").render(
        title=f"Which change helped? {ladder['ladder']} up to {ladder['generation']}",
        css=(HERE / "page.css").read_text() + (HERE / "chart.css").read_text(),
        ladder=ladder,
        results=results,
        headline=words.headline(lineage),
        balance=words.balance(lineage),
        tried=words.tried(lineage, ladder["gate"]["bar"]),
        cards=[card(entry) for entry in lineage if entry["direct"]],
        sections=[build(evidence) for build in SECTIONS],
    )


def card(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A generation in a few words, for a reader on a phone."""
    direct, effect = entry["direct"], entry["effect"]
    # a match that a sequential test stopped has the test's ratio, and no gate to clear
    beside = f"the gate is at {direct['bar']:g}"
    if "llr" in direct:
        beside = f"log likelihood ratio {direct['llr']:+.2f}"
    found = (
        f"{direct['win']} won, {direct['loss']} lost, {direct['draw']} drawn by the treatment; "
        f"margin {direct['margin']:+.2f}, {beside}. "
        f"Elo {effect['elo']:+.0f} (95%: {effect['elo_low']:+.0f} to {effect['elo_high']:+.0f})."
    )
    return {
        "generation": entry["generation"],
        "question": entry["question"],
        "verdict": words.verdict(entry),
        "css": words.CSS[words.evidence(entry)],
        "found": found,
        "decided": words.decided(entry),
    }


def figure(draw: Callable[[int], Drawing], reading: str, screen: int = figures.WIDE) -> Figure:
    """A chart for both widths."""
    return Figure(draw(screen).inline(), draw(PHONE).inline(), reading)


def ladder_section(evidence: Evidence) -> Section:
    ladder = evidence.ladder
    scale = ", ".join(f"{key} x {factor:g}" for key, factor in ladder["scale"].items())
    timed = tables.wall_clock(ladder)
    reading = (
        "Read the diamond: right of the dashed gate the change helped, left of the other dashed "
        "line the control is stronger, between them it is a tie."
    )
    if ladder["gate"]["mode"] == "sprt":
        reading = (
            "Read the words below each question: a sequential test stopped the match and gave its "
            "verdict, so there is no gate. The diamond tells by how much the treatment led."
        )
    reading += " The bars only check that an arm still beats its parent."
    return Section(
        "ladder",
        "The ladder",
        "Both arms of a generation train from its parent's champion for the same number of agent "
        "steps; only the match between them judges the change. A match against the parent is a "
        "sanity check: anything that trains longer tends to win it. Questions are at paper scale; "
        f"here {scale}.",
        [
            figure(lambda width: charts.margins(ladder, width), reading),
        ],
        [
            ("One row a generation", tables.ladder(ladder)),
            *(
                [("At equal wall clock instead of equal steps; it decides nothing", timed)]
                if timed.rows
                else []
            ),
        ],
    )


def target_section(evidence: Evidence) -> Section:
    lead = (
        "A change that costs speed must earn it back. T = N / R: N agent steps until an arm beats "
        "the reference by the gate, at R steps a second. With a = N treatment / N control and "
        "b = R treatment / R control, the treatment is there sooner if a < b. N is known only "
        "between two checkpoints: above the one before, at most the first from which on all clear, "
        "and that takes each match at its word. R's 95% interval is by batch means of the "
        "iterations."
    )
    if not evidence.targets:
        return Section("target", "Time to target", lead, ask="target")
    unreached = [
        file["generation"]
        for file in evidence.targets
        if any(arm["steps"]["value"] is None for arm in file["arms"].values())
    ]
    reading = (
        "A point below the diagonal: the treatment reaches the target sooner. Bars are intervals; "
        "one that crosses the diagonal decides nothing."
    )
    if unreached:
        reading += (
            f" Not reached by both arms in {', '.join(unreached)}: a is not measured there; the "
            "dotted line spans what it may be, the grey one b's interval."
        )
    benches = tables.predicted(evidence.ladder, evidence.benches)
    return Section(
        "target",
        "Time to target",
        lead,
        [figure(lambda width: charts.break_even(evidence.targets, width), reading, figures.PLANE)],
        [
            ("Steps, speed and time to the target", tables.target(evidence.targets)),
            *(
                [("Speed predicted by a microbenchmark, and delivered by the run", benches)]
                if benches.rows
                else []
            ),
        ],
    )


def watch_section(evidence: Evidence) -> Section:
    lead = (
        "Two copies of a network that hold better and close worse look to each other like "
        "progress. Scripted players never change: against them such a network draws more, wins "
        "less and plays longer."
    )
    if not evidence.watch:
        return Section("narrowing", "Narrowing", lead, ask="watch")
    return Section(
        "narrowing",
        "Narrowing",
        lead + " Lines are the promoted arms, rings every other network.",
        [
            figure(
                lambda width, panel=panel: charts.watch_curve(evidence.watch, panel, width),
                panel.reading,
                figures.CURVE,
            )
            for panel in charts.watch_panels(evidence.watch)
        ],
        [("Every segment against every scripted player", tables.watch(evidence.watch))],
        draws_rising(evidence.watch, margins_over_parent(evidence.ladder)),
    )


def panel_section(evidence: Evidence) -> Section:
    lead = (
        "Every champion meets the same players that never change, so that no champion is judged by "
        "its parent alone."
    )
    panel = evidence.panel
    if panel is None:
        return Section("panel", "The permanent panel", lead, ask="panel")
    if panel["transitive"]:
        reading = (
            "No circle of players that beat each other was found: one number a player will do."
        )
    else:
        circles = "; ".join(" beats ".join([*c, c[0]]) for c in panel["cycles"][:3])
        reading = f"Not transitive, so no single number tells who beats whom: {circles}."
    share = panel["unexplained_share"]
    if share is not None:
        reading += f" The ratings leave {share:.0%} of the scores' variance unexplained."
    return Section(
        "panel",
        "The permanent panel",
        lead,
        [figure(lambda width: charts.ratings(panel, width), reading)],
        [("Bradley-Terry ratings", tables.panel(panel))],
    )


def power_section(evidence: Evidence) -> Section:
    bar = evidence.ladder["gate"]["bar"]
    direct = {e["generation"]: e["direct"] for e in evidence.ladder["lineage"] if e["direct"]}
    decisive = {name: match["win"] + match["loss"] for name, match in direct.items()}
    share = evidence.draw_share
    return Section(
        "power",
        "What a match can show",
        f"Draws carry no sign, so only decisive games count; {share:.0%} of the games of the "
        "direct matches were drawn. A tie means: if there is an effect, it is likely smaller than "
        "what the match could show.",
        [
            figure(
                lambda width: charts.resolving_power(
                    bar, {n: d for n, d in decisive.items() if d}, width
                ),
                "A treatment must win this share of the decisive games to clear the gate 80% (or "
                "half) of the time; the diamonds are this ladder's direct matches.",
            )
        ],
        [
            (
                "Share of decisive games to win, at this ladder's share of draws",
                tables.power(evidence.games, share, bar),
            )
        ],
    )


def cost_section(evidence: Evidence) -> Section:
    costs = evidence.costs
    price = f"{costs['price_per_hour']:g} {costs['currency']} an hour"
    lead = (
        f"{costs['hours']:.2f} hours of jobs at {price}: {costs['money']:.2f} {costs['currency']}. "
        "Jobs that ran side by side count each. A segment that was interrupted is charged all its "
        "iterations, not its last run alone."
    )
    rows = [
        ("By rule", tables.cost_rules(costs)),
        ("By arm: its training and its own matches", tables.cost_arms(costs)),
    ]
    if costs["rentals"]["count"]:
        rows.append(("Rented machines, from config/rentals.csv", tables.rentals(costs)))
    return Section("costs", "What it cost", lead, tables=rows)


def identity_section(evidence: Evidence) -> Section:
    return Section(
        "identity",
        "What really trained",
        "Read from the live network and optimizer of each segment, not from the configuration.",
        tables=[("Segments that share an identity", tables.identity(evidence.identities))],
    )


SECTIONS = (
    ladder_section,
    target_section,
    watch_section,
    panel_section,
    power_section,
    cost_section,
    identity_section,
)
