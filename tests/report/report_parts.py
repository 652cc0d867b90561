"""A small ladder with everything the report shows, and hostile words in it."""

from __future__ import annotations

import copy

from royale.report import figures
from royale.report.collect import Evidence

HOSTILE = "<script>alert(1)</script> & \"twice\" 'the' rate"


def match(win, loss, draw, evidence=None, bar=1.65):
    margin = round((win - loss) / (win + loss) ** 0.5, 4)
    found = {"win": win, "loss": loss, "draw": draw, "margin": margin, "bar": bar}
    found["clears"] = margin >= bar
    return {**found, "evidence": evidence} if evidence else found


def generation(name, question, direct, promoted, seeds=1, **more):
    arms = ("treatment", "control") if direct else ("root",)
    return {
        "generation": name,
        "question": question,
        "seeds": seeds,
        "direct": direct,
        "sanity": {
            arm: {"g02.champion" if direct else "random": match(70 + 30 * k, 50, 8)}
            for k, arm in enumerate(arms)
        },
        "promotion": {"promoted": promoted, "rule": "direct", "why": f"of {name} <b>"},
        "effect": direct and effect(evidence=direct["evidence"], note="one seed", seeds=1),
        "wall_clock": None,
        "arms": {
            arm: {"steps": 2000, "seconds": 10.0 + k, "steps_per_second": round(2000 / (10 + k), 1)}
            for k, arm in enumerate(arms)
        },
        **more,
    }


def effect(**more):
    return {
        "seeds": 3,
        "unit": "seeds",
        "score": 0.58,
        "score_low": 0.53,
        "score_high": 0.63,
        "elo": 56.1,
        "elo_low": 20.9,
        "elo_high": 92.5,
        "p": 0.0012,
        "p_holm": 0.0036,
        "tried": 3,
        "evidence": "strong",
        "note": "3 seeds",
        **more,
    }


LINEAGE = [
    generation("g02", "pure self-play from scratch", None, "root"),
    generation("g03", HOSTILE, match(40, 80, 8, "rejected"), "parent"),
    generation(
        "g04",
        "minibatch 1024 over 2048",
        match(62, 58, 8, "tie"),
        "control",
        wall_clock={
            "direct": match(90, 30, 8, "strong"),
            "effect": effect(evidence="tie"),
            "compared": {
                str(seed): {arm: {"segment": 0, "steps": 10, "seconds": s} for arm, s in times}
                for seed, times in enumerate([[("treatment", 10), ("control", 12)]] * 2)
            },
        },
    ),
    generation(
        "g05", "two epochs over one", match(300, 200, 28, "strong"), "treatment", 3, effect=effect()
    ),
]


def estimate(value, low, high):
    return {"value": value, "low": low, "high": high}


def target(name, a, b, sooner="open"):
    arm = {
        "checkpoints": [
            {"steps": 1000, **{k: v for k, v in match(62, 58, 8).items() if k != "bar"}}
        ],
        "steps": estimate(1000, 500, 1000),
        "steps_per_second": estimate(100.0, 90.0, 110.0),
        "seconds": estimate(10.0, 5.0, 11.0),
        "seeds_reached": 1,
    }
    never = {**arm, "steps": estimate(None, 1000, None), "seconds": estimate(None, 9.1, None)}
    return {
        "generation": name,
        "profile": "smoke",
        "question": HOSTILE,
        "bar": 1.65,
        "reference": "g02.champion",
        "arms": {"treatment": arm, "control": arm if a["value"] else never},
        "a": a,
        "b": b,
        "time_ratio": estimate(None, 0.0, None),
        "sooner": sooner,
    }


def bench(name):
    arms = {"treatment": 120.0, "control": 240.0}
    return {"generation": name, "arms": {a: {"steps_per_second": s} for a, s in arms.items()}}


def watch_rows():
    rows = []
    for position, (name, arm, promoted) in enumerate(
        [("g02", "root", True), ("g03", "treatment", False), ("g05", "treatment", True)]
    ):
        for k, rival in enumerate(("random", "hunter", "raider")):
            rows.append(
                {
                    "position": position,
                    "generation": name,
                    "arm": arm,
                    "seed": 0,
                    "segment": 0,
                    "agent_steps": 1000,
                    "promoted": promoted,
                    "rival": rival,
                    "games": 32,
                    "win": 16,
                    "loss": 8,
                    "draw": 8,
                    "win_share": 0.5,
                    "draw_share": 0.25 + 0.1 * k,
                    "truncated_share": 0.25,
                    "turns_mean": 80.0 + position,
                    "own_castles": 1.0,
                    "rival_castles": 0.5,
                }
            )
    return rows


def costs():
    arm = {"jobs": 2, "hours": 0.5, "cpu_hours": 0.4, "max_rss_mb": 500.0, "money": 0.75}
    return {
        "generation": "g05",
        "profile": "smoke",
        "price_per_hour": 1.5,
        "currency": "EUR",
        "hours": 0.5,
        "money": 0.75,
        "rules": [{"rule": "train_segment", **arm}],
        "arms": [
            {
                "generation": "g05",
                "arm": "treatment",
                **arm,
                "agent_steps": 2000,
                "steps_per_money": 2667,
            }
        ],
        "rentals": {
            "count": 2,
            "hours": 3.0,
            "asked": 4.5,
            "billed": 4.7,
            "failed": 1,
            "failed_billed": 1.2,
            "minutes_to_first_step": 12.5,
        },
    }


def panel():
    names = (("g05.champion", 120.4), ("hunter", 20.0), ("expander", 0.0), ("random", -300.5))
    return {
        "generation": "g05",
        "game": "generals",
        "profile": "smoke",
        "champions": ["g05.champion"],
        "anchor": "expander",
        "ratings": [
            {
                "name": name,
                "also": ["g04.champion"] if "." in name else [],
                "elo": elo,
                "elo_low": elo - 30,
                "elo_high": elo + 30,
                "games": 128,
            }
            for name, elo in names
        ],
        "transitive": False,
        "cycles": [["g05.champion", "hunter", "expander"]],
        "unexplained_share": 0.25,
    }


def learning():
    """A learning bench file: against the random mover no game was decided at first."""

    def rival(win, loss, draw):
        decisive = win + loss
        return {
            "win": win,
            "loss": loss,
            "draw": draw,
            "decided_share": decisive / (decisive + draw),
            "win_share": win / (decisive + draw),
            "won_of_decisive": win / decisive if decisive else None,
        }

    curve = [
        {"random": rival(0, 0, 16), "expander": rival(1, 13, 2)},
        {"random": rival(13, 1, 2), "expander": rival(7, 4, 5)},
    ]
    points = [
        {"segment": k, "agent_steps": 500_000 * (k + 1), "seconds": s, "rivals": rivals}
        for k, (s, rivals) in enumerate(zip((6.0, 1200.0), curve, strict=True))
    ]
    last = curve[-1]
    bars = {
        name: {
            "bar": bar,
            "reached": last[name]["won_of_decisive"],
            "met": last[name]["won_of_decisive"] > bar,
        }
        for name, bar in (("random", 0.95), ("expander", 0.6))
    }
    found = {"generation": "g02", "seeds": [0], "curve": points, "bars": bars}
    return {"profile": "smoke", "ladders": {"generals": found}}


def sequential():
    """The ladder file of `evidence`, its matches stopped by a sequential test."""
    said = {"g03": "not_better", "g04": "undecided", "g05": "better"}
    lineage = copy.deepcopy(LINEAGE)
    for entry in lineage[1:]:
        verdict = said[entry["generation"]]
        entry["direct"] |= {"evidence": verdict, "llr": 1.25, "games_saved": 64}
        entry["effect"]["evidence"] = verdict
    ladder = evidence(lineage).ladder
    return {**ladder, "gate": {**ladder["gate"], "mode": "sprt"}}


def identity():
    return {
        "network": "Network",
        "channels": 8,
        "blocks": 1,
        "value_head": "scalar",
        "encoder": "base",
        "planes": 31,
        "parameters": 4321,
        "board": [5, 5],
        "device": "cpu",
        "dtype": "float32",
        "threads": 1,
        "versions": {"torch": "2.13.0"},
        "git": {"commit": "0123456789abcdef", "dirty": True},
    }


def evidence(lineage=LINEAGE, measured=True):
    """Everything that was measured, or the ladder and its costs alone."""
    last = lineage[-1]["generation"]
    ladder = {
        "generation": last,
        "ladder": "generals",
        "profile": "smoke",
        "note": "for <tests>",
        "scale": {"minibatch": 0.25},
        "gate": {"bar": 1.65, "strong": 2.58, "tie_break": "parent_margin", "mode": "fixed"},
        "champion": {"player": "g05.treatment.seed0", "sha256": "ab" * 32},
        "lineage": lineage,
    }
    targets = [
        target("g03", estimate(None, 0.0, None), estimate(1.2, 1.1, 1.3)),
        target("g04", estimate(0.62, 0.62, 0.62), estimate(0.617, 0.617, 0.617), "tie"),
    ]
    return Evidence(
        ladder=ladder,
        games=128,
        targets=targets if measured else [],
        benches={"g04": bench("g04")} if measured else {},
        watch=watch_rows() if measured else [],
        costs=costs(),
        panel=panel() if measured else None,
        identities={
            "g02.root.seed0.segment0": identity(),
            "g03.control.seed0.segment0": identity(),
        },
    )


def files():
    """Name -> text of every file that is drawn."""
    found = evidence()
    return {
        "margins": figures.margins(found.ladder),
        "break_even": figures.break_even(found.targets, found.ladder),
        "watch": figures.watch(found.watch, found.ladder),
        "panel": figures.panel(panel()),
        "learning": figures.learning(learning()),
    }
