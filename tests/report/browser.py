# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium over its DevTools protocol, through a pair of pipes: no driver, no port, no library.

Every request, message of the console, exception and dialog of a page is kept, so that a test can ask
for what must not have happened.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_SECONDS = 60.0


def program() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@dataclass
class Page:
    """One tab. requests: every URL asked for, data: URLs too. complaints: errors and warnings of the
    console, exceptions, violations of the policy, dialogs."""

    _call: Callable[..., dict[str, Any]]
    _pump: Callable[[], None]
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    loaded: bool = False

    def open(self, path: Path) -> float:
        """Seconds until the page has loaded and, where it draws charts, has drawn them."""
        self.loaded = False
        start = time.perf_counter()
        self._call("Page.navigate", url=path.resolve().as_uri())
        while not self.loaded:
            self._pump()
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return time.perf_counter() - start

    def run(self, script: str) -> Any:
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def size(self, width: int, height: int = 900) -> None:
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip

    def dark(self, wanted: bool = True) -> None:
        value = "dark" if wanted else "light"
        self._call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": value}],
        )

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self._call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=code, **more,
            )  # fmt: skip

    def tab(self) -> str:
        """Presses Tab; what has the focus then, as `tag#id[name]`."""
        self.press("Tab", 9)
        return str(self.run(
            "(e => e.tagName.toLowerCase() + (e.id && '#' + e.id) + (e.name ? `[${e.name}]` : ''))"
            "(document.activeElement)"
        ))  # fmt: skip

    def screenshot(self, path: Path, whole: bool = True) -> None:
        answer = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def hear(self, method: str, found: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])
        elif method == "Runtime.consoleAPICalled" and found["type"] in (
            "error",
            "warning",
            "assert",
        ):
            self.complaints.append(f"console: {found['args']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {found['exceptionDetails']}")
        elif method == "Log.entryAdded":
            self.complaints.append(f"log: {found['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {found['message']}")
            self._call("Page.handleJavaScriptDialog", accept=True)
        elif method == "Page.loadEventFired":
            self.loaded = True


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """folder: for its profile. It has no network: whatever it asks of a host fails, and is kept."""
    name = program()
    assert name is not None, "no Chromium: sh tools/setup.sh extras .venv"
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    flags = "--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --no-first-run"
    quiet = "--disable-background-networking --disable-component-update --disable-sync"
    pipes = f"3<&{theirs_in} 4>&{theirs_out}"
    command = f'exec "$0" {flags} {quiet} --user-data-dir="$1" about:blank {pipes}'
    process = subprocess.Popen(
        ["bash", "-c", command, name, str(folder / "profile")],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield _attach(ours_out, ours_in)
    finally:
        process.terminate()
        process.wait(timeout=30)
        os.close(ours_out)
        os.close(ours_in)


def _attach(out: int, into: int) -> Page:
    waiting = bytearray()
    answers: dict[int, dict[str, Any]] = {}
    numbers = iter(range(1, 1_000_000))
    session: dict[str, str] = {}

    def pump() -> None:
        """Takes in one message."""
        while b"\0" not in waiting:
            ready, _, _ = select.select([into], [], [], _SECONDS)
            assert ready, f"nothing from the browser for {_SECONDS:.0f} s"
            data = os.read(into, 1 << 20)
            assert data, "the browser ended"
            waiting.extend(data)
        raw, _, rest = bytes(waiting).partition(b"\0")
        waiting[:] = rest
        message = json.loads(raw)
        if "id" in message:
            answers[message["id"]] = message
        else:
            page.hear(message["method"], message["params"])

    def call(method: str, **parameters: object) -> dict[str, Any]:
        number = next(numbers)
        message = {"id": number, "method": method, "params": parameters, **session}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(out, data) :]
        while number not in answers:
            pump()
        answer = answers.pop(number)
        assert "error" not in answer, f"{method}: {answer}"
        result: dict[str, Any] = answer["result"]
        return result

    page = Page(call, pump)
    target = call("Target.createTarget", url="about:blank")["targetId"]
    session["sessionId"] = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Network", "Log"):
        call(f"{domain}.enable")
    return page
