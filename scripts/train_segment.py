"""Train one arm for one segment."""

from pathlib import Path

from royale.bench.measure import measured_before
from royale.files import read_json
from royale.learn.preemption import limit_runtime
from royale.learn.processes import starter
from royale.learn.segment import run_segment
from royale.preflight.checks import expect_cleared
from royale.project.plans import arm_plan
from royale.run.job import job
from royale.run.told import Told


def main(snakemake, progress):
    params, files, told = snakemake.params, snakemake.input, Told.read(snakemake.params.told)
    if told.rented:
        limit_runtime(snakemake.resources.runtime)
        expect_cleared(read_json(files.doctor, "preflight"), files.doctor)
    setting = {"device": params.device, "determinism": params.determinism}
    setting |= {"processes": told.processes, "checkpoint_seconds": told.checkpoint_seconds}
    setting["threads"] = max(1, snakemake.threads // told.processes)
    sizes = {key: getattr(params, key) for key in ("game", "settings", "train", "scale")}
    starts = files.get("start"), files.get("parent")
    plan = arm_plan(sizes, params.changes, snakemake.wildcards, *starts, **setting)

    def report(row, total):
        entropy = "-" if row["entropy"] is None else f"{row['entropy']:.2f}"
        progress.update(row["agent_steps"], total, "steps", f"entropy {entropy}")

    out, partial = Path(snakemake.output.checkpoint).parent, Path(params.partial)
    bench, kept = measured_before(Path(told.bench), params.ladder), Path(params.kept)
    start = starter(name, snakemake.log[0], bench)
    run_segment(
        plan, out, partial, report, progress.say, kept=kept, bench=bench, start_processes=start
    )


name = "{generation} {arm} seed{seed} segment{segment}".format(**snakemake.wildcards)  # noqa: F821
with job(snakemake, name) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
