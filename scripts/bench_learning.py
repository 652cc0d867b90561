"""State whether each ladder's root learns to beat players that do not, with its curve."""

from royale.evidence import learning
from royale.evidence.gate import record_text
from royale.evidence.wall_clock import segment_ends
from royale.files import read_json, write_json
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
                f"{ladder} against {name}: W-L-D {record_text(last)}, "
                f"{reached} of decisive games, bar {found['bar']:.0%}: "
                f"{'met' if found['met'] else 'NOT met'}"
            )
        ladders[ladder] = {
            "generation": runs["generation"],
            "seeds": sorted(ends),
            "curve": points,
            "bars": bars,
        }
    write_json(snakemake.output.record, {"profile": profile, "ladders": ladders}, "bench_learning")
    curves = {ladder: found["curve"] for ladder, found in ladders.items()}
    learning.plot(curves, snakemake.output.plot, f"Profile {profile}")


with job(snakemake, "bench learning") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
