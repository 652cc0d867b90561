"""What is benchmarked."""


def root_runs():
    """Each ladder's root and the metrics files of its segments, by seed."""
    return {
        GENERATIONS[root].ladder: {
            "generation": root,
            "metrics": {
                str(seed): [
                    f"{segment_folder(root, ROOT_ARM, seed, segment)}/metrics.jsonl"
                    for segment in range(PROJECT.segments(root))
                ]
                for seed in PROJECT.seeds
            },
        }
        for root in root_names()
    }


def root_names():
    """The generations that are trained from scratch."""
    return [name for name, generation in GENERATIONS.items() if generation.parent is None]


def get_learning_input(wildcards):
    """The watch and the metrics of every segment of every root."""
    return {
        "watches": [path for root in root_names() for path in watch_files(root)],
        "metrics": [path for root in root_names() for path in segment_files(root, "metrics.jsonl")],
    }


def get_bench_arms_input(wildcards):
    """The preflight of the ladder, and the decision whose recipe both arms start from."""
    name = wildcards.generation
    return {
        "doctor": ladder_doctor(name),
        "parent": f"{OUT}/ladder/{GENERATIONS[name].parent}.json",
    }


def bench_arms_geometry(wildcards):
    """The numbers that a segment's training depends on."""
    return PROJECT.geometry(GENERATIONS[wildcards.generation].game)
