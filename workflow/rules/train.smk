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
    params:
        told=told,
        # a function of `output`, as `told` is: it reruns nothing
        ladder=lambda wildcards, output: GENERATIONS[wildcards.generation].ladder,
        # kept outside the outputs, which Snakemake deletes when a rule fails
        partial=f"{OUT}/partial/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}",
        kept=f"{OUT}/kept/train/{{generation}}/{{arm}}/seed{{seed}}/segment{{segment}}",
        changes=lambda wildcards: arm_changes(wildcards.generation, wildcards.arm),
        game=of_generation("game"),
        settings=of_sizes("settings"),
        train=lambda wildcards: PROJECT.arm_geometry(wildcards.generation),
        scale=of_sizes("scale"),
        device=PROFILE["device"],
        determinism=PROFILE["determinism"],
    message:
        "Training {wildcards.generation} {wildcards.arm}, seed {wildcards.seed}, segment {wildcards.segment}"
    script:
        "../../scripts/train_segment.py"
