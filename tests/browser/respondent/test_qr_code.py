"""The QR codes that the single-file page draws, compared with those of segno."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import segno.encoder
from playwright.sync_api import Browser, Page

from tests.support.browser.modules import loading
from tests.support.browser.qr_codes import draw_symbol

DRAW = """async (cases) => {
    const { drawSymbol } = await import("/qr/symbol.js");
    return cases.map(([text, mask]) => {
      const rows = drawSymbol(text, mask ?? undefined)?.map((row) => row.join(""));
      return rows ?? null;
    });
}"""
# How many bytes each version holds at level L (ISO/IEC 18004, table 7).
CAPACITIES = (
    *(17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792),
    *(858, 929, 1003, 1091, 1171, 1273, 1367, 1465, 1528, 1628, 1732, 1840, 1952, 2068, 2188),
    *(2303, 2431, 2563, 2699, 2809, 2953),
)
WORDS = '{"format":1,"manifest":"Zu7_-Q","id":"~wB"}'


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with loading(chromium) as load:
        yield load({})


def write_rows(matrix: list[bytearray]) -> list[str]:
    return ["".join(map(str, row)) for row in matrix]


def test_every_version_is_drawn_as_the_standard_says(page: Page) -> None:
    cases = []
    for version, capacity in enumerate(CAPACITIES, start=1):
        # One more byte needs the next version, which is then nearly empty.
        cases += [("x" * capacity, version % 8), ("x" * (capacity + 1), (version + 3) % 8)]
    *drawn, too_long = page.evaluate(DRAW, cases)
    for (text, mask), rows in zip(cases, drawn, strict=False):
        assert rows == write_rows(draw_symbol(text, mask)), (len(text), mask)
    assert [len(rows) for rows in drawn[::2]] == [4 * version + 17 for version in range(1, 41)]
    assert too_long is None


def test_the_mask_is_one_that_reads_well(page: Page) -> None:
    """segno counts some overlapping patterns differently, so its own choice of mask can differ."""
    evaluate: Any = segno.encoder.evaluate_mask
    texts = [(20 * WORDS)[:length] for length in (1, 20, 60, 146, 147, 200, 333)]
    for text, rows in zip(
        texts, page.evaluate(DRAW, [[text, None] for text in texts]), strict=True
    ):
        candidates = [draw_symbol(text, mask) for mask in range(8)]
        penalties = [evaluate(one, len(one), len(one)) for one in candidates]
        chosen = [write_rows(one) for one in candidates].index(rows)
        assert penalties[chosen] <= min(penalties) + 40, (text, penalties, chosen)
