rule costs:
    """What the jobs up to a generation cost, by rule and by arm."""
    input:
        unpack(get_costs_input),
    output:
        table=report(
            f"{OUT}/costs/{{generation}}.csv",
            caption="../report/costs.rst",
            category="Costs",
        ),
        summary=f"{OUT}/costs/{{generation}}.json",
    log:
        f"{OUT}/logs/costs/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/costs/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
        gpu=0,
    params:
        told=told,
        generations=lineage_of,
        profile=PROJECT.profile_name,
        price=PROFILE["price_per_hour"],
        currency=PROFILE["currency"],
        rentals=RENTALS,
    message:
        "Costs up to {wildcards.generation}"
    script:
        "../../scripts/costs.py"
