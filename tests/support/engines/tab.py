"""The actions of a person in a browser tab, with the same functions for every engine."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any

from tests.support.engines.webdriver import ELEMENT, PATIENCE_SECONDS, Transport, WebDriverError

# Finds what a person would name: a button, a link or a summary by its text, a field by its label.
FIND = """
const [kind, name] = arguments;
const read = (one) => (one.innerText ?? one.textContent).trim().replace(/\\s+/g, " ");
const isShown = (one) =>
  one.getClientRects().length > 0 && getComputedStyle(one).visibility === "visible";
const find = {
  css: () => [...document.querySelectorAll(name)],
  button: () => [...document.querySelectorAll("button, a, summary")]
    .filter((one) => read(one) === name && isShown(one)),
  field: () => [...document.querySelectorAll("label, button.choice")]
    .filter((one) => read(one) === name).map((one) => one.control ?? one),
};
return find[kind]()[0] ?? null;
"""
# Two clicks that are closer together are a double click, and a new page ignores the second click.
DOUBLE_CLICK_SECONDS = 0.6
KEYS = {
    "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Escape": "\ue00c", "Space": " ",
    "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015",
}  # fmt: skip


class Tab:
    """The tab that is in front."""

    def __init__(self, transport: Transport, *, engine: str, folder: Path) -> None:
        self._transport = transport
        self.engine = engine
        self._folder = folder  # the profile, in which downloads are stored
        self._clicked = 0.0  # the time of the last click

    def call(self, command: str, parameters: dict[str, Any] | None = None) -> Any:
        return self._transport.call(command, parameters or {})

    def resize(self, size: tuple[int, int]) -> None:
        """Give the page this width and height. The window is larger, because it has bars."""
        if self.engine == "chromium":
            return  # its driver emulates a screen
        bars = [0, 0]
        for _ in range(2):
            rect = {"width": size[0] + bars[0], "height": size[1] + bars[1]}
            self.call("SetWindowRect", {"x": 0, "y": 0, **rect})
            bars = self.run("return [outerWidth - innerWidth, outerHeight - innerHeight]")

    def open(self, url: str) -> None:
        self.call("Navigate", {"url": url})

    def reload(self) -> None:
        self.call("Refresh")

    def back(self) -> None:
        self.call("Back")

    def forward(self) -> None:
        self.call("Forward")

    @property
    def url(self) -> str:
        return str(self.call("GetCurrentURL"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function, which finds its arguments in `arguments`."""
        return self.call("ExecuteScript", {"script": script, "args": list(arguments)})

    def wait_for_result(self, script: str, *arguments: Any) -> Any:
        """Run the body of an asynchronous function and wait for what it returns."""
        body = f"""const done = arguments[arguments.length - 1];
            (async function () {{ {script} }}).apply(null, arguments)
                .then((value) => done([value]), (error) => done(String(error)));"""
        found = self.call("ExecuteAsyncScript", {"script": body, "args": list(arguments)})
        if isinstance(found, str):
            raise WebDriverError(found)
        return found[0]

    def read(self, css: str) -> str:
        """Return the visible text of the first element, or "" if there is no such element."""
        text = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return " ".join(str(self.run(text, css)).split())

    @property
    def heading(self) -> str:
        return self.read("h1")

    def wait(self, condition: str, *arguments: Any, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until a JavaScript expression is true. Its arguments are in `arguments`."""
        deadline = time.monotonic() + seconds
        while not self._is_true(condition, arguments):
            if time.monotonic() > deadline:
                shown = self.read("body")[:600]
                raise AssertionError(f"{self.engine}: not true: {condition} {arguments}\n{shown}")
            time.sleep(0.05)

    def _is_true(self, condition: str, arguments: tuple[Any, ...]) -> bool:
        try:
            return bool(self.run(f"return Boolean({condition})", *arguments))
        except WebDriverError:  # between two pages
            return False

    def wait_for(self, text: str, css: str = "main", *, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until the text is visible."""
        seen = "document.querySelector(arguments[1])?.innerText.includes(arguments[0])"
        self.wait(seen, text, css, seconds=seconds)

    def wait_for_heading(self, text: str) -> None:
        self.wait("document.querySelector('h1')?.innerText.trim() === arguments[0]", text)

    def find(self, kind: str, name: str) -> str:
        """Wait for an element: by `css`, or a `button` or `field` by its words; return its id."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self.run(FIND, kind, name)
            if found is not None:
                return str(found[ELEMENT])
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.engine}: no {kind} {name}\n{self.read('body')[:600]}")
            time.sleep(0.05)

    def press(self, name: str) -> None:
        """Press a button, follow a link or open a summary."""
        self._click("button", name)

    def click(self, css: str) -> None:
        self._click("css", css)

    def tick(self, css: str) -> None:
        """Click an input until it is ticked: WebKit can lose a click just after a page loads."""
        for _ in range(3):
            self.click(css)
            if self.run("return document.querySelector(arguments[0]).checked", css):
                return
        raise AssertionError(f"{self.engine}: {css} cannot be ticked")

    def choose(self, name: str) -> None:
        """Press the button with this answer, which opens the next page, or tick the box."""
        self._click("field", name)

    def _click(self, kind: str, name: str) -> None:
        # While a page loads, its parts still move, so a click could miss the element.
        self.wait("document.readyState === 'complete'")
        element = self.find(kind, name)
        # No bar that sticks to an edge may cover the element.
        centre = "arguments[0].scrollIntoView({ block: 'center' })"
        self.run(centre, {ELEMENT: element})
        time.sleep(max(0, self._clicked + DOUBLE_CLICK_SECONDS - time.monotonic()))
        self.call("ElementClick", {"id": element})
        self._clicked = time.monotonic()

    def fill(self, css: str, text: str) -> None:
        element = self.find("css", css)
        self.call("ElementClear", {"id": element})
        self.call("ElementSendKeys", {"id": element, "text": text})

    def type(self, *keys: str) -> None:
        """Press keys of the keyboard, one after the other."""
        values = [KEYS.get(key, key) for key in keys]
        steps = [
            {"type": kind, "value": value} for value in values for kind in ("keyDown", "keyUp")
        ]
        self.call("PerformActions", {"actions": [{"type": "key", "id": "k", "actions": steps}]})

    def wait_for_download(self, pattern: str, *, seconds: float = PATIENCE_SECONDS) -> Path:
        """Wait until a file with such a name is complete; return its path."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for path in self._folder.rglob(pattern):
                if (
                    path.suffix not in (".part", ".crdownload", ".wkdownload")
                    and path.stat().st_size
                ):
                    return path
            time.sleep(0.1)
        raise AssertionError(f"{self.engine}: no {pattern} among {list(self._folder.rglob('*'))}")

    @property
    def handle(self) -> str:
        return str(self.call("GetWindowHandle"))

    def open_tab(self) -> str:
        """Open another tab of the same profile and switch to it; return its name."""
        found: dict[str, str] = self.call("NewWindow", {"type": "tab"})
        self.switch(found["handle"])
        return found["handle"]

    def switch(self, handle: str) -> None:
        self.call("SwitchToWindow", {"handle": handle})

    def take_picture(self, path: Path) -> None:
        # A picture by WebKit shows what it last drew.
        self.wait_for_result("await new Promise((done) => setTimeout(done, 400))")
        path.write_bytes(base64.b64decode(self.call("TakeScreenshot", {"full": False})))
