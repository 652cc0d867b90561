"""What the report page is made from."""


def measured(generation):
    """What the key `report` adds to the ladder's own files, by section."""
    ancestors = [name for name in PROJECT.lineage(generation) if GENERATIONS[name].parent]
    files = {
        "target": [f"{OUT}/target/{name}.json" for name in ancestors],
        "bench": [f"{OUT}/bench/arms/{name}.json" for name in ancestors],
        "watch": [f"{OUT}/watch/{generation}.csv"],
        "panel": [f"{OUT}/panel/{generation}.json"],
    }
    return {
        section: paths if section in PROJECT.sections else [] for section, paths in files.items()
    }


def get_page_input(wildcards):
    """The ladder, what it cost, what trained, and what was measured."""
    name = wildcards.generation
    lineage = PROJECT.lineage(name)
    return {
        "ladder": f"{OUT}/ladder/{name}.json",
        "costs": f"{OUT}/costs/{name}.json",
        "identities": [path for one in lineage for path in segment_files(one, "identity.json")],
        **measured(name),
    }
