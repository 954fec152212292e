"""How much text precedes Start on a start page, and how far down Start is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

SHORTEST_QUOTE = 5  # letters
WORDS_OF_A_MINUTE = 200
SIGNS_OF_A_WORD = 2  # Chinese
# The text visible above the lower edge of Start, including Start, with one node per line.
READ = """() => {
    const start = document.getElementById("start");
    const inView = start.getBoundingClientRect();
    const isOnScreen = inView.left >= 0 && inView.right <= innerWidth
      && inView.top >= 0 && inView.bottom <= innerHeight;
    const lines = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const range = document.createRange();
      range.selectNodeContents(node);
      const { width, height } = range.getBoundingClientRect();
      const isBefore = node.parentElement === start
        || Boolean(node.compareDocumentPosition(start) & Node.DOCUMENT_POSITION_FOLLOWING);
      const isSeen = width > 1 && height > 1 && node.parentElement.checkVisibility();
      if (isBefore && isSeen) lines.push(node.data);
    }
    // Where it is when nothing sticks to the edge of the screen.
    start.parentElement.style.position = "static";
    const pixels = start.getBoundingClientRect().bottom + scrollY;
    start.parentElement.style.position = "";
    return { lines, pixels, isOnScreen };
}"""


@dataclass(frozen=True, kw_only=True)
class Opening:
    text: str  # all text before Start
    own: str  # Murmur's words
    words: int  # the number of words in `own`
    pixels: int  # from the top of the page to the lower edge of a Start that does not stick
    is_on_screen: bool


def measure_opening(page: Page, *, authors: Iterable[str]) -> Opening:
    """Measure the page before Start, without the words of its author (`authors`)."""
    expect(page.locator("#start")).to_be_visible()
    found = page.evaluate(READ)
    text = _squeeze(" ".join(found["lines"]))
    own = _remove(text, authors)
    return Opening(
        text=text,
        own=own,
        words=count_words(own),
        pixels=round(found["pixels"]),
        is_on_screen=found["isOnScreen"],
    )


def _remove(own: str, authors: Iterable[str]) -> str:
    """Remove the author's words, even if only their beginnings are shown."""
    for text in sorted(map(_squeeze, authors), key=len, reverse=True):
        own = own.replace(text, " ")
        for length in range(len(text), SHORTEST_QUOTE, -1):
            own = own.replace(f"{text[:length].rstrip()}…", " ")
    return _squeeze(own)


def count_seconds(text: str) -> int:
    """Estimate how many seconds it takes to read the text."""
    signs = len(re.findall("[一-鿿]", text))
    words = count_words(text) - signs + signs / SIGNS_OF_A_WORD
    return round(60 * words / WORDS_OF_A_MINUTE)


def count_words(text: str) -> int:
    """Count words; every Chinese character is a word."""
    return len(re.findall(r"[一-鿿]|[^\W一-鿿]+(?:[’'.,-][^\W一-鿿]+)*", text))


def _squeeze(text: str) -> str:
    return " ".join(text.split())
