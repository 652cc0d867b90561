# Neither is an input of the ladder: asking for results/ladder/g06.json watches nothing.
rule watch_segment:
    """Play a segment's network against the scripted players, which do not learn."""
    input:
        checkpoint=f"{OUT}/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}/checkpoint.safetensors",
    output:
        f"{OUT}/watch/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}.json",
    log:
        f"{OUT}/logs/watch_segment/{{generation}}.{{arm}}.seed{{seed}}.segment{{segment}}.log",
    benchmark:
        f"{OUT}/benchmarks/watch_segment/{{generation}}.{{arm}}.seed{{seed}}.segment{{segment}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["match"]
    resources:
        mem_mb=more_memory,
        runtime=RESOURCES["runtime"],
        gpu=RESOURCES["gpu"],
    params:
        game=of_generation("game"),
        settings=of_sizes("settings"),
        rivals=watch_rivals,
        games=PROJECT.games,
        policy=PROFILE["policy"],
        device=PROFILE["device"],
    message:
        "Watching {wildcards.generation} {wildcards.arm}, seed {wildcards.seed}, segment {wildcards.segment}"
    script:
        "../../scripts/watch.py"


rule report_watch:
    """Show the watch of all segments of a generation and its ancestors: table and plot."""
    input:
        unpack(get_watch_input),
    output:
        table=report(
            f"{OUT}/watch/{{generation}}.csv",
            caption="../report/watch.rst",
            category="Watch",
        ),
        plot=report(
            f"{OUT}/watch/{{generation}}.svg",
            caption="../report/watch.rst",
            category="Watch",
        ),
    log:
        f"{OUT}/logs/report_watch/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/report_watch/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    message:
        "Report of the watch up to {wildcards.generation}"
    script:
        "../../scripts/report_watch.py"
