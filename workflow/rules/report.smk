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


def measured(generation):
    """What the report page measures beyond the ladder, or shows since it is there: by section."""
    ancestors = [name for name in ancestry(generation) if name in REFERENCES]
    files = {
        "target": [f"{OUT}/target/{name}.json" for name in ancestors],
        "bench": [f"{OUT}/bench/arms/{name}.json" for name in ancestors],
        "watch": [f"{OUT}/watch/{generation}.csv"],
    }
    return {
        section: [path for path in paths if section in PROJECT.sections or Path(path).exists()]
        for section, paths in files.items()
    }


def get_page_input(wildcards):
    """The ladder, what it cost, what trained, and what was measured."""
    name = wildcards.generation
    return {
        "ladder": f"{OUT}/ladder/{name}.json",
        "costs": f"{OUT}/costs/{name}.json",
        "identities": [
            f"{segment_folder(ancestor, arm, seed, segment)}/identity.json"
            for ancestor in ancestry(name)
            for arm in GENERATIONS[ancestor].arms
            for seed in PROJECT.seeds
            for segment in range(PROJECT.segments(ancestor))
        ],
        "panel": [path for path in [f"{OUT}/panel/{name}.json"] if Path(path).exists()],
        **measured(name),
    }


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
        results=OUT,
    message:
        "Report page up to {wildcards.generation}"
    script:
        "../../scripts/report_page.py"


rule report_index:
    """The page and the costs of the furthest generation that is decided."""
    input:
        page=f"{OUT}/report/{FURTHEST}.html",
        costs=f"{OUT}/costs/{FURTHEST}.csv",
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
        "Report page and costs of {FURTHEST} as index.html and costs.csv"
    script:
        "../../scripts/report_index.py"
