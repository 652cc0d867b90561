rule bench:
    """Measure real training iterations, so that a run's length is known beforehand."""
    input:
        f"{OUT}/doctor/{{profile}}.json",
    output:
        record=f"{OUT}/bench/{{profile}}.json",
        block=f"{OUT}/bench/{{profile}}.md",
    log:
        f"{OUT}/logs/bench/{{profile}}.log",
    benchmark:
        f"{OUT}/benchmarks/bench/{{profile}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["train"]
    resources:
        mem_mb=more_memory,
        runtime=30,
        gpu=RESOURCES["gpu"],
    params:
        roots=ROOTS,
        device=PROFILE["device"],
        determinism=PROFILE["determinism"],
        scratch=f"{OUT}/partial/bench",
    message:
        "Bench: measuring training iterations of profile {wildcards.profile}"
    script:
        "../../scripts/bench.py"


rule bench_learning:
    """State whether each ladder's root learns, from its segments and their watch."""
    input:
        unpack(get_learning_input),
    output:
        record=f"{OUT}/bench/{{profile}}.learning.json",
        plot=report(
            f"{OUT}/bench/{{profile}}.learning.svg",
            caption="../report/learning.rst",
            category="Bench",
        ),
    log:
        f"{OUT}/logs/bench_learning/{{profile}}.log",
    benchmark:
        f"{OUT}/benchmarks/bench_learning/{{profile}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        roots=root_runs(),
    message:
        "Bench: does profile {wildcards.profile} learn?"
    script:
        "../../scripts/bench_learning.py"


rule bench_arms:
    """Measure a few training iterations of both arms: the microbenchmark's prediction of b."""
    input:
        unpack(get_bench_arms_input),
    output:
        f"{OUT}/bench/arms/{{generation}}.json",
    log:
        f"{OUT}/logs/bench_arms/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/bench_arms/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["train"]
    resources:
        mem_mb=RESOURCES["mem_mb"],
        runtime=30,
        gpu=RESOURCES["gpu"],
    params:
        profile=PROJECT.profile_name,
        game=of_generation("game"),
        settings=of_sizes("settings"),
        train=bench_arms_geometry,
        scale=of_sizes("scale"),
        changes=changes_of_arms,
        device=PROFILE["device"],
        determinism=PROFILE["determinism"],
        scratch=f"{OUT}/partial/bench_arms/{{generation}}",
    message:
        "Bench: measuring both arms of {wildcards.generation}"
    script:
        "../../scripts/bench_arms.py"
