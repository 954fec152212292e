"""Reads the text of a PDF written by Typst, without a PDF library, to find every number."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_OBJECT = re.compile(rb"^(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL | re.MULTILINE)
_STREAM = re.compile(rb"^(.*?)stream\r?\n(.*)\r?\nendstream", re.DOTALL)
_FONTS = re.compile(rb"/Font<<(.*?)>>")
_NAMED = re.compile(rb"/(\w+) (\d+) 0 R")
_CHARACTER = re.compile(rb"^<([0-9A-F]{4})> <([0-9A-F]+)>$", re.MULTILINE)
# `_SHOWN` matches the choice of a font, or the text to show: a string or an array with strings.
# Typst writes a string in hexadecimal digits if any of its bytes is not ASCII. In a string, pairs
# of brackets need no backslash.
_LITERAL = rb"\((?:\\.|[^\\()]|\((?:\\.|[^\\()])*\))*\)"
_HEXADECIMAL = rb"<[0-9A-Fa-f]*>"
_STRING = re.compile(rb"%s|%s" % (_LITERAL, _HEXADECIMAL), re.DOTALL)
_SHOWN = re.compile(
    rb"/(\w+) [\d.]+ Tf|(%s|%s) ?Tj|\[((?:%s|%s|[-\d.\s])*)\] ?TJ"
    % (_LITERAL, _HEXADECIMAL, _LITERAL, _HEXADECIMAL),
    re.DOTALL,
)
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def read_pages(pdf: bytes) -> list[str]:
    """Return the text of each page, as pieces separated by spaces."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    pages = (body for body in objects.values() if b"/Type/Page/" in body)
    return [" ".join(_read_page(page, objects)) for page in pages]


def squeeze(text: str) -> str:
    """Remove all spaces, because lines break in different places.

    Zero-width spaces, at which long words can break, are removed too.
    """
    return "".join(text.replace("\u200b", "").split())


def _read_page(page: bytes, objects: dict[int, bytes]) -> Iterator[str]:
    resources = _follow(rb"/Resources (\d+) 0 R", page, objects)
    found = _FONTS.search(resources)
    fonts = {
        name: _read_characters(_follow(rb"/ToUnicode (\d+) 0 R", objects[int(number)], objects))
        for name, number in (_NAMED.findall(found[1]) if found else [])
    }
    characters: dict[int, str] = {}
    for font, string, array in _SHOWN.findall(
        _inflate(_follow(rb"/Contents (\d+) 0 R", page, objects))
    ):
        if font:
            characters = fonts[font]
            continue
        codes = b"".join(_unescape(part) for part in _STRING.findall(string or array))
        pairs = (codes[place : place + 2] for place in range(0, len(codes), 2))
        yield "".join(characters.get(int.from_bytes(pair, "big"), "\ufffd") for pair in pairs)


def _follow(pattern: bytes, body: bytes, objects: dict[int, bytes]) -> bytes:
    found = re.search(pattern, body)
    assert found is not None, body
    return objects[int(found[1])]


def _inflate(body: bytes) -> bytes:
    found = _STREAM.match(body)
    assert found is not None
    return zlib.decompress(found[2]) if b"/FlateDecode" in found[1] else found[2]


def _read_characters(body: bytes) -> dict[int, str]:
    return {
        int(code, 16): bytes.fromhex(text.decode()).decode("utf-16-be")
        for code, text in _CHARACTER.findall(_inflate(body))
    }


def _unescape(text: bytes) -> bytes:
    """Return the bytes of a string that is still in its brackets."""
    inside = text[1:-1]
    if text.startswith(b"<"):
        return bytes.fromhex(inside.decode())

    def replace(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code, 8)]) if code.isdigit() else _LETTERS.get(code, code)

    return _ESCAPED.sub(replace, inside)
