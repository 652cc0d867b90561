# Not inputs of the ladder either: they tell what a decision cost, and change none.
rule target:
    """Steps and time until each arm of a generation beats the reference."""
    input:
        unpack(get_target_input),
    output:
        f"{OUT}/target/{{generation}}.json",
    log:
        f"{OUT}/logs/target/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/target/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        profile=PROJECT.profile_name,
        question=lambda wildcards: GENERATIONS[wildcards.generation].question,
        reference=lambda wildcards: str(REFERENCES[wildcards.generation]),
        points=lambda wildcards: target_points(wildcards.generation),
        bar=PROJECT.evidence["bar"],
    message:
        "Time to target of {wildcards.generation}"
    script:
        "../../scripts/target.py"


rule bench_arms:
    """Measure a few training iterations of both arms: the microbenchmark's prediction of b."""
    input:
        doctor=lambda wildcards: f"{OUT}/doctor/{PROJECT.profile_name}/{GENERATIONS[wildcards.generation].ladder}.json",
        parent=lambda wildcards: f"{OUT}/ladder/{GENERATIONS[wildcards.generation].parent}.json",
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
        game=lambda wildcards: GENERATIONS[wildcards.generation].game,
        settings=lambda wildcards: sizes_of(wildcards)["settings"],
        train=lambda wildcards: PROJECT.geometry(GENERATIONS[wildcards.generation].game),
        scale=lambda wildcards: sizes_of(wildcards)["scale"],
        changes=lambda wildcards: {arm: arm_changes(wildcards.generation, arm) for arm in ARMS},
        device=PROFILE["device"],
        determinism=PROFILE["determinism"],
        scratch=f"{OUT}/partial/bench_arms/{{generation}}",
    message:
        "Bench: measuring both arms of {wildcards.generation}"
    script:
        "../../scripts/bench_arms.py"
