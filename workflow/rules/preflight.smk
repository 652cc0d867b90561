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
        mem_mb=RESOURCES["mem_mb"],
        runtime=10,
        gpu=RESOURCES["gpu"],
    params:
        # Only what retrains the root if it changes: every segment comes after this
        # file. `ancient` would not do: if this rule must run again, Snakemake 9.27
        # then plans nothing that lies behind the ancient file, not even what is missing.
        root=lambda wildcards: ROOTS[wildcards.ladder],
        device=PROFILE["device"],
    message:
        "Doctor: can this machine train ladder {wildcards.ladder} with profile {wildcards.profile}?"
    script:
        "../../scripts/preflight.py"


rule doctor:
    """The preflight of all ladders of a profile in one file."""
    input:
        expand(f"{OUT}/doctor/{{{{profile}}}}/{{ladder}}.json", ladder=sorted(ROOTS)),
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
        f"{OUT}/bench/{{profile}}.json",
    log:
        f"{OUT}/logs/bench/{{profile}}.log",
    benchmark:
        f"{OUT}/benchmarks/bench/{{profile}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["train"]
    resources:
        mem_mb=RESOURCES["mem_mb"],
        runtime=30,
        gpu=RESOURCES["gpu"],
    params:
        roots=ROOTS,
        device=PROFILE["device"],
        scratch=f"{OUT}/partial/bench",
    message:
        "Bench: measuring training iterations of profile {wildcards.profile}"
    script:
        "../../scripts/bench.py"
