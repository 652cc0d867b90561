"""Serves the page and what it polls, to this machine only. It reads files and writes none."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from royale import games
from royale.errors import RoyaleError
from royale.live import selfplay
from royale.live.runs import Runs

HERE = Path(__file__).parent / "page"
# The modules of the game's replays, named here again: to ask the game would import its engine.
MODULES = ("svg", "rules", "observation", "policy", "view", "chart", "playback", "replay")
SHARED = ("style.css", *(f"{name}.js" for name in MODULES))
FILES = {
    "/": HERE / "index.html",
    "/live.js": HERE / "live.js",
    "/live.css": HERE / "live.css",
    **{f"/{name}": games.page_file(selfplay.GAME, name) for name in SHARED},
}
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


def answers(runs: Runs) -> dict[str, Callable[[dict[str, str]], Any]]:
    """Path -> what is told, given the query. KeyError of a query is an unknown segment."""

    def rows(query: dict[str, str]) -> dict[str, Any]:
        found = runs.rows(query["name"])
        start = int(query["from"])
        # a run that went back has fewer rows than the page: it gets all of them again
        start = start if start <= len(found) else 0
        return {"from": start, "rows": found[start:]}

    return {
        "/runs.json": lambda query: runs.overview(),
        "/rows.json": rows,
        "/game.json": lambda query: selfplay.play(runs.checkpoint(query["name"]), query["name"]),
    }


def make_server(runs: Runs, port: int) -> ThreadingHTTPServer:
    """A server on 127.0.0.1; RoyaleError if the port is taken."""
    told = answers(runs)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            where = urlsplit(self.path)
            # Pages of other sites must not read this through a name of their own.
            if self.headers.get("Host", "").rsplit(":", 1)[0] not in ("127.0.0.1", "localhost"):
                self._send(403, "text/plain", b"only on this machine")
            elif where.path in FILES:
                path = FILES[where.path]
                self._send(200, TYPES[path.suffix], path.read_bytes())
            elif where.path in told:
                self._tell(told[where.path], {k: v[-1] for k, v in parse_qs(where.query).items()})
            else:
                self._send(404, "text/plain", b"no such page")

        def _tell(self, answer: Callable[[dict[str, str]], Any], query: dict[str, str]) -> None:
            try:
                status, value = 200, answer(query)
            except (KeyError, ValueError) as error:
                status, value = 404, {"error": f"no such segment: {error}"}
            except RoyaleError as error:
                status, value = 409, {"error": str(error)}
            self._send(status, "application/json", json.dumps(value).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    try:
        return ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise RoyaleError(f"port {port}: {error.strerror}; choose another with --port") from None


def serve(runs: Runs, port: int) -> None:
    """Serve until interrupted."""
    with make_server(runs, port) as server:
        print(
            f"http://127.0.0.1:{server.server_port} follows {runs.results / runs.below}", flush=True
        )
        server.serve_forever()
