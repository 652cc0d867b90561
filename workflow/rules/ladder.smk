rule wall_clock:
    """Find what each arm had when the first of the two finished."""
    input:
        unpack(get_wall_clock_input),
    output:
        treatment=f"{OUT}/wall_clock/{{generation}}/seed{{seed}}/treatment.safetensors",
        control=f"{OUT}/wall_clock/{{generation}}/seed{{seed}}/control.safetensors",
        compared=f"{OUT}/wall_clock/{{generation}}/seed{{seed}}/compared.json",
    log:
        f"{OUT}/logs/wall_clock/{{generation}}.seed{{seed}}.log",
    benchmark:
        f"{OUT}/benchmarks/wall_clock/{{generation}}.seed{{seed}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    message:
        "Equal wall clock of {wildcards.generation}, seed {wildcards.seed}"
    script:
        "../../scripts/wall_clock.py"


rule ladder:
    """Decide a generation: the direct match, the parent gate, the champion."""
    input:
        unpack(get_ladder_input),
    output:
        ladder=f"{OUT}/ladder/{{generation}}.json",
        champion=f"{OUT}/ladder/{{generation}}/champion.safetensors",
    log:
        f"{OUT}/logs/ladder/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/ladder/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        told=told,
        question=of_generation("question"),
        game=of_generation("game"),
        parent=of_generation("parent"),
        ladder=of_generation("ladder"),
        profile=PROJECT.profile_name,
        scale=of_sizes("scale"),
        changes=changes_of_arms,
        players=ladder_players,
        seeds=list(PROJECT.seeds),
        evidence={**PROJECT.evidence, "mode": PROJECT.match["mode"]},
    message:
        "Deciding {wildcards.generation}"
    script:
        "../../scripts/ladder.py"
