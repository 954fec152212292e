"""The respondent's modules as they are served; a blank page of a browser imports each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route

from surveys.respondent.client_files import FOLDER
from surveys.respondent.joining import strip_module

# A separate page to import into; the test answers every request to it.
ORIGIN = "https://modules.example/"
Load = Callable[[Mapping[str, str]], Page]


def read_module(name: str) -> str:
    """Return the lines of a module as browsers load it, without comments and not yet joined."""
    return strip_module(name, (FOLDER / name).read_text())


@contextmanager
def loading(browser: Browser) -> Iterator[Load]:
    """Open blank pages that can import the modules, some with replaced sources."""
    context = browser.new_context()

    def open_page(sources: Mapping[str, str]) -> Page:
        def answer(route: Route) -> None:
            name = urlsplit(route.request.url).path.removeprefix("/")
            if name.endswith(".js"):
                body = sources.get(name) or read_module(name)
                route.fulfill(body=body, content_type="text/javascript")
            else:
                route.fulfill(body="<!DOCTYPE html><title>-</title>", content_type="text/html")

        page = context.new_page()
        page.route("**/*", answer)
        page.goto(ORIGIN)
        return page

    yield open_page
    context.close()
