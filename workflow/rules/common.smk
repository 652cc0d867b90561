"""Everything that is not a rule: the checked configuration and the input functions."""

import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from royale import games
from royale.report import costs
from royale.project import roster
from royale.run import lock as runlock, shutdown
from royale.project.arms import needs_doctor
from royale.errors import ConfigError, RoyaleError
from royale.report.table import print_ladder
from royale.evidence.names import ARMS, ROOT_ARM, MatchName
from royale.project.project import load_project
from royale.project.asked import check_asked

ROOT = Path(workflow.basedir)

try:
    PROJECT = load_project(config, ROOT)
    check_asked(PROJECT, ROOT, sys.argv[1:])
    REFERENCES = {
        name: roster.target_reference(PROJECT, name)
        for name, generation in PROJECT.generations.items()
        if generation.parent
    }
    RENTALS = costs.read_rentals(ROOT)
except ConfigError as error:
    sys.exit(f"config error: {error}")

OUT = PROJECT.results
STARTED = time.time()
logger.info(f"Profile {PROJECT.profile_name}: results are in {OUT}/")
GENERATIONS = PROJECT.generations
LAST = list(GENERATIONS)[-1]
# the furthest generation that is decided by now; the last if none is
FURTHEST = next(
    (name for name in reversed(GENERATIONS) if Path(f"{OUT}/ladder/{name}.json").exists()), LAST
)
CONDA_ENV = str(ROOT / "workflow" / "envs" / "royale.yaml")
PROFILE = PROJECT.profile
RESOURCES = PROFILE["resources"]
ROOTS = PROJECT.roots()
MATCH = roster.match_pattern(PROJECT)


wildcard_constraints:
    generation="|".join(GENERATIONS),
    arm="|".join([*ARMS, ROOT_ARM]),
    seed=r"0|[1-9]\d*",
    segment=r"0|[1-9]\d*",
    profile=PROJECT.profile_name,
    ladder="|".join(ROOTS),
    game="|".join(PROFILE["per_game"]),
    match=MATCH,
    number=r"0|[1-9]\d*",


onstart:
    # Snakemake makes this block a function; a local would drop the lock at its end
    global RUN_LOCK
    try:
        RUN_LOCK = runlock.hold(OUT)
    except RoyaleError as error:
        sys.exit(f"error: {error}")
    shutdown.pass_sigterm_on()


onsuccess:
    print_ladder(OUT, list(GENERATIONS), STARTED)


def more_memory(wildcards, attempt):
    """Memory of a job, MB: a quarter more on every retry.

    The wall time stays: a retried segment goes on from what it saved, and what a rented
    job can cost should be known. Resources rerun nothing.
    """
    return RESOURCES["mem_mb"] * (3 + attempt) // 4


def segment_folder(generation, arm, seed, segment):
    """Folder of a finished training segment."""
    return f"{OUT}/train/{generation}/{arm}/seed{seed}/segment{segment}"


def last_checkpoint(generation, arm, seed):
    """Checkpoint at the end of an arm's training."""
    last = PROJECT.segments(generation) - 1
    return f"{segment_folder(generation, arm, seed, last)}/checkpoint.safetensors"


def arm_doctors(generations):
    """The preflights of those generations whose arms change what a machine must be asked."""
    return [
        f"{OUT}/doctor/{PROJECT.profile_name}/{GENERATIONS[name].ladder}/{name}.json"
        for name in generations
        if GENERATIONS[name].parent and needs_doctor(GENERATIONS[name].changes)
    ]


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
        for root in GENERATIONS
        if GENERATIONS[root].parent is None
    }


def root_files(pattern):
    """A file of every segment of every root: `pattern` takes generation, seed and segment."""
    return [
        pattern.format(root, seed, segment)
        for root in GENERATIONS
        if GENERATIONS[root].parent is None
        for seed in PROJECT.seeds
        for segment in range(PROJECT.segments(root))
    ]


def check_segment(wildcards):
    """Refuse a segment that no arm of the configuration has."""
    arms = GENERATIONS[wildcards.generation].arms
    segments = PROJECT.segments(wildcards.generation)
    if wildcards.arm not in arms or int(wildcards.segment) >= segments:
        raise WorkflowError(
            f"{wildcards.generation} has arms {', '.join(arms)} and {segments} segments an arm; "
            f"there is no {wildcards.arm} segment {wildcards.segment}"
        )


def get_segment_input(wildcards):
    """What a segment starts from: the segment before, the parent's champion, or nothing."""
    check_segment(wildcards)
    parent = GENERATIONS[wildcards.generation].parent
    ladder = GENERATIONS[wildcards.generation].ladder
    files = {"doctor": f"{OUT}/doctor/{PROJECT.profile_name}/{ladder}.json"}
    files["arms_doctor"] = arm_doctors([wildcards.generation])
    if parent:
        files["parent"] = f"{OUT}/ladder/{parent}.json"
    if int(wildcards.segment):
        before = segment_folder(
            wildcards.generation, wildcards.arm, wildcards.seed, int(wildcards.segment) - 1
        )
        files["start"] = f"{before}/checkpoint.safetensors"
    elif parent:
        files["start"] = f"{OUT}/ladder/{parent}/champion.safetensors"
    return files


def arm_changes(generation, arm):
    """The recipe keys an arm sets over its parent's recipe; for the root, its whole recipe."""
    if GENERATIONS[generation].parent is None:
        return dict(PROJECT.root_recipe(generation))
    return dict(GENERATIONS[generation].changes.get(arm, {}))


def sizes_of(wildcards):
    """The machine profile's entry for the game of a generation."""
    return PROJECT.sizes(GENERATIONS[wildcards.generation].game)


def get_player_file(player):
    """The weights of a player, or nothing for one that is no network."""
    if roster.kind(PROJECT, player) != "network":
        return []
    if player.other:
        return [PROJECT.panel["members"][player.other]["file"]]
    generation, arm, seed = player.generation, player.arm, player.seed
    if player.is_champion:
        return [f"{OUT}/ladder/{generation}/champion.safetensors"]
    if player.wall_clock:
        return [f"{OUT}/wall_clock/{generation}/seed{seed}/{arm}.safetensors"]
    if player.segment is None:
        return [last_checkpoint(generation, arm, seed)]
    return [f"{segment_folder(generation, arm, seed, player.segment)}/checkpoint.safetensors"]


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


def get_match_input(wildcards):
    """The weights of both players of a match."""
    match = MatchName.parse(wildcards.match)
    return {"a": get_player_file(match.a), "b": get_player_file(match.b)}


def match_players(wildcards):
    """What stands behind the two names of a match."""
    match = MatchName.parse(wildcards.match)
    return {side: roster.describe(PROJECT, player) for side, player in zip("ab", match.players)}


def match_game(wildcards):
    """The game of a match."""
    try:
        return roster.match_game(PROJECT, MatchName.parse(wildcards.match))
    except RoyaleError as error:
        raise WorkflowError(f"results/matches/{wildcards.match}.json: {error}")


def match_file(name):
    """Path of a match's record."""
    return f"{OUT}/matches/{name}.json"


def get_ladder_input(wildcards):
    """All that a promotion is decided from."""
    name = wildcards.generation
    generation = GENERATIONS[name]
    files = {
        "direct": [match_file(match) for match in PROJECT.direct_matches(name)],
        "wall_clock": [
            match_file(match) for match in PROJECT.direct_matches(name, wall_clock=True)
        ],
        "compared": [
            f"{OUT}/wall_clock/{name}/seed{seed}/compared.json"
            for seed in PROJECT.seeds
            if PROJECT.direct_matches(name, wall_clock=True)
        ],
        "sanity": [
            match_file(match)
            for arm in generation.arms
            for match in PROJECT.parent_matches(name, arm)
        ],
        "checkpoints": [get_player_file(player)[0] for player in PROJECT.players(name)],
        "metrics": [
            f"{segment_folder(name, arm, seed, segment)}/metrics.jsonl"
            for arm in generation.arms
            for seed in PROJECT.seeds
            for segment in range(PROJECT.segments(name))
        ],
    }
    if generation.parent:
        files["parent"] = f"{OUT}/ladder/{generation.parent}.json"
        files["parent_champion"] = f"{OUT}/ladder/{generation.parent}/champion.safetensors"
    return files


def watch_rivals(generation):
    """The scripted players of a generation's game, which do not learn."""
    return list(games.load(GENERATIONS[generation].game).scripted)


def get_watch_input(wildcards):
    """The watch of all segments of a generation and its ancestors, and who was promoted."""
    return {
        "ladder": f"{OUT}/ladder/{wildcards.generation}.json",
        "segments": [
            f"{OUT}/watch/{name}/{arm}/seed{seed}/segment{segment}.json"
            for name in PROJECT.lineage(wildcards.generation)
            for arm in GENERATIONS[name].arms
            for seed in PROJECT.seeds
            for segment in range(PROJECT.segments(name))
        ],
    }


def get_panel_input(wildcards):
    """Every match of the panel, and the ladder files that say whose weights its champions are."""
    name = wildcards.generation
    return {
        "ladders": [f"{OUT}/ladder/{one}.json" for one in PROJECT.lineage(name)],
        "matches": [match_file(match) for match in roster.panel_matches(PROJECT, name)],
        "round_robin": f"{OUT}/round_robin/{GENERATIONS[name].game}.json",
    }
