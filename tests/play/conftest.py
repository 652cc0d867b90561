"""The page's modules run by node, and what the page needs from the npm registry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from royale.errors import RoyaleError
from royale.play import runtime, site

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "bot"))  # its helpers make champions


@pytest.fixture(scope="session")
def node(tmp_path_factory):
    """ask(task, **request) -> what the page's modules answer; skips where node is missing."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed: the page's rules are not tested here")
    # with a package file, so that every version of node reads .js files as modules
    page = tmp_path_factory.mktemp("page")
    for name, path in site.FILES.items():
        shutil.copy(path, page / name)
    (page / "package.json").write_text('{"type": "module"}')

    def ask(task, **request):
        done = subprocess.run(
            [program, HERE / "driver.mjs", page],
            input=json.dumps({"task": task, **request}),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def page_runtime(request):
    """onnxruntime-web's files, fetched once a checkout; skips where no registry is in reach."""
    folder = request.config.cache.mkdir(runtime.PACKAGE.replace("@", "-"))
    files = {"module": folder / "ort.js", "wasm": folder / "ort.wasm"}
    if not all(path.exists() for path in files.values()):
        try:
            runtime.fetch(files["module"], files["wasm"])
        except RoyaleError as error:
            pytest.skip(str(error))
    return files
