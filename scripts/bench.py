"""Measure training iterations of each ladder's root."""

from pathlib import Path

from royale.bench import bench
from royale.files import write_json
from royale.job import job
from royale.ladder import scaled
from royale.learn.plan import SegmentPlan


def main(snakemake, progress):
    params, profile = snakemake.params, snakemake.wildcards.profile
    ladders = {}
    for ladder, root in params.roots.items():
        plan = SegmentPlan(
            game=root["game"],
            settings=root["settings"],
            # what a schedule ends with is measured
            recipe=scaled({**root["recipe"], "schedule": []}, root["scale"]).to_dict(),
            **{key: root["train"][key] for key in ("envs", "horizon")},
            steps=root["train"]["segment_steps"],
            generation="bench",
            arm=ladder,
            seed=0,
            segment=0,
            threads=snakemake.threads,
            device=params.device,
        )
        found = bench(
            plan,
            Path(params.scratch) / ladder,
            lambda row, total: progress.update(row["agent_steps"], total, "steps"),
        )
        found["segment_minutes"] = round(plan.steps / found["steps_per_second"] / 60, 2)
        progress.say(
            f"{ladder}: {found['steps_per_second']:,.0f} agent steps/s, a segment takes about "
            f"{found['segment_minutes']:.1f} minutes; the slowest part is {found['slowest']}"
        )
        ladders[ladder] = found
    result = {"profile": profile, "threads": snakemake.threads, "device": params.device}
    write_json(snakemake.output[0], {**result, "ladders": ladders}, "bench")


with job(snakemake, "bench") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
