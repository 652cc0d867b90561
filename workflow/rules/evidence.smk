"""What the report, the costs and the time to target are made from: input functions."""


def target_points(generation):
    """Every checkpoint of a generation's arms: arm, seed, segment, its match with the reference."""
    return [
        {
            "arm": arm,
            "seed": seed,
            "segment": segment,
            "match": str(
                MatchName(
                    roster.segment_player(PROJECT, generation, arm, seed, segment),
                    REFERENCES[generation],
                )
            ),
        }
        for arm in ARMS
        for seed in PROJECT.seeds
        for segment in range(PROJECT.segments(generation))
    ]


def get_target_input(wildcards):
    """The matches of all checkpoints with the reference, what played, and how fast it trained."""
    name = wildcards.generation
    if name not in REFERENCES:
        raise WorkflowError(f"{name} is a root and has no arms; time to target compares two arms")
    points = target_points(name)
    folders = [segment_folder(name, p["arm"], p["seed"], p["segment"]) for p in points]
    return {
        "matches": [match_file(point["match"]) for point in points],
        "checkpoints": [f"{folder}/checkpoint.safetensors" for folder in folders],
        "metrics": [f"{folder}/metrics.jsonl" for folder in folders],
        "reference": get_player_file(REFERENCES[name]),
    }


def measured(generation):
    """What the report page measures beyond the ladder, or shows since it is there: by section."""
    ancestors = [name for name in PROJECT.lineage(generation) if name in REFERENCES]
    files = {
        "target": [f"{OUT}/target/{name}.json" for name in ancestors],
        "bench": [f"{OUT}/bench/arms/{name}.json" for name in ancestors],
        "watch": [f"{OUT}/watch/{generation}.csv"],
        "panel": [f"{OUT}/panel/{generation}.json"],
    }
    return {
        section: [path for path in paths if section in PROJECT.sections or Path(path).exists()]
        for section, paths in files.items()
    }


def get_costs_input(wildcards):
    """The ladder, and what the report measures: its jobs cost something, too."""
    found = measured(wildcards.generation)
    files = [path for paths in found.values() for path in paths]
    return {"ladder": f"{OUT}/ladder/{wildcards.generation}.json", "measured": files}


def get_page_input(wildcards):
    """The ladder, what it cost, what trained, and what was measured."""
    name = wildcards.generation
    return {
        "ladder": f"{OUT}/ladder/{name}.json",
        "costs": f"{OUT}/costs/{name}.json",
        "identities": [
            f"{segment_folder(ancestor, arm, seed, segment)}/identity.json"
            for ancestor in PROJECT.lineage(name)
            for arm in GENERATIONS[ancestor].arms
            for seed in PROJECT.seeds
            for segment in range(PROJECT.segments(ancestor))
        ],
        **measured(name),
    }
