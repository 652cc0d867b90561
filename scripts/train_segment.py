"""Train one arm for one segment."""

from pathlib import Path

from royale.files import expect_sha256, read_json
from royale.learn.plan import SegmentPlan
from royale.learn.preemption import limit_runtime
from royale.learn.processes import starter
from royale.learn.segment import run_segment
from royale.preflight.doctor import expect_cleared
from royale.project.ladder import scaled
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    params, wildcards = snakemake.params, snakemake.wildcards
    told = Told.read(params.told)
    if told.rented:
        limit_runtime(snakemake.resources.runtime)
        expect_cleared(read_json(snakemake.input.doctor, "preflight"), snakemake.input.doctor)
    parent = snakemake.input.get("parent")
    ladder = read_json(parent, "ladder") if parent else None
    base = ladder["recipe"] if ladder else {}
    start = snakemake.input.get("start")
    if ladder and int(wildcards.segment) == 0:
        expect_sha256(start, ladder["champion"]["sha256"], parent)
    kind = "weights" if int(wildcards.segment) == 0 else "checkpoint"
    plan = SegmentPlan(
        game=params.game,
        settings=dict(params.settings),
        recipe=scaled({**base, **params.changes}, params.scale).to_dict(),
        envs=params.train["envs"],
        horizon=params.train["horizon"],
        steps=params.train["segment_steps"],
        arm_steps=params.train.get("arm_steps"),
        generation=wildcards.generation,
        arm=wildcards.arm,
        seed=int(wildcards.seed),
        segment=int(wildcards.segment),
        threads=max(1, snakemake.threads // told.processes),
        processes=told.processes,
        device=params.device,
        determinism=params.determinism,
        start=kind if start else "scratch",
        start_file=Path(start) if start else None,
        checkpoint_seconds=told.checkpoint_seconds,
    )

    bench = Path(told.bench)
    measured = read_json(bench, "bench")["ladders"] if bench.exists() else {}

    def report(row, total):
        entropy = "-" if row["entropy"] is None else f"{row['entropy']:.2f}"
        progress.update(row["agent_steps"], total, "steps", f"entropy {entropy}")

    measured = measured.get(told.ladders[wildcards.generation])
    run_segment(
        plan,
        out=Path(snakemake.output.checkpoint).parent,
        partial=Path(params.partial),
        report=report,
        say=progress.say,
        kept=Path(params.kept),
        bench=measured,
        start_processes=starter(name, snakemake.log[0], measured),
    )


name = "{generation} {arm} seed{seed} segment{segment}".format(**snakemake.wildcards)  # noqa: F821
with job(snakemake, name) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
