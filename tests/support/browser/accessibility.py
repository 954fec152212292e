"""Run axe in a page, check that the exit is within reach, and answer a question."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Error, Page

from tests.support.browser.researcher import DESK, PHONE

_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
# Best practices also count, but not level AAA or experimental rules that guess from appearance (a
# small line above a heading is not a heading).
_RUN_AXE = """async (tag) => {
    const isOut = (tag) => tag === "wcag2aaa" || tag === "experimental";
    const rules = axe.getRules(tag).filter(({ tags }) => !tags.some(isOut));
    const values = rules.map(({ ruleId }) => ruleId);
    const { violations } = await axe.run({
      runOnly: { type: "rule", values },
      resultTypes: ["violations"],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}"""

WIDTH = "document.documentElement.scrollWidth"

# Scrolls as far as possible, then looks at the button.
LOOK_AT_EXIT = """() => {
    scrollTo(0, document.documentElement.scrollHeight);
    const exit = document.getElementById("exit");
    const { top, bottom, left, right, height } = exit.getBoundingClientRect();
    const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return {
      scrolled: scrollY,
      isReachable: found === exit && top >= 0 && bottom <= innerHeight && right <= innerWidth,
      height,
      header: document.querySelector("header").offsetHeight,
    };
}"""


def find_violations(page: Page, *, in_dark: bool = True) -> list[str]:
    """Run axe in light mode; in dark mode, where only colours differ, run its colour rules."""
    found = _run_axe(page)
    if not in_dark:
        return found
    # Without reduced motion, axe would judge colours while they change.
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"dark: {one}" for one in _run_axe(page, "cat.color")]
    page.emulate_media(color_scheme="light")  # motion stays reduced
    return found


def _run_axe(page: Page, *tags: str, tries: int = 9) -> list[str]:
    try:
        if not page.evaluate("'axe' in window"):
            page.evaluate(_AXE)
        found: list[str] = page.evaluate(_RUN_AXE, tags)
    except Error:  # a page that waits for a worker may load again at any moment
        if tries == 1:
            raise
        return _run_axe(page, *tags, tries=tries - 1)
    return found


def assert_fits_and_is_accessible(page: Page, name: str = "") -> None:
    """Check a researchers' page on a desktop and on a phone; `name` begins each failure message."""
    for size in (DESK, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        assert page.evaluate(WIDTH) <= size["width"], (name or page.url, size)
        # The colours are the same at both widths.
        assert find_violations(page, in_dark=size is DESK) == [], (name or page.url, size)


def assert_unfolded_page_is_sound(page: Page, *, width: int) -> None:
    assert page.evaluate(WIDTH) <= width
    for tag in page.locator("details").all():
        tag.evaluate("(details) => { details.open = true; }")
    assert find_violations(page) == []
    assert page.evaluate(WIDTH) <= width


def fill_in(page: Page) -> None:
    number = page.locator(".number input")
    if number.count():
        number.fill("7")
    elif page.locator("fieldset").count():
        page.locator(".choice").first.click()


def assert_exit_is_in_reach(page: Page) -> None:
    found = page.evaluate(LOOK_AT_EXIT)
    assert found["isReachable"], found
    assert found["header"] <= 72, "one line high"
    assert found["height"] >= 44
