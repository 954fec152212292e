"""Chromium reads the served stylesheet in the same way as its source."""

from __future__ import annotations

from playwright.sync_api import Browser

from surveys.respondent.client_files import (
    FOLDER,
    OTHER_PAGES,
    STYLESHEET,
    client_files,
    page_style,
)
from surveys.respondent.parts import PARTS

READ_RULES = """(text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    // It leaves the values of custom properties as they were written.
    return [...sheet.cssRules].map(({ cssText }) => cssText.replaceAll(", ", ","));
}"""


def test_the_served_stylesheets_have_the_rules_of_their_sources(chromium: Browser) -> None:
    page = chromium.new_page()
    parts = sorted(path for path in (FOLDER / "parts").glob("*.css") if path.stem in PARTS)
    for file, sources, least in (
        (page_style(PARTS), [FOLDER / STYLESHEET, FOLDER / "visit/rows.css", *parts], 100),
        (client_files()[OTHER_PAGES], [FOLDER / OTHER_PAGES], 5),
    ):
        written = page.evaluate(READ_RULES, "".join(source.read_text() for source in sources))
        served = page.evaluate(READ_RULES, file.content.decode())
        assert len(written) > least
        assert served == written
    page.close()
