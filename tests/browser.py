"""A headless Chromium, driven over a pipe by its DevTools protocol; needs nothing but Python."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import functools
import http.server
import itertools
import json
import os
import select
import shutil
import signal
import threading
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-pipe",
)
KEYS = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}


def find():
    """Path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def _high(fd):
    """The same pipe end at a number that no fixed one collides with; not inherited."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return moved


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def file_server(folder):
    """What `python -m http.server` serves of a folder; its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Browser:
    """One page.

    `faults` keeps what the console and uncaught errors say, `requested_urls` what was loaded.
    """

    def __init__(self, program, profile):
        to_child, self._out = map(_high, os.pipe())
        self._in, from_child = map(_high, os.pipe())
        words = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        # The browser reads from descriptor 3 and writes to 4.
        moves = [(os.POSIX_SPAWN_DUP2, to_child, 3), (os.POSIX_SPAWN_DUP2, from_child, 4)]
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        self._pid = os.posix_spawn(program, words, os.environ, file_actions=[*moves, *quiet])
        os.close(to_child)
        os.close(from_child)
        self._numbers, self._buffer, self._session = itertools.count(1), b"", None
        self.faults = []
        self.requested_urls = []
        # Newer versions list parts of the browser's own window before the page.
        found = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in found if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        """End the browser, within seconds."""
        os.write(self._out, b'{"id":0,"method":"Browser.close"}\0')
        end = time.monotonic() + 5
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.05)
        os.close(self._out)
        os.close(self._in)

    def call(self, method, **params):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            told = self._read(60)
            if told.get("id") == number:
                assert "error" not in told, (method, told["error"])
                return told["result"]

    def _read(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready = select.select([self._in], [], [], max(0, end - time.monotonic()))[0]
            assert ready, "the browser does not answer"
            data = os.read(self._in, 1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        told = json.loads(line)
        self._note(told)
        return told

    def _note(self, told):
        params = told.get("params", {})
        match told.get("method"):
            case "Runtime.exceptionThrown":
                detail = params["exceptionDetails"]
                self.faults.append(detail.get("exception", {}).get("description", detail["text"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.faults.append(str([a.get("value") for a in params["args"]]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.faults.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("data:", "blob:", "about:")):
                    self.requested_urls.append(url)

    def forget(self):
        """Drop what was noted so far."""
        self.faults.clear()
        self.requested_urls.clear()

    def screen(self, width, height, dark=False, phone=False):
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=phone, **size)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, code):
        """The value of a JavaScript expression; promises are waited for."""
        told = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, code, seconds=30):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({code})"):
            assert time.monotonic() < end, f"never true: {code}; faults: {self.faults}"
            time.sleep(0.02)

    def click(self, selector):
        """A mouse click in the middle of the first element that fits."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({selector!r});"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=box[0],
                y=box[1],
                button="left",
                clickCount=1,
            )

    def key(self, key):
        code = KEYS.get(key) or ord(key.upper())
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def choose(self, selector, value):
        """Choose an option of a select, as a person does."""
        self.run(
            f"(() => {{ const e = document.querySelector({selector!r}); e.value = {value!r};"
            "e.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def picture(self, path):
        """Save the whole page as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
