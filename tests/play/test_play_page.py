"""The pages in a real browser: they play as the engine does, and people can use them."""

from __future__ import annotations

import numpy as np
import pytest
from bot_helpers import COMPETITION, GAME, TINY, save_champion
from browser import file_server

from royale import rng
from royale.errors import RoyaleError
from royale.export import onnx_graph
from royale.export.export import bundle_of
from royale.files import read_json, sha256
from royale.games.generals.layout import GENERAL
from royale.games.protocol import View
from royale.learn.player import NetworkPlayer
from royale.play import site

CHAMPIONS = {
    "small": {"settings": TINY, "value_head": "hl_gauss", "shaping": {"land": 0.3}},
    "large": {"settings": {**COMPETITION, "max_turns": 25}, "encoder": "base"},
}
STATUS = "document.querySelector('#status').textContent"
RECORD = "import('./page.js').then(m => m.record())"


@pytest.fixture(scope="session")
def sites(tmp_path_factory, page_runtime):
    """Name -> champion and the folder of its page."""
    made = {}
    for name, knobs in CHAMPIONS.items():
        folder = tmp_path_factory.mktemp(name)
        champion = save_champion(folder / "champion.safetensors", **knobs)
        bundle = bundle_of(champion)
        onnx_graph.write(folder / "bot.onnx", bundle.weights, bundle.meta)
        parity = {"champion_sha256": sha256(champion)}
        site.write(
            folder / "site", champion, folder / "bot.onnx", parity, page_runtime, f"<{name}>"
        )
        made[name] = champion, folder / "site"
    return made


@pytest.fixture
def page(browser, sites):
    """open(name): the page in the browser, which must end without a fault or a foreign request."""
    with file_server(sites["small"][1].parents[1]) as address:

        def open_page(name):
            browser.screen(1280, 860)
            folder = sites[name][1]
            browser.go(f"{address}/{folder.parent.name}/site/")
            # the bot has thought once: its network is loaded
            browser.wait("/[0-9] [(][0-9]/.test(document.querySelector('#totals').textContent)")
            return browser

        yield open_page
        assert browser.faults == []
        assert [url for url in browser.requested_urls if not url.startswith(address)] == []


def engine_game(champion, settings, seed, greedy):
    """The game the engine plays: actions, winner, truncated."""
    player = NetworkPlayer(champion, greedy)
    batch = GAME.make(1, settings, "base")
    batch.reset(np.array([0]), np.array([seed], np.uint64))
    spec = batch.spec
    codes = np.zeros((1, 2, *spec.code_shape), np.uint8)
    scalars = np.zeros((1, 2, len(spec.scalars)), np.float32)
    legal = np.zeros((1, 2, spec.n_actions), np.uint8)
    choices = rng.fold(seed, 1)
    actions = []
    while True:
        batch.observe(codes, scalars, legal)
        pair = []
        for seat in range(2):
            key = rng.fold(choices, batch.turns[0], seat)[None]
            view = View(codes[:, seat], scalars[:, seat], legal[:, seat], batch.turns, key)
            pair.append(int(player.act(view)[0]))
        actions.append(pair)
        result = batch.step(np.array([pair], np.int32))
        if result.done[0]:
            winner = int(result.winner[0])
            return actions, None if winner < 0 else winner, bool(result.truncated[0])


@pytest.mark.parametrize(
    ("name", "policy", "seed"),
    [("small", "greedy", 3), ("small", "sample", 2**63 + 11), ("large", "greedy", 5)],
)
def test_a_game_of_two_bots_is_the_engines(page, sites, name, policy, seed):
    browser = page(name)
    browser.choose("#players", "bots")
    browser.choose("#policy", policy)
    browser.choose("#speed", "Infinity")
    browser.run(f"document.querySelector('#seed').value = '{seed}'")
    browser.click("#new .main")
    browser.click("#run")
    browser.wait(f"/wins|Draw/.test({STATUS})")
    record = browser.run(RECORD)
    settings = CHAMPIONS[name]["settings"]
    actions, winner, truncated = engine_game(sites[name][0], settings, seed, policy == "greedy")
    assert record["actions"] == actions
    assert (record["winner"], record["truncated"]) == (winner, truncated)
    assert (record["turns"], record["over"]) == (len(actions), True)
    values = browser.run("document.querySelectorAll('#chart .line').length")
    assert values == 2
    pace = browser.run("document.querySelector('#totals tr td:last-child').textContent")
    assert int(pace.split()[0]) >= 0


def free_direction(seed, settings):
    """Flat move off the general of seat 0 that is legal by the rules, and the cell it starts at."""
    batch = GAME.make(1, settings, "base")
    batch.reset(np.array([0]), np.array([seed], np.uint64))
    side, cell = batch.side, int(batch.table[0, GENERAL])
    row, column = divmod(cell, side)
    for direction, (down, right) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
        r, c = row + down, column + right
        if 0 <= r < side and 0 <= c < side and not batch.kind[0, r * side + c] & 1:
            return cell, r * side + c, direction
    raise AssertionError("a general without a way out")


def test_a_person_moves_by_click_and_by_key_and_builds(page):
    browser = page("small")
    browser.run("document.querySelector('#seed').value = '4'")
    browser.click("#new .main")
    general, target, direction = free_direction(4, TINY)
    side = 7
    assert browser.run("document.querySelector('#view').value") == "0"
    for turn in range(1, 31):
        browser.run("document.querySelector('#board').focus()")
        browser.key("p")
        wait_turns(browser, turn)
    # the general is selected at the start; a click beside it moves
    browser.click(f"[data-cell='{target}']")
    wait_turns(browser, 31)
    key = ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight")
    text = browser.run("document.querySelector('#build').textContent")
    price = TINY["build_base"] + max(0, TINY["build_surcharge"] - 2)
    assert f"Castle for {price}" in text
    browser.key("b")
    wait_turns(browser, 32)
    browser.key(key[direction ^ 1])  # back home
    wait_turns(browser, 33)
    mine = [pair[0] for pair in browser.run(RECORD)["actions"]]
    n = side * side
    assert mine[:30] == [9 * n] * 30
    assert mine[30:] == [direction * n + general, 8 * n + target, (direction ^ 1) * n + target]
    castles = browser.run("document.querySelector('#totals td:nth-of-type(3)').textContent")
    assert castles == "1"


def wait_turns(browser, turns):
    for _ in range(500):
        if browser.run(RECORD)["turns"] == turns:
            return
    raise AssertionError(f"turn {turns} never came: {browser.run(STATUS)}")


def test_fog_hides_what_the_seat_does_not_see(page):
    browser = page("small")
    shown = "document.querySelectorAll('.cell.seat1, .cell.free.general').length"
    assert browser.run(shown) == 0
    assert browser.run("document.querySelectorAll('.cell.fog').length") > 0
    browser.choose("#view", "all")
    browser.wait(f"{shown} === 1")
    assert browser.run("document.querySelectorAll('.cell.fog').length") == 0


def test_arrows_show_the_bots_probabilities(page):
    browser = page("small")
    browser.choose("#overlay", "1")
    browser.wait("document.querySelectorAll('#thoughts li').length > 0")
    shares = browser.run(
        "[...document.querySelectorAll('#thoughts li')].map(e => parseInt(e.textContent))"
    )
    assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 102


@pytest.mark.parametrize("name", CHAMPIONS)
def test_a_phone_shows_it_without_scrolling_sideways(page, name):
    browser = page(name)
    for dark in (False, True):
        browser.screen(390, 844, dark, phone=True)
        assert browser.run("document.documentElement.scrollWidth") == 390
        width = browser.run("document.querySelector('#board').getBoundingClientRect().width")
        assert 300 < width <= 390


def test_the_page_names_its_champion(sites):
    champion, folder = sites["small"]
    told = read_json(folder / "bot.json", "play")
    assert told["champion_sha256"] == sha256(champion)
    assert told["settings"]["side"] == 7 and told["settings"]["castle_zone"] == 6
    assert told["shaping"] == {"land": 0.3}


def test_an_export_of_another_champion_is_refused(sites, page_runtime, tmp_path):
    champion, folder = sites["small"]
    with pytest.raises(RoyaleError, match="sha256"):
        parity = {"champion_sha256": "0" * 64}
        site.write(tmp_path, champion, folder / "bot.onnx", parity, page_runtime, "x")
