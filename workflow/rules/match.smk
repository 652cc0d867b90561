rule match:
    """Play a match: all games together, every map from both seats."""
    input:
        unpack(get_match_input),
    output:
        f"{OUT}/matches/{{match}}.json",
    log:
        f"{OUT}/logs/match/{{match}}.log",
    benchmark:
        f"{OUT}/benchmarks/match/{{match}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["match"]
    resources:
        mem_mb=more_memory,
        runtime=RESOURCES["runtime"],
        gpu=RESOURCES["gpu"],
    params:
        game=match_game,
        players=match_players,
        settings=match_settings,
        games=PROJECT.games,
        sequential=match_test,
        policy=PROFILE["policy"],
        device=PROFILE["device"],
    message:
        "Match {wildcards.match}"
    script:
        "../../scripts/match.py"


rule round_robin:
    """The scripted players of a game against each other."""
    output:
        record=f"{OUT}/round_robin/{{game}}.json",
        table=f"{OUT}/round_robin/{{game}}.md",
    log:
        f"{OUT}/logs/round_robin/{{game}}.log",
    benchmark:
        f"{OUT}/benchmarks/round_robin/{{game}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["match"]
    resources:
        mem_mb=more_memory,
        runtime=RESOURCES["runtime"],
        gpu=0,
    params:
        settings=lambda wildcards: PROJECT.sizes(wildcards.game)["settings"],
        games=PROJECT.games,
    message:
        "Round robin of the scripted players of {wildcards.game}"
    script:
        "../../scripts/round_robin.py"
