"""Files asked for on the command line that cannot be made."""

from __future__ import annotations

import pytest
from configuration import CONFIG, ROOT

from royale.errors import ConfigError
from royale.project.asked import check_asked
from royale.project.project import load_project


def test_targets_of_other_profiles_are_refused():
    project = load_project({**CONFIG, "profile": "smoke"}, ROOT)
    check_asked(project, ROOT, ["-n", "results/smoke/ladder/g06.json", "--cores", "2"])
    with pytest.raises(ConfigError, match=r"belongs to profile laptop.*smoke"):
        check_asked(project, ROOT, ["results/ladder/g06.json"])
    with pytest.raises(ConfigError, match="add --config profile=paper"):
        check_asked(project, ROOT, ["results/paper/ladder/g06.json"])
    with pytest.raises(ConfigError, match="add --config profile=paper"):
        check_asked(project, ROOT, ["./results//paper/ladder/g06.json"])


def test_targets_that_nothing_makes_are_refused_with_the_way_to_them():
    project = load_project({**CONFIG, "ladders": ["generals"]}, ROOT)
    panel = {"anchor": {"generals": "expander", "clash": "cycle"}, "members": {}}
    ladders = {"profile": "smoke", "ladders": ["generals", "clash"], "panel": panel}
    both = load_project({**CONFIG, **ladders}, ROOT)
    files = ["ladder/c02.json", "ladder/c02/champion.safetensors", "train/c02/root/seed0/x.json"]
    files += [
        "panel/c02.md",
        "target/c02.json",
        "report/c02.html",
        "costs/c02.csv",
        "watch/c02.svg",
    ]
    for file in files:
        with pytest.raises(ConfigError, match=r"generals\] have no .*'c02'.*'ladders=\[clash\]'"):
            check_asked(project, ROOT, [f"results/{file}"])
        check_asked(both, ROOT, [f"results/smoke/{file}"])
    with pytest.raises(ConfigError, match=r"results/ladder/c09\.json: .* there are g02, g03, "):
        check_asked(project, ROOT, ["results/ladder/c09.json"])
    for file in ("export/c02/parity.json", "play/c02/index.html"):
        with pytest.raises(ConfigError, match="c02 is of the game clash; only generals has"):
            check_asked(both, ROOT, [f"results/smoke/{file}"])
        check_asked(project, ROOT, [f"results/{file.replace('c02', 'g02')}"])
    check_asked(project, ROOT, ["results/play/runtime/ort.js", "results/report/index.html"])
