"""axe, run in a page, and a walk through the questions."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
# Best practices too: left out are level AAA, and experiments that guess from looks (a small line
# above a heading is no heading).
RUN_AXE = """async (tag) => {
    const isOut = (tag) => tag === "wcag2aaa" || tag === "experimental";
    const rules = axe.getRules(tag).filter(({ tags }) => !tags.some(isOut));
    const values = rules.map(({ ruleId }) => ruleId);
    const { violations } = await axe.run({ runOnly: { type: "rule", values } });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}"""


def fill_in(page: Page) -> None:
    number = page.locator(".number input")
    if number.count():
        number.fill("7")
    else:
        page.locator(".choice").first.click()
