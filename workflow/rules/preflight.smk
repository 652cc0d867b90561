rule doctor:
    """Refuse before anything is paid for: machine, memory, sizes, identity."""
    output:
        f"{OUT}/doctor/{{profile}}.json",
    log:
        f"{OUT}/logs/doctor/{{profile}}.log",
    benchmark:
        f"{OUT}/benchmarks/doctor/{{profile}}.tsv"
    conda:
        CONDA_ENV
    params:
        roots=ROOTS,
        profile=PROFILE,
        seeds=len(PROJECT.seeds),
    threads: PROFILE["threads"]["train"]
    resources:
        mem_mb=RESOURCES["mem_mb"],
        runtime=10,
        gpu=RESOURCES["gpu"],
    message:
        "Doctor: can this machine run profile {wildcards.profile}?"
    script:
        "../../scripts/doctor.py"


rule bench:
    """Measure real training iterations, so that a run's length is known beforehand."""
    input:
        doctor=ancient(f"{OUT}/doctor/{{profile}}.json"),
    output:
        f"{OUT}/bench/{{profile}}.json",
    log:
        f"{OUT}/logs/bench/{{profile}}.log",
    benchmark:
        f"{OUT}/benchmarks/bench/{{profile}}.tsv"
    conda:
        CONDA_ENV
    params:
        roots=ROOTS,
        profile=PROFILE,
    threads: PROFILE["threads"]["train"]
    resources:
        mem_mb=RESOURCES["mem_mb"],
        runtime=30,
        gpu=RESOURCES["gpu"],
    message:
        "Bench: measuring one training iteration of profile {wildcards.profile}"
    script:
        "../../scripts/bench.py"
