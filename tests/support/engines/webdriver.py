"""One protocol for all browsers: WebDriver, by the W3C.

Chromium and WebKit take its commands from a driver over HTTP. Firefox takes the same commands over
its own socket, Marionette.
"""

from __future__ import annotations

import json
import socket
from typing import Any, Protocol

import httpx

from scripts.stack.stack import wait_for_port

# Several times the time limit of a script, which WebKit exceeds once or twice on a busy machine.
PATIENCE_SECONDS = 90.0
SCRIPT_SECONDS = 20
# The protocol marks an element in JSON with this key.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# The path of each command over HTTP; its name is the one that Marionette uses.
COMMANDS = {
    "Navigate": ("POST", "url"),
    "Refresh": ("POST", "refresh"),
    "Back": ("POST", "back"),
    "Forward": ("POST", "forward"),
    "GetCurrentURL": ("GET", "url"),
    "ExecuteScript": ("POST", "execute/sync"),
    "ExecuteAsyncScript": ("POST", "execute/async"),
    "ElementClick": ("POST", "element/{id}/click"),
    "ElementSendKeys": ("POST", "element/{id}/value"),
    "ElementClear": ("POST", "element/{id}/clear"),
    "PerformActions": ("POST", "actions"),
    "NewWindow": ("POST", "window/new"),
    "SwitchToWindow": ("POST", "window"),
    "GetWindowHandle": ("GET", "window"),
    "SetWindowRect": ("POST", "window/rect"),
    "SetTimeouts": ("POST", "timeouts"),
    "TakeScreenshot": ("GET", "screenshot"),
}


class WebDriverError(Exception):
    """The browser refused a command. The message begins with the protocol's name for the error."""


class Transport(Protocol):
    def call(self, command: str, parameters: dict[str, Any]) -> Any: ...
    def close(self) -> None: ...


class DriverOverHTTP:
    """The driver of Chromium or WebKit, which starts the browser itself."""

    def __init__(self, port: int, capabilities: dict[str, Any]) -> None:
        # The driver runs on this machine, so requests must not use a proxy.
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False
        )
        wait_for_port(port)
        body = {"capabilities": {"alwaysMatch": capabilities}}
        self._session = self._send("POST", "/session", body)["sessionId"]

    def call(self, command: str, parameters: dict[str, Any]) -> Any:
        method, path = COMMANDS[command]
        path = path.format(**parameters)
        return self._send(method, f"/session/{self._session}/{path}", parameters)

    def _send(self, method: str, path: str, parameters: dict[str, Any]) -> Any:
        body = parameters if method == "POST" else None
        value = self._client.request(method, path, json=body).json()["value"]
        if isinstance(value, dict) and "error" in value:
            raise WebDriverError(f"{value['error']}: {value['message']}")
        return value

    def close(self) -> None:
        try:
            self._send("DELETE", f"/session/{self._session}", {})
        finally:
            self._client.close()


class Marionette:
    """Firefox's own socket. A message is its length in decimal, a colon, and JSON."""

    def __init__(self, port: int, capabilities: dict[str, Any]) -> None:
        wait_for_port(port)
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._number = 0
        self._receive()  # Firefox introduces itself
        self.call("NewSession", {"capabilities": {"alwaysMatch": capabilities}})

    def call(self, command: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        message = json.dumps([0, self._number, f"WebDriver:{command}", parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, found = self._receive()
        if error:
            raise WebDriverError(f"{error['error']}: {error['message']}")
        return found["value"] if isinstance(found, dict) and found.keys() == {"value"} else found

    def _receive(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._read(1)
        return json.loads(self._read(int(length[:-1])))

    def _read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            piece = self._socket.recv(size - len(found))
            if not piece:
                raise WebDriverError("Firefox closed the connection")
            found += piece
        return found

    def close(self) -> None:
        self._socket.close()
