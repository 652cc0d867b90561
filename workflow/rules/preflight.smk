rule preflight:
    """Refuse before anything is paid for: machine, memory, sizes, network of a ladder."""
    output:
        f"{OUT}/doctor/{{profile}}/{{ladder}}.json",
    log:
        f"{OUT}/logs/preflight/{{profile}}.{{ladder}}.log",
    benchmark:
        f"{OUT}/benchmarks/preflight/{{profile}}.{{ladder}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["train"]
    resources:
        mem_mb=more_memory,
        runtime=10,
        gpu=RESOURCES["gpu"] * PROFILE["processes"],
        processes=PROFILE["processes"],
        # what a price says reruns nothing
        rented=int(PROFILE["rented"]),
        price_per_hour=str(PROFILE["price_per_hour"]),
        currency=PROFILE["currency"],
        runtime_of_jobs=RESOURCES["runtime"],
    params:
        # Only what retrains the root if it changes: every segment comes after this
        # file. `ancient` would not do: if this rule must run again, Snakemake 9.27
        # then plans nothing that lies behind the ancient file, not even what is missing.
        root=lambda wildcards: ROOTS[wildcards.ladder],
        device=PROFILE["device"],
        determinism=PROFILE["determinism"],
    message:
        "Doctor: can this machine train ladder {wildcards.ladder} with profile {wildcards.profile}?"
    script:
        "../../scripts/preflight.py"


rule preflight_arms:
    """Refuse an arm that this machine cannot train, or whose rewards do not arrive."""
    output:
        f"{OUT}/doctor/{{profile}}/{{ladder}}/{{generation}}.json",
    log:
        f"{OUT}/logs/preflight_arms/{{profile}}.{{ladder}}.{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/preflight_arms/{{profile}}.{{ladder}}.{{generation}}.tsv"
    # the ladder's last arm is refused in the first seconds, not when its turn comes
    priority: 100
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["train"]
    resources:
        mem_mb=RESOURCES["mem_mb"],
        runtime=10,
        gpu=RESOURCES["gpu"],
        processes=PROFILE["processes"],
    params:
        # a file of its own for each generation: an edited arm must not retrain the others
        root=lambda wildcards: ROOTS[wildcards.ladder],
        arms=lambda wildcards: dict(GENERATIONS[wildcards.generation].changes),
        device=PROFILE["device"],
    message:
        "Doctor: can this machine train the arms of {wildcards.generation}?"
    script:
        "../../scripts/preflight_arms.py"


rule doctor:
    """The preflight of all ladders of a profile, and of their arms, in one file."""
    input:
        ladders=expand(f"{OUT}/doctor/{{{{profile}}}}/{{ladder}}.json", ladder=sorted(ROOTS)),
        arms=arm_doctors(list(GENERATIONS)),
    output:
        f"{OUT}/doctor/{{profile}}.json",
    log:
        f"{OUT}/logs/doctor/{{profile}}.log",
    benchmark:
        f"{OUT}/benchmarks/doctor/{{profile}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
        gpu=0,
    message:
        "Doctor: profile {wildcards.profile} can run here"
    script:
        "../../scripts/doctor.py"


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
        watches=root_files(f"{OUT}/watch/{{}}/root/seed{{}}/segment{{}}.json"),
        metrics=root_files(f"{OUT}/train/{{}}/root/seed{{}}/segment{{}}/metrics.jsonl"),
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
