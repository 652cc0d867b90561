rule report_ladder:
    """Show a ladder up to a generation: the plot of margins, the table as Markdown and CSV."""
    input:
        f"{OUT}/ladder/{{generation}}.json",
    output:
        plot=report(
            f"{OUT}/report/{{generation}}.svg",
            caption="../report/margins.rst",
            category="Ladder",
        ),
        table=report(
            f"{OUT}/report/{{generation}}.csv",
            caption="../report/table.rst",
            category="Ladder",
        ),
        markdown=f"{OUT}/report/{{generation}}.md",
    log:
        f"{OUT}/logs/report_ladder/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/report_ladder/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    message:
        "Report of the ladder up to {wildcards.generation}"
    script:
        "../../scripts/report_ladder.py"
