"""Files asked for on the command line that cannot be made: refused before anything is made."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

from royale.errors import ConfigError
from royale.project.config import names, read_yaml
from royale.project.project import DEFAULT_PROFILE, Project

# A results file of one generation, as it may be asked for.
KINDS = "ladder|panel|target|train|watch|wall_clock|costs|export|onnx"
OF_GENERATION = re.compile(
    rf"(?P<kind>{KINDS}|report(?!/index\.)|play(?!/runtime/))/(?P<name>[a-z][a-z0-9_]*)[./]"
)
# The game whose competition takes bots (royale/export/export.py), and whose rules the page knows.
EXPORTED = "generals"


def check_asked(project: Project, root: Path, words: Sequence[str]) -> None:
    """Refuse a file on the command line that cannot be made, before anything is made for it.

    It belongs to another profile's results, or to a generation that is not planned here, or
    it is something that its game has not.
    """
    profiles = names(root, "profiles")
    for word in words:
        # `./results/...` is the same file
        folder, _, rest = posixpath.normpath(word).partition("/")
        if folder != "results" or not rest:
            continue
        owner = rest.split("/")[0]
        owner = owner if owner in profiles else DEFAULT_PROFILE
        if owner != project.profile_name:
            raise ConfigError(
                f"{word} belongs to profile {owner}, and this is profile {project.profile_name} "
                f"(its results are in {project.results}/); add --config profile={owner}"
            )
        inside = posixpath.relpath(f"{folder}/{rest}", project.results)
        if found := OF_GENERATION.match(inside):
            _check_generation(project, root, word, found["kind"], found["name"])


def _check_generation(project: Project, root: Path, word: str, kind: str, name: str) -> None:
    """Refuse a file of a generation that is not planned, or whose game has no such file."""
    entry = project.generations.get(name)
    if entry is None:
        having = [
            ladder
            for ladder in names(root, "ladders")
            if name in read_yaml(root, Path(f"config/ladders/{ladder}.yaml")).get("generations", {})
        ]
        fix = f"there are {', '.join(project.generations)}"
        if having:
            fix = f"config/ladders/{having[0]}.yaml has it; add --config 'ladders=[{having[0]}]'"
        planned = ", ".join(project.recipes)
        raise ConfigError(f"{word}: ladders [{planned}] have no generation {name!r}; {fix}")
    if kind in ("export", "play") and entry.game != EXPORTED:
        raise ConfigError(
            f"{word}: {name} is of the game {entry.game}; only {EXPORTED} has a bot and a page to "
            f"play it; its network is {project.results}/onnx/{name}/net.onnx"
        )
