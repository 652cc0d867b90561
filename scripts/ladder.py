"""Decide a generation and write its ladder file and champion."""

import shutil
from pathlib import Path

from royale.evidence.generation import at_equal_time, judge
from royale.evidence.match import check_match
from royale.files import expect_sha256, read_json, read_rows, sha256, write_json
from royale.learn.checkpoint import champion_from_checkpoint
from royale.report.costs import trained
from royale.run.job import job
from royale.run.told import Told


def slow_rows(metrics):
    """How many iterations of some segments were far slower than the bench, of how many."""
    rows = [row for path in metrics for row in read_rows(path)]
    return sum("slower_than_bench" in row.get("alarms", ()) for row in rows), len(rows)


def main(snakemake, progress):
    params, generation = snakemake.params, snakemake.wildcards.generation
    parent = read_json(snakemake.input.parent, "ladder") if params.parent else None
    base = parent["recipe"] if parent else {}
    checkpoints = dict(zip(params.players, snakemake.input.checkpoints, strict=True))
    arms = {}
    for arm, changes in params.changes.items():
        of_arm = f"{generation}.{arm}."
        metrics = [path for path in snakemake.input.metrics if f"/{generation}/{arm}/" in path]
        steps, seconds = map(sum, zip(*map(trained, metrics), strict=True))
        slow, rows = slow_rows(metrics)
        if slow:
            progress.say(
                f"warning: {arm}: slower_than_bench in {slow} of {rows} iterations; its log has "
                "the likely cause, and its time says nothing of the change"
            )
        arms[arm] = {
            "changes": dict(changes) if parent else {},
            "recipe": {**base, **changes},
            "steps": steps,
            "seconds": round(seconds, 3),
            "checkpoints": {
                player.removeprefix(f"{of_arm}seed"): sha256(path)
                for player, path in checkpoints.items()
                if player.startswith(of_arm)
            },
        }
    known = {
        f"{generation}.{arm}.seed{seed}": digest
        for arm, found in arms.items()
        for seed, digest in found["checkpoints"].items()
    }
    if parent:
        expect_sha256(
            snakemake.input.parent_champion,
            parent["champion"]["sha256"],
            snakemake.input.parent,
        )
        known[f"{params.parent}.champion"] = parent["champion"]["sha256"]
    compared = {}
    for path in snakemake.input.compared:
        found = read_json(path, "wall_clock")
        for arm, end in found["arms"].items():
            digest = end.pop("sha256")
            known[f"{generation}.{arm}.seed{found['seed']}.wall_clock"] = digest
        compared[str(found["seed"])] = found["arms"]
    direct, at_time, sanity = {}, {}, {arm: {} for arm in arms}
    for path in [*snakemake.input.direct, *snakemake.input.wall_clock, *snakemake.input.sanity]:
        match = read_json(path, "match")
        check_match(path, match, known)
        arm, seed = match["a"].split(".")[1:3]
        if path in snakemake.input.direct:
            direct[seed.removeprefix("seed")] = match
        elif path in snakemake.input.wall_clock:
            at_time[seed.removeprefix("seed")] = match
        else:
            sanity[arm].setdefault(match["b"], []).append(match)
    about = {
        "generation": generation,
        "ladder": params.ladder,
        "game": params.game,
        "profile": params.profile,
        "note": Told.read(params.told).note,
        "scale": dict(params.scale),
        "question": params.question,
        "parent": params.parent,
        "seeds": params.seeds,
    }
    equal_time = at_equal_time(at_time, compared, params.evidence)
    result = judge(about, arms, direct, sanity, params.evidence, parent, equal_time)
    promoted = result["promotion"]["promoted"]
    champion = Path(snakemake.output.champion)
    champion.parent.mkdir(parents=True, exist_ok=True)
    if promoted == "parent":
        player = parent["champion"]["player"]
        shutil.copyfile(snakemake.input.parent_champion, champion)
    else:
        # the first seed, predeclared: picking the luckiest would flatter the champion
        player = f"{generation}.{promoted}.seed{params.seeds[0]}"
        champion_from_checkpoint(Path(checkpoints[player]), champion, {"player": player})
    result["champion"] = {"player": player, "sha256": sha256(champion)}
    write_json(snakemake.output.ladder, result, "ladder")
    progress.say(f"promoted {promoted}: {result['promotion']['why']}")


with job(snakemake, f"ladder {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
