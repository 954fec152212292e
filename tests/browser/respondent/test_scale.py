"""On every screen, the words for the ends of a scale are at their own points."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.models import Survey, Wave
from tests.support.browser.every_type import ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import Visitor, choose_first, press, visiting
from tests.support.factories import make_survey, open_survey

PHONES = {360, 375, 390, 412, 430}
WIDTHS = sorted(PHONES | set(range(320, 1281, 20)))
SCALES = ((0, 10), (1, 7), (1, 5), (0, 4))
SHORT = {"en": ("Not at all", "Certain"), "ar": ("أبدا", "مؤكد تماما")}
LONG = {
    "en": ("I do not agree with this sentence at all", "I agree with every word of this sentence"),
    "ar": ("لا أوافق على هذه الجملة على الإطلاق", "أوافق على كل كلمة من هذه الجملة تماما"),
}
# Measures the points, and where the text for each end can be seen.
MEASURE = """() => {
    const edges = ({ left, right, top, bottom }) => ({ left, right, top, bottom });
    const measureText = (element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const { width } = element.getBoundingClientRect();
      return width > 1 && element.checkVisibility() ? [edges(range.getBoundingClientRect())] : [];
    };
    const rows = [...document.querySelectorAll(".points .choice, .scale > .choice")];
    const above = [...document.querySelectorAll(".ends > span")];
    return {
      points: rows.map((row) => edges(row.getBoundingClientRect())),
      ends: [[above[0], rows[0]], [above.at(-1), rows.at(-1)]].map(([words, row]) =>
        [words, ...row.querySelectorAll(".end")].flatMap(measureText)),
      overflow: document.scrollingElement.scrollWidth - innerWidth,
    };
}"""
Box = dict[str, float]


def make_scales(language: str) -> Wave:
    survey: Survey = make_survey(title="Scales", questions=(), language=language)
    for low, high in (SHORT[language], LONG[language]):
        for minimum, maximum in SCALES:
            labels = {"low_label": low, "high_label": high}
            text = f"{minimum} {maximum} {low}?"
            ask(survey, text, type="scale", minimum=minimum, maximum=maximum, flips=46, **labels)
    return open_survey(survey=survey)


def middle(box: Box) -> float:
    return (box["left"] + box["right"]) / 2


def assert_ends_are_right(found: dict[str, Any], *, from_right: bool) -> bool:
    """Check the words for both ends; return whether the points are in one row."""
    points: list[Box] = found["points"]
    tops = {round(point["top"]) for point in points}
    assert len(tops) in (1, len(points)), "one row or a list, never something between"
    is_row = len(tops) == 1
    for place, texts in ((0, found["ends"][0]), (len(points) - 1, found["ends"][1])):
        [text] = texts
        own = points[place]
        if is_row:
            nearest = min(points, key=lambda one: abs(middle(one) - middle(text)))
            assert nearest == own, "the words stand over their own point"
            outer = "right" if (place == 0) == from_right else "left"
            assert abs(text[outer] - own[outer]) <= 2
            assert 0 <= own["top"] - text["bottom"] <= 16
        else:
            assert own["left"] <= text["left"] < text["right"] <= own["right"]
            assert own["top"] <= text["top"] < text["bottom"] <= own["bottom"]
    assert found["overflow"] <= 0
    return is_row


@pytest.mark.parametrize("language", ["ar"])
def test_the_ends_stand_with_their_own_points_at_every_width(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    wave = make_scales(language)
    rows: dict[tuple[int, int, str], set[int]] = {}
    with visiting(chromium, live, locale=language) as visitor:
        page = visitor.open(wave)
        page.locator("#start").click()
        for low, _high in (SHORT[language], LONG[language]):
            for minimum, maximum in SCALES:
                expect(page.locator("h1")).to_have_text(f"{minimum} {maximum} {low}?")
                name = page.locator(".choice").first
                assert " ".join(name.inner_text().split()) == f"{minimum} {low}"
                key = (minimum, maximum, low)
                rows[key] = find_rows(page, from_right=language == "ar")
                choose_first(page)
    short, long = SHORT[language][0], LONG[language][0]
    assert rows[0, 10, short] == {width for width in WIDTHS if width > 612}
    for few in ((1, 7), (1, 5), (0, 4)):
        assert rows[(*few, short)] == {width for width in WIDTHS if width > 388}
    assert all(not rows[low, high, long] for low, high in SCALES)


def find_rows(page: Page, *, from_right: bool) -> set[int]:
    """Return the widths at which the points are in one row."""
    found = set()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        if assert_ends_are_right(page.evaluate(MEASURE), from_right=from_right):
            found.add(width)
    return found


def test_each_end_is_part_of_the_name_of_its_point_and_of_the_answer(visitor: Visitor) -> None:
    survey = make_survey(title="Sleep", questions=())
    ends = {"low_label": "Never", "high_label": "Always"}
    ask(survey, "Calm?", type="scale", minimum=1, maximum=7, **ends)
    page = visitor.open(open_survey(survey=survey))
    page.locator("#start").click()
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for name in ("1 Never", "2", "7 Always"):
            expect(page.get_by_role("button", name=name, exact=True)).to_have_count(1)
    press(page, "7 Always")
    expect(page.locator("dl.checks dd").first).to_have_text("7 (Always)")
