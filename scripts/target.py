"""Measure the time to target of a generation's two arms."""

from royale.evidence.gate import record_of
from royale.evidence.match import check_match
from royale.evidence.names import MatchName
from royale.evidence.target import measure
from royale.files import read_json, read_rows, sha256, write_json
from royale.run.job import job


def main(snakemake, progress):
    params, inputs = snakemake.params, snakemake.input
    known = {params.reference: sha256(inputs.reference[0])} if inputs.reference else {}
    checkpoints, iterations = {}, {}
    for point, match_path, checkpoint, metrics in zip(
        params.points, inputs.matches, inputs.checkpoints, inputs.metrics, strict=True
    ):
        player = str(MatchName.parse(point["match"]).a)
        match = read_json(match_path, "match")
        check_match(match_path, match, {**known, player: sha256(checkpoint)})
        rows = read_rows(metrics)
        steps = rows[-1]["agent_steps"]
        each = round(steps / rows[-1]["iteration"])
        iterations.setdefault(point["arm"], []).extend((each, row["seconds"]) for row in rows)
        at = checkpoints.setdefault(point["arm"], {}).setdefault(point["segment"], (steps, []))
        at[1].append(record_of(match))
    found = measure(
        params.reference,
        params.bar,
        {arm: list(points.values()) for arm, points in checkpoints.items()},
        iterations,
    )
    about = {
        "generation": snakemake.wildcards.generation,
        "profile": params.profile,
        "question": params.question,
        "bar": params.bar,
    }
    write_json(snakemake.output[0], {**about, **found}, "target")
    progress.say(f"sooner to beat {params.reference}: {found['sooner']}")


with job(snakemake, f"target {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
