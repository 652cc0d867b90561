"""What the time to target is measured from."""


def target_reference(wildcards):
    """Name of the player whose defeat is the target."""
    return str(REFERENCES[wildcards.generation])


def target_points(wildcards):
    """Every checkpoint of a generation's arms: arm, seed, segment, its match with the reference."""
    name = wildcards.generation
    return [
        {
            "arm": arm,
            "seed": seed,
            "segment": segment,
            "match": str(
                MatchName(
                    roster.segment_player(PROJECT, name, arm, seed, segment), REFERENCES[name]
                )
            ),
        }
        for arm, seed, segment in segments_of(name)
    ]


def get_target_input(wildcards):
    """The matches of all checkpoints with the reference, what played, and how fast it trained."""
    name = wildcards.generation
    if name not in REFERENCES:
        raise WorkflowError(f"{name} is a root and has no arms; time to target compares two arms")
    return {
        "matches": [match_file(point["match"]) for point in target_points(wildcards)],
        "checkpoints": segment_files(name, "checkpoint.safetensors"),
        "metrics": segment_files(name, "metrics.jsonl"),
        "reference": get_player_file(REFERENCES[name]),
    }
