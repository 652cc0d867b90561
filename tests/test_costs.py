"""Costs: benchmark files joined with a price, and the table of rentals."""

from __future__ import annotations

import csv
import json

import pytest

from royale.errors import ConfigError, RoyaleError
from royale.report import costs

HEADER = "date,host,profile,hours,asked_per_hour,billed,minutes_to_first_step,success,failure"
GOOD = "2026-11-01,a box,paper,2,1.5,3.2,12,yes,"
BENCHMARK = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def rentals(folder, *rows, header=HEADER):
    (folder / "config/profiles").mkdir(parents=True, exist_ok=True)
    for profile in ("paper", "laptop"):
        (folder / f"config/profiles/{profile}.yaml").touch()
    (folder / "config/rentals.csv").write_text("\n".join([header, *rows]) + "\n")
    return costs.read_rentals(folder)


def test_rentals_are_typed(tmp_path):
    assert costs.read_rentals(tmp_path) == []
    first, second = rentals(tmp_path, GOOD, "2026-11-02,a box,paper,0.5,1.5,0.75,,no,no GPU seen")
    assert (first["hours"], first["billed"], first["failure"]) == (2.0, 3.2, "")
    assert second["minutes_to_first_step"] is None and second["success"] == "no"


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        (
            GOOD.replace("3.2", "abc"),
            "row 3, column 'billed' = 'abc'; allowed: a value of type number",
        ),
        (GOOD.replace("3.2", "-1"), "row 3, column 'billed' = -1.0; allowed: >= 0"),
        (GOOD.replace("3.2", "nan"), "row 3, column 'billed' = nan; allowed: a finite number"),
        (GOOD.replace("2026-11-01", "1.11.26"), "row 3, column 'date' = '1.11.26'"),
        (GOOD.replace("2026-11-01", "2026-13-01"), "row 3, column 'date' = '2026-13-01'; month"),
        (GOOD.replace("3.2", "1_0"), "row 3, column 'billed' = '1_0'; allowed: a value of type"),
        (GOOD.replace("yes", "maybe"), "row 3, column 'success' = 'maybe'; allowed: yes, no"),
        (GOOD.replace("yes", "no"), "row 3, column 'failure' = ''; allowed: a word"),
        (
            GOOD.replace("paper", "papier"),
            "row 3, column 'profile' = 'papier'; allowed: laptop, paper",
        ),
        (GOOD + "lost", "row 3, column 'failure' = 'lost'; allowed: empty"),
        (GOOD + ",more", "row 3 has 10 columns; allowed: 9"),
    ],
)
def test_a_bad_cell_is_one_line_that_names_it(tmp_path, row, wanted):
    with pytest.raises(ConfigError) as error:
        rentals(tmp_path, GOOD, row)
    text = str(error.value)
    assert text.startswith("config/rentals.csv: ") and wanted in text and "\n" not in text


def test_another_header_is_refused(tmp_path):
    with pytest.raises(
        ConfigError, match=r"config/rentals.csv: row 1 is date,cost; allowed: date,host"
    ):
        rentals(tmp_path, header="date,cost")


@pytest.fixture
def results(tmp_path):
    """Benchmarks of a segment that was interrupted, matches, and a rule without an arm."""
    folder = tmp_path / "results"

    def benchmark(rule, name, seconds, rest="100\t1\t1\t1\t1\t1\t80\t5"):
        path = folder / "benchmarks" / rule / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{BENCHMARK}{seconds}\t0:00:01\t{rest}\n")

    benchmark("train_segment", "g03.treatment.seed0.segment1", 60)
    benchmark("match", "g03.treatment.seed0-vs-g03.control.seed0", 36)
    benchmark("match", "g03.treatment.seed0-vs-g02.champion", 18, "nan\t-\tNA\t-\t-\t-\tNA\tNA")
    benchmark("match", "g04.control.seed0-vs-g03.champion", 1000)
    benchmark("replay", "g03.control.seed0-vs-random.5", 0)
    benchmark("preflight", "laptop.generals", 0)
    benchmark("ladder", "g03", 3.6)
    metrics = folder / "train/g03/treatment/seed0/segment1/metrics.jsonl"
    metrics.parent.mkdir(parents=True)
    # iterations 3 and 4 of 100 steps each: 180 s in two runs, of which the last took 60 s
    rows = [{"iteration": n, "agent_steps": 100 * n, "seconds": 90.0} for n in (3, 4)]
    metrics.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_jobs_are_charged_by_the_hour(results):
    jobs = {job["job"]: job for job in costs.read_jobs(results, 10.0, ["g02", "g03"])}
    assert len(jobs) == 6  # none of g04
    segment = jobs["g03.treatment.seed0.segment1"]
    assert (segment["wall_s"], segment["charged_s"], segment["agent_steps"]) == (60, 180, 200)
    assert segment["money"] == 0.5 and segment["steps_per_money"] == 400
    direct = jobs["g03.treatment.seed0-vs-g03.control.seed0"]
    assert (direct["generation"], direct["arm"], direct["money"]) == ("g03", None, 0.1)
    sanity = jobs["g03.treatment.seed0-vs-g02.champion"]
    assert (sanity["arm"], sanity["cpu_s"], sanity["max_rss_mb"]) == ("treatment", None, None)
    assert (jobs["g03"]["generation"], jobs["g03"]["arm"]) == ("g03", None)
    replay = jobs["g03.control.seed0-vs-random.5"]
    assert (replay["generation"], replay["arm"]) == ("g03", "control")
    assert jobs["laptop.generals"]["generation"] is None
    assert costs.to_csv([]) == (
        "rule,job,generation,arm,wall_s,charged_s,cpu_s,max_rss_mb,mean_load_percent,"
        "agent_steps,money,steps_per_money\n"
    )
    parsed = list(csv.DictReader(costs.to_csv(list(jobs.values())).splitlines()))
    assert {row["job"]: float(row["money"]) for row in parsed} == {
        name: job["money"] for name, job in jobs.items()
    }


def test_the_summary_adds_up(results, tmp_path):
    rows = rentals(
        tmp_path,
        GOOD,
        "2026-11-02,a box,paper,0.5,1.5,0.8,,no,no GPU seen",
        "2026-11-03,a box,paper,1,1.5,1.5,20,no,lost after an hour",
        "2026-11-03,another,laptop,1,9,9,1,yes,",
    )
    jobs = costs.read_jobs(results, 10.0, ["g02", "g03"])
    found = costs.summary(jobs, rows, "paper", 10.0, "EUR")
    # 180 + 36 + 18 + 3.6 seconds
    assert found["hours"] == pytest.approx(0.066) and found["money"] == pytest.approx(0.66)
    assert {row["rule"]: row["jobs"] for row in found["rules"]} == {
        "ladder": 1,
        "match": 2,
        "preflight": 1,
        "replay": 1,
        "train_segment": 1,
    }
    arm, control = found["arms"]
    assert (control["arm"], control["agent_steps"], control["steps_per_money"]) == (
        "control",
        0,
        None,
    )
    assert arm["money"] == 0.55 and arm["agent_steps"] == 200 and arm["steps_per_money"] == 400
    assert found["rentals"] == {
        "count": 3,
        "hours": 3.5,
        "asked": 5.25,
        "billed": 5.5,
        "failed": 2,
        "failed_billed": 2.3,
        "minutes_to_first_step": 16.0,
    }


def test_a_machine_of_ones_own_costs_nothing(results):
    jobs = costs.read_jobs(results, 0.0, ["g02", "g03"])
    assert {job["money"] for job in jobs} == {0.0}
    assert {job["steps_per_money"] for job in jobs} == {None}


def test_a_file_that_is_no_benchmark_is_named(results):
    path = results / "benchmarks/match/x.tsv"
    path.write_text("nothing\n")
    with pytest.raises(RoyaleError, match=r"x\.tsv: not a benchmark file"):
        costs.read_jobs(results, 0.0, ["g03"])
