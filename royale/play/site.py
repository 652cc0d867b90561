"""The page where a champion is played: a folder that any file server can show."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from royale import games
from royale.errors import RoyaleError
from royale.files import expect_sha256, write_json, write_text
from royale.games.generals.settings import settings_of
from royale.learn import checkpoint, untrusted
from royale.learn.value import ValueCodec
from royale.play import PAGE

GAME = "generals"  # the only game with such a page
OF_GAME = (
    "style.css",
    "random.js",
    "maps.js",
    "rules.js",
    "observation.js",
    "planes.js",
    "svg.js",
    "policy.js",
    "view.js",
    "chart.js",
)
# index.html is written last, since it is the rule's target.
OWN = ("match.js", "worker.js", "human.js", "page.js", "index.html")
FILES = {name: games.page_file(GAME, name) for name in OF_GAME} | {
    name: PAGE / name for name in OWN
}


def about(champion: Path, title: str) -> dict[str, Any]:
    """What the page must know of a champion (`play.schema.yaml`).

    RoyaleError if the file cannot be read, or the champion is of a game without a page.
    """
    try:
        arrays, meta = checkpoint.load(champion)
    except OSError as error:
        raise RoyaleError(f"{champion}: cannot be read ({error.strerror})") from None
    if meta["game"] != GAME:
        raise RoyaleError(f"{champion}: a champion of {meta['game']!r}; only {GAME} has a page")
    recipe = untrusted.network_recipe(arrays, meta, champion)
    weights = [array for name, array in arrays.items() if name.startswith("ema/")]
    return {
        "title": title,
        "settings": settings_of(meta["settings"]),
        "encoder": recipe.encoder,
        "value_head": recipe.value_head,
        "value_support": float(ValueCodec(recipe).support),
        "shaping": dict(recipe.shaping),
        "parameters": sum(array.size for array in weights),
    }


def write(
    folder: Path,
    champion: Path,
    onnx: Path,
    parity: dict[str, Any],
    runtime: dict[str, Path],
    title: str,
) -> None:
    """Write the folder.

    onnx: the champion's graph, as `parity` (the export's report) says; RoyaleError if the
    champion is another one. runtime: `module` and `wasm`, see `runtime.fetch`.
    """
    expect_sha256(champion, parity["champion_sha256"], "its parity.json")
    (folder / "vendor").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(runtime["module"], folder / "vendor/ort.js")
    shutil.copyfile(runtime["wasm"], folder / "vendor/ort.wasm")
    shutil.copyfile(onnx, folder / "bot.onnx")
    told = about(champion, title) | {"champion_sha256": parity["champion_sha256"]}
    write_json(folder / "bot.json", told, "play")
    for name, path in FILES.items():
        write_text(folder / name, path.read_text(encoding="utf-8"))
