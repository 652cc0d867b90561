"""The page in a real browser, where there is one (Debian: apt-get install chromium)."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest
import report_parts as parts

from royale.report.page import render

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
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


@pytest.mark.parametrize(
    ("dark", "paper"), [(True, "rgb(18, 22, 29)"), (False, "rgb(255, 255, 255)")]
)
def test_nothing_overflows_and_the_console_is_quiet(tmp_path, dark, paper):
    page = render(parts.evidence(), "results/smoke").replace("</body>", PROBE)
    # a window is never narrower than 500 pixels, a frame may be
    frames = "".join(
        f'<iframe width="{width}" height="900" style="border:0" '
        f'srcdoc="{html.escape(page)}"></iframe>'
        for width in (390, 1280)
    )
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html><meta charset='utf-8'><body>{frames}</body>", encoding="utf-8")
    command = [
        BROWSER,
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1800,1000",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    # only the two probes speak: so the console is read, and the page itself says nothing
    said = re.findall(r"CONSOLE.*", done.stderr)
    assert len(said) == 2 and all("probe was here" in line for line in said), said
    for width in (390, 1280):
        found = json.loads(html.unescape(re.search(rf'data-w{width}="([^"]*)"', done.stdout)[1]))
        assert found == {
            "scroll": width,
            "texts": True,
            "wide": 0,
            "small": 0,
            "outside": [],
            "paper": paper,
        }
