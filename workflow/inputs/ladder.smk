"""What a generation is decided from."""


def get_wall_clock_input(wildcards):
    """Every segment of both arms, for one seed."""
    return {
        f"{arm}_{kind}": [
            f"{segment_folder(wildcards.generation, arm, wildcards.seed, segment)}/{file}"
            for segment in range(PROJECT.segments(wildcards.generation))
        ]
        for arm in ARMS
        for kind, file in (
            ("checkpoints", "checkpoint.safetensors"),
            ("metrics", "metrics.jsonl"),
        )
    }


def get_ladder_input(wildcards):
    """All that a promotion is decided from."""
    name = wildcards.generation
    generation = GENERATIONS[name]
    timed = PROJECT.direct_matches(name, wall_clock=True)
    against_parent = [
        match for arm in generation.arms for match in PROJECT.parent_matches(name, arm)
    ]
    files = {
        "direct": [match_file(match) for match in PROJECT.direct_matches(name)],
        "wall_clock": [match_file(match) for match in timed],
        "compared": [
            f"{OUT}/wall_clock/{name}/seed{match.a.seed}/compared.json" for match in timed
        ],
        "sanity": [match_file(match) for match in against_parent],
        "checkpoints": [get_player_file(player)[0] for player in PROJECT.players(name)],
        "metrics": segment_files(name, "metrics.jsonl"),
    }
    if generation.parent:
        files["parent"] = f"{OUT}/ladder/{generation.parent}.json"
        files["parent_champion"] = f"{OUT}/ladder/{generation.parent}/champion.safetensors"
    return files


def changes_of_arms(wildcards):
    """The recipe keys that each arm of a generation sets."""
    name = wildcards.generation
    return {arm: arm_changes(name, arm) for arm in GENERATIONS[name].arms}


def ladder_players(wildcards):
    """Names of the networks that a generation trains."""
    return list(map(str, PROJECT.players(wildcards.generation)))
