"""Presses keys on an X display, as a person does.

A driver sends its keys to the page, so Alt+Left would not go back.
"""

from __future__ import annotations

import ctypes

KEYSYMS = {
    "Alt": 0xFFE9, "Enter": 0xFF0D, "Home": 0xFF50, "Left": 0xFF51, "Right": 0xFF53,
    "Space": 0x20, "Tab": 0xFF09,
}  # fmt: skip


class Keyboard:
    def __init__(self, display: str) -> None:
        self._x, self._tests = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XKeysymToKeycode.argtypes = (ctypes.c_void_p, ctypes.c_ulong)
        self._display = ctypes.c_void_p(self._x.XOpenDisplay(display.encode()))

    def press(self, *keys: str) -> None:
        """Press keys together."""
        codes = [self._x.XKeysymToKeycode(self._display, KEYSYMS[key]) & 0xFF for key in keys]
        for code in codes:
            self._press(code, down=True)
        for code in reversed(codes):
            self._press(code, down=False)
        self._x.XSync(self._display, 0)

    def _press(self, code: int, *, down: bool) -> None:
        now = ctypes.c_ulong(0)
        self._tests.XTestFakeKeyEvent(self._display, code, int(down), now)
