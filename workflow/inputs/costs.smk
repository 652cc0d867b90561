"""What costs are counted of."""


def get_costs_input(wildcards):
    """The ladder, and what the report measures: its jobs cost something, too."""
    name = wildcards.generation
    files = [path for paths in measured(name).values() for path in paths]
    return {"ladder": f"{OUT}/ladder/{name}.json", "measured": files}


def lineage_of(wildcards):
    """A generation and its ancestors, the root first."""
    return PROJECT.lineage(wildcards.generation)
