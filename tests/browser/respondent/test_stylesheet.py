"""Chromium reads the served stylesheet as the written one."""

from __future__ import annotations

from playwright.sync_api import Browser

from surveys.respondent.client_files import FOLDER, STYLESHEET, client_files

READ_RULES = """(text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    // It leaves the values of custom properties as they were written.
    return [...sheet.cssRules].map(({ cssText }) => cssText.replaceAll(", ", ","));
}"""


def test_the_served_stylesheet_has_the_rules_of_its_source(chromium: Browser) -> None:
    page = chromium.new_page()
    written = page.evaluate(READ_RULES, (FOLDER / STYLESHEET).read_text())
    served = page.evaluate(READ_RULES, client_files()[STYLESHEET].content.decode())
    page.close()
    assert len(written) > 100
    assert served == written
