rule panel:
    """Rate the permanent panel: every champion so far and the players that never change."""
    input:
        unpack(get_panel_input),
    output:
        record=f"{OUT}/panel/{{generation}}.json",
        table=report(
            f"{OUT}/panel/{{generation}}.csv",
            caption="../report/panel.rst",
            category="Panel",
        ),
        markdown=f"{OUT}/panel/{{generation}}.md",
        plot=report(
            f"{OUT}/panel/{{generation}}.svg",
            caption="../report/panel.rst",
            category="Panel",
        ),
    log:
        f"{OUT}/logs/panel/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/panel/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        game=of_generation("game"),
        profile=PROJECT.profile_name,
        members=panel_members,
        anchor=panel_anchor,
        bar=PROJECT.evidence["bar"],
    message:
        "Panel of {wildcards.generation}"
    script:
        "../../scripts/panel.py"
