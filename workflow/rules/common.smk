"""What all rules share: the checked configuration, what it says of a generation, and paths."""

import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from royale import games
from royale.errors import ConfigError, RoyaleError
from royale.evidence.names import ARMS, ROOT_ARM, MatchName
from royale.project import roster
from royale.project.arms import needs_doctor
from royale.project.asked import check_asked
from royale.project.project import load_project
from royale.report import costs
from royale.report.table import print_ladder
from royale.run import lock as runlock, shutdown
from royale.run.told import Told

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
CONDA_ENV = str(ROOT / "workflow" / "envs" / "royale.yaml")
PROFILE = PROJECT.profile
RESOURCES = PROFILE["resources"]
ROOTS = PROJECT.roots()
TOLD_FILE = f"{OUT}/told.json"
TOLD = Told(
    results=OUT,
    bench=f"{OUT}/bench/{PROJECT.profile_name}.json",
    note=PROFILE["description"],
    rented=PROFILE["rented"],
    price_per_hour=PROFILE["price_per_hour"],
    currency=PROFILE["currency"],
    runtime=RESOURCES["runtime"],
    checkpoint_seconds=PROFILE["checkpoint_seconds"],
    processes=PROFILE["processes"],
)


wildcard_constraints:
    generation="|".join(GENERATIONS),
    arm="|".join([*ARMS, ROOT_ARM]),
    seed=r"0|[1-9]\d*",
    segment=r"0|[1-9]\d*",
    profile=PROJECT.profile_name,
    ladder="|".join(ROOTS),
    game="|".join(PROFILE["per_game"]),
    match=roster.match_pattern(PROJECT),
    number=r"0|[1-9]\d*",


onstart:
    # Snakemake makes this block a function; a local would drop the lock at its end
    global RUN_LOCK
    try:
        RUN_LOCK = runlock.hold(OUT)
        TOLD.write(TOLD_FILE)
    except RoyaleError as error:
        sys.exit(f"error: {error}")
    shutdown.pass_sigterm_on()


# A job on another machine has no `onstart`, and without a shared disk no file of this one.
if workflow.remote_exec and not Path(TOLD_FILE).exists():
    TOLD.write(TOLD_FILE)


onsuccess:
    print_ladder(OUT, list(GENERATIONS), STARTED)


def told(wildcards, output):
    """Path of the values that a job is told and that rerun nothing (royale/run/told.py).

    A param that is a function of `output` counts as derived: Snakemake neither records nor
    compares it, so a rule can be given this file without running again for it.
    """
    return TOLD_FILE


def more_memory(wildcards, attempt):
    """Memory of a job, MB: a quarter more on every retry.

    The wall time stays: a retried segment goes on from what it saved, and what a rented
    job can cost should be known. Resources rerun nothing.
    """
    return RESOURCES["mem_mb"] * (3 + attempt) // 4


def of_generation(key):
    """What a rule's generation has under a name, such as `game`: a function of wildcards."""
    return lambda wildcards: getattr(GENERATIONS[wildcards.generation], key)


def of_sizes(key):
    """What the machine profile says for the game of a rule's generation: such a function, too."""
    return lambda wildcards: PROJECT.sizes(GENERATIONS[wildcards.generation].game)[key]


def segment_folder(generation, arm, seed, segment):
    """Folder of a finished training segment."""
    return f"{OUT}/train/{generation}/{arm}/seed{seed}/segment{segment}"


def segments_of(generation):
    """All segments of a generation, as arm, seed and number."""
    return [
        (arm, seed, segment)
        for arm in GENERATIONS[generation].arms
        for seed in PROJECT.seeds
        for segment in range(PROJECT.segments(generation))
    ]


def segment_files(generation, file):
    """A file of every segment of a generation."""
    return [f"{segment_folder(generation, *segment)}/{file}" for segment in segments_of(generation)]


def match_file(name):
    """Path of a match's record."""
    return f"{OUT}/matches/{name}.json"


def arm_changes(generation, arm):
    """The recipe keys an arm sets over its parent's recipe; for the root, its whole recipe."""
    if GENERATIONS[generation].parent is None:
        return dict(PROJECT.root_recipe(generation))
    return dict(GENERATIONS[generation].changes.get(arm, {}))
