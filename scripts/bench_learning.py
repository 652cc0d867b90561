"""State whether each ladder's root learns to beat players that do not, with its curve."""

from royale.evidence import learning
from royale.evidence.wall_clock import segment_ends
from royale.files import read_json, write_json, write_text
from royale.report import figures
from royale.run.job import job


def main(snakemake, progress):
    profile, ladders = snakemake.wildcards.profile, {}
    watches = [read_json(path, "watch") for path in snakemake.input.watches]
    for ladder, runs in snakemake.params.roots.items():
        # runs: seed -> the metrics files of its segments, in order
        ends = {int(seed): segment_ends(paths) for seed, paths in runs["metrics"].items()}
        seconds = {(s, end["segment"]): end["seconds"] for s, own in ends.items() for end in own}
        own = [watch for watch in watches if watch["generation"] == runs["generation"]]
        points = learning.curve(own, seconds)
        bars = learning.verdict(points)
        for name, found in bars.items():
            last = points[-1]["rivals"][name]
            reached = "none" if found["reached"] is None else f"{found['reached']:.1%}"
            progress.say(
                f"{ladder} against {name}: W-L-D {last['win']}-{last['loss']}-{last['draw']}, "
                f"{reached} of decisive games, bar {found['bar']:.0%}: "
                f"{'met' if found['met'] else 'NOT met'}"
            )
        ladders[ladder] = {
            "generation": runs["generation"],
            "seeds": sorted(ends),
            "curve": points,
            "bars": bars,
        }
    record = {"profile": profile, "ladders": ladders}
    write_json(snakemake.output.record, record, "bench_learning")
    write_text(snakemake.output.plot, figures.learning(record))


with job(snakemake, "bench learning") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
