"""The page in a real browser, where there is one (Debian: apt-get install chromium)."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest
import report_parts as parts

from royale.report import charts
from royale.report.page import PHONE, render

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
WIDTHS = (390, 1280)
pytestmark = pytest.mark.skipif(not BROWSER, reason="no chromium here (apt-get install chromium)")

# What the browser itself measures in each frame, written where --dump-dom shows it.
PROBE = """<script>
const boxes = [...document.querySelectorAll("p, h1, h2, h3, figure, .scroll")];
const texts = [...document.querySelectorAll("svg text")].filter(
  t => t.getBoundingClientRect().width);
const outside = t => {
  const box = t.getBoundingClientRect(), frame = t.closest("svg").getBoundingClientRect();
  return box.left < frame.left - 2 || box.right > frame.right + 2
    || box.top < frame.top - 2 || box.bottom > frame.bottom + 2; };
parent.document.body.setAttribute("data-w" + innerWidth, JSON.stringify({
  scroll: document.documentElement.scrollWidth,
  texts: texts.length > 50,
  wide: boxes.filter(b => b.getBoundingClientRect().right > innerWidth + 1).length,
  small: texts.filter(t => t.getBoundingClientRect().height < 11).length,
  outside: texts.filter(outside).map(t => t.textContent),
  paper: getComputedStyle(document.body).backgroundColor }));
console.log("probe was here");
</script></body>"""


def measured(folder, page, dark=False):
    """What the probe finds in a page, by the width of its frame: on a phone and on a screen."""
    page = page.replace("</body>", PROBE)
    # a window is never narrower than 500 pixels, a frame may be
    frames = "".join(
        f'<iframe width="{width}" height="900" style="border:0" '
        f'srcdoc="{html.escape(page)}"></iframe>'
        for width in WIDTHS
    )
    path = folder / "page.html"
    path.write_text(f"<!DOCTYPE html><meta charset='utf-8'><body>{frames}</body>", encoding="utf-8")
    command = [
        BROWSER,
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        f"--user-data-dir={folder / 'profile'}",
        "--window-size=1800,1000",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    # only the two probes speak: so the console is read, and the page itself says nothing
    said = re.findall(r"CONSOLE.*", done.stderr)
    assert len(said) == 2 and all("probe was here" in line for line in said), said
    return {
        width: json.loads(html.unescape(re.search(rf'data-w{width}="([^"]*)"', done.stdout)[1]))
        for width in WIDTHS
    }


def quiet(width, paper):
    return {
        "scroll": width,
        "texts": True,
        "wide": 0,
        "small": 0,
        "outside": [],
        "paper": paper,
    }


@pytest.mark.parametrize(
    ("dark", "paper"), [(True, "rgb(18, 22, 29)"), (False, "rgb(255, 255, 255)")]
)
def test_nothing_overflows_and_the_console_is_quiet(tmp_path, dark, paper):
    found = measured(tmp_path, render(parts.evidence(), "results/smoke"), dark)
    assert found == {width: quiet(width, paper) for width in WIDTHS}


def test_long_words_stay_inside_the_charts(tmp_path):
    ladder = parts.sequential()
    for entry in ladder["lineage"]:
        entry["question"] = "minibatch 1024 over 2048, with WARMUP of twenty iterations " * 3
    panel = parts.panel()
    panel["ratings"][0]["also"] = [f"g{k:02}.champion" for k in range(2, 12)]
    drawings = [
        charts.margins(ladder, PHONE),
        charts.ratings(panel, PHONE),
        charts.learning_curves(parts.learning(), PHONE),
        charts.watch_curves(parts.watch_rows(), PHONE),
    ]
    files = "".join(drawing.standalone("A title of many words " * 4) for drawing in drawings)
    page = f"<!DOCTYPE html><body style='background: #fff'>{files}</body>"
    found = measured(tmp_path, page)
    assert found == {width: quiet(width, "rgb(255, 255, 255)") for width in WIDTHS}
