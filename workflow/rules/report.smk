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


rule report_page:
    """The whole report in one file that opens offline, and the break-even plane."""
    input:
        unpack(get_page_input),
    output:
        page=report(
            f"{OUT}/report/{{generation}}.html",
            caption="../report/page.rst",
            category="Ladder",
        ),
        plane=report(
            f"{OUT}/report/{{generation}}.break_even.svg",
            caption="../report/break_even.rst",
            category="Time to target",
        ),
    log:
        f"{OUT}/logs/report_page/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/report_page/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        games=PROJECT.games,
    message:
        "Report page up to {wildcards.generation}"
    script:
        "../../scripts/report_page.py"


rule report_index:
    """The page and the costs of the generation that the ladder file names as its `index`."""
    input:
        page=f"{OUT}/report/{PROJECT.index}.html",
        costs=f"{OUT}/costs/{PROJECT.index}.csv",
    output:
        page=f"{OUT}/report/index.html",
        costs=f"{OUT}/costs.csv",
    log:
        f"{OUT}/logs/report_index.log",
    benchmark:
        f"{OUT}/benchmarks/report_index.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
        gpu=0,
    message:
        "Report page and costs of {PROJECT.index} as index.html and costs.csv"
    script:
        "../../scripts/report_index.py"
