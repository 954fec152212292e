"""Tests share a browser, a server and a file, but see nothing of each other."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from surveys.models import Survey
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import DUMP
from tests.support.factories import make_launched_survey

LEAVE = """async () => {
    document.cookie = "left=1";
    localStorage.left = sessionStorage.left = window.name = "1";
    await caches.open("left");
    const opening = indexedDB.open("left", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("left").add(1, 1);
    await new Promise((resolve) => { opening.onsuccess = resolve; });
}"""
TRANSFERRED = "performance.getEntriesByType('resource').map((one) => one.transferSize)"


@pytest.mark.parametrize("turn", ["first", "second"])
def test_nothing_is_left_of_the_test_before(
    chromium: Browser, live: LiveApplication, turn: str
) -> None:
    assert chromium.contexts == []
    assert not Survey.objects.exists()
    make_launched_survey()
    page = chromium.new_context().new_page()
    page.goto(f"{live.url}/methods")
    sizes = page.evaluate(TRANSFERRED)
    assert sizes
    assert all(sizes), "a file came from the cache"
    kept = page.evaluate(DUMP)
    assert (kept["databases"], kept["local"], kept["session"]) == ({}, {}, {})
    assert (kept["cookie"], kept["caches"], kept["name"]) == ("", [], "")
    page.evaluate(LEAVE)
    assert page.evaluate(DUMP)["databases"] == {"left/left": [1]}
