rule train_segment:
    """Train one arm for one segment, exactly continuing the segment before."""
    input:
        unpack(get_segment_input),
    output:
        checkpoint=f"{OUT}/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}/checkpoint.safetensors",
        identity=f"{OUT}/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}/identity.json",
        metrics=f"{OUT}/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}/metrics.jsonl",
    log:
        f"{OUT}/logs/train_segment/{{generation}}.{{arm}}.seed{{seed}}.segment{{segment}}.log",
    benchmark:
        f"{OUT}/benchmarks/train_segment/{{generation}}.{{arm}}.seed{{seed}}.segment{{segment}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["train"] * PROFILE["processes"]
    resources:
        mem_mb=more_memory,
        runtime=RESOURCES["runtime"],
        gpu=RESOURCES["gpu"] * PROFILE["processes"],
        # here and not in params, since it changes no result and so reruns nothing
        checkpoint_seconds=PROFILE["checkpoint_seconds"],
        processes=PROFILE["processes"],
        rented=int(PROFILE["rented"]),
        # read where it is there; no input, since a ladder needs no bench
        bench=f"{OUT}/bench/{PROJECT.profile_name}.json",
        ladder=lambda wildcards: GENERATIONS[wildcards.generation].ladder,
    params:
        # kept outside the outputs, which Snakemake deletes when a rule fails
        partial=f"{OUT}/partial/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}",
        kept=f"{OUT}/kept/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}",
        changes=lambda wildcards: arm_changes(wildcards.generation, wildcards.arm),
        game=lambda wildcards: GENERATIONS[wildcards.generation].game,
        settings=lambda wildcards: sizes_of(wildcards)["settings"],
        train=lambda wildcards: PROJECT.arm_geometry(wildcards.generation),
        scale=lambda wildcards: sizes_of(wildcards)["scale"],
        device=PROFILE["device"],
        determinism=PROFILE["determinism"],
    message:
        "Training {wildcards.generation} {wildcards.arm}, seed {wildcards.seed}, segment {wildcards.segment}"
    script:
        "../../scripts/train_segment.py"
