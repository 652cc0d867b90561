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
    params:
        told=told,
        # Only what retrains the root if it changes: every segment comes after this
        # file. `ancient` would not do: if this rule must run again, Snakemake 9.27
        # then plans nothing that lies behind the ancient file, not even what is missing.
        root=root_of_ladder,
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
    params:
        told=told,
        # a file of its own for each generation: an edited arm must not retrain the others
        root=root_of_ladder,
        arms=of_generation("changes"),
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
