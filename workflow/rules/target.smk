# No input of the ladder: it tells what a decision cost, and changes none.
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
        question=of_generation("question"),
        reference=target_reference,
        points=target_points,
        bar=PROJECT.evidence["bar"],
    message:
        "Time to target of {wildcards.generation}"
    script:
        "../../scripts/target.py"
