"""One tap answers a question and shows the next one; and what long surveys show on the way."""

from __future__ import annotations

from typing import Any

from django.test import override_settings
from playwright.sync_api import Browser, Page, expect

from surveys.models import Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.every_type import ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import (
    CHOSEN,
    CONFIRM,
    DUMP,
    NEXT,
    PHONE,
    Visitor,
    answer,
    press,
    visiting,
)
from tests.support.factories import make_launched_survey, make_survey, open_survey

CHECK = "Check your answers"
SECTION = ".folded summary"
FIVE = [f"Number {number}?" for number in range(1, 6)]
# Taps the first answer at given times in milliseconds, each with a count of consecutive clicks.
TAP = """(taps) => {
    for (const [timeStamp, detail] of taps) {
      const event = new MouseEvent("click", { bubbles: true, cancelable: true, detail });
      Object.defineProperty(event, "timeStamp", { value: 1e12 + timeStamp });
      document.querySelector("button.choice").dispatchEvent(event);
    }
    return document.querySelector("h1").innerText;
}"""
TAP_EXIT = """() => {
    const event = new MouseEvent("click", { bubbles: true, cancelable: true, detail: 2 });
    document.getElementById("exit").dispatchEvent(event);
}"""
# Answers page after page; returns the taps, and the words of each page's line about scrambling.
WALK = """() => {
    const lines = [];
    let taps = 0;
    const tap = (one) => {
      taps += 1;
      one.click();
    };
    while (!document.querySelector(".checks")) {
      lines.push(document.getElementById("odds")?.innerText.split(/\\s+/) ?? []);
      const [button] = document.querySelectorAll("button.choice");
      if (button) {
        tap(button);
        continue;
      }
      const boxes = [...document.querySelectorAll("[type=checkbox]")].slice(0, 2);
      boxes.forEach(tap);
      for (const field of document.querySelectorAll(".number input")) {
        tap(field);
        field.value = "7";
      }
      tap(document.querySelector("main > .button"));
    }
    return [taps, lines];
}"""


def heading(page: Page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


def test_a_double_tap_or_a_trembling_hand_answers_one_question(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=FIVE))
    press(page, "Start")
    thirty_a_second = [(33 * number, 1) for number in range(120)]
    assert page.evaluate(TAP, thirty_a_second) == FIVE[1]
    end = thirty_a_second[-1][0]
    assert page.evaluate(TAP, [(end + 399, 1)]) == FIVE[1]
    assert page.evaluate(TAP, [(end + 800, 1)]) == FIVE[2]
    assert page.evaluate(TAP, [(end + 1400, 2)]) == FIVE[2], "the end of a slow double click"
    assert page.evaluate(TAP, [(end + 2400, 0), (end + 2401, 0)]) == FIVE[4], "keys have no pause"
    with override_settings(EXIT_URL=f"{visitor.url}/healthz"):
        page = visitor.open(make_launched_survey(questions=FIVE))
        press(page, "Start")
        press(page, "Yes")
        page.evaluate(TAP_EXIT)
        page.wait_for_url("**/healthz")


def test_a_wrong_tap_is_repaired_in_two_and_each_answer_can_be_confirmed(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=FIVE))
    press(page, "Start")
    confirm = page.get_by_role("checkbox", name=CONFIRM)
    back = page.get_by_role("link", name="Back")
    expect(page.get_by_role("button", name=NEXT)).to_have_count(0)
    expect(confirm).to_be_visible()
    kept = page.evaluate(DUMP)
    press(page, "Yes")
    expect(confirm).to_have_count(0)
    back.click()
    expect(page.locator(CHOSEN)).to_have_text("Yes")
    press(page, "No")
    assert heading(page) == FIVE[1]
    back.click()
    expect(page.locator(CHOSEN)).to_have_text("No")
    confirm.check()
    press(page, "Yes")
    expect(page.get_by_role("button", name=NEXT)).to_be_visible()
    confirm.uncheck()
    press(page, "Yes")
    assert heading(page) == FIVE[1]
    back.click()
    expect(confirm).not_to_be_checked()
    confirm.press("Space")
    expect(confirm).to_be_focused()
    press(page, "Yes")
    press(page, "No")
    press(page, "Yes")
    expect(page.locator(CHOSEN)).to_have_text("Yes")
    for _ in FIVE[1:]:
        press(page, NEXT)
        press(page, "No")
    press(page, NEXT)
    assert heading(page) == CHECK
    found = page.locator("dl.checks dd:nth-of-type(1)").all_inner_texts()
    assert found == ["Yes", "No", "No", "No", "No"]
    assert page.evaluate(DUMP) == kept | {"history": 1}, "nothing says how it was answered"


def test_authors_can_let_people_confirm_each_answer(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=FIVE[:2], confirm_answers=True))
    press(page, "Start")
    expect(page.get_by_role("checkbox", name=CONFIRM)).to_have_count(0)
    for text in FIVE[:2]:
        assert heading(page) == text
        press(page, "Yes")
        press(page, NEXT)
    assert heading(page) == CHECK


def make_fifty(*, language: str = "en") -> Wave:
    survey = make_survey(
        title="Fifty", questions=[f"Has this happened? ({n})" for n in range(45)],
        flips=46, language=language,
    )  # fmt: skip
    for text, fields in (
        ("Who paid?", {"type": "choice", "options": ["I", "Others"]}),
        ("How tired?", {"type": "scale", "minimum": 1, "maximum": 5}),
        ("Which?", {"type": "several", "options": ["A", "B", "C"]}),
        ("How many?", {"type": "number", "minimum": 0, "maximum": 9}),
        ("Where?", {"type": "declared", "options": ["Town", "Land"]}),
    ):
        ask(survey, text, **{"flips": 46, **fields})
    return open_survey(survey=survey)


def test_fifty_questions_take_53_taps_and_repeat_at_most_300_words(
    chromium: Browser, live: LiveApplication
) -> None:
    faults: dict[str, Any] = {}

    def look(name: str) -> None:
        if found := find_violations(page):
            faults[name] = found

    with visiting(chromium, live) as visitor:
        page = visitor.open(make_fifty())
        press(page, "Start")
        expect(page.locator(".eyebrow")).to_have_text("Question 1 of 50 · Minutes left: 12")
        look("question")
        taps, lines = page.evaluate(WALK)
        assert (taps, len(lines)) == (53, 50)
        full = [line for line in lines if len(line) > 6]
        assert 1 <= len(full) <= 5, "one for each way to scramble"
        assert sum(map(len, lines)) <= 300
        assert heading(page) == CHECK
        for submit in page.get_by_role("button", name="Submit").all()[:1]:
            assert submit.bounding_box()["y"] < PHONE["height"] - 60  # type: ignore[index]
        titles = [" ".join(one.split()) for one in page.locator(SECTION).all_inner_texts()]
        sections = [f"Questions {n}–{n + 9} (10)" for n in range(1, 50, 10)]
        assert titles == [*sections[:4], f"{sections[4]} Not scrambled"]
        assert page.locator(".folded dl:visible").count() == 0
        look("check")
        page.locator(SECTION).nth(1).click()
        page.get_by_role("link", name="(12)").click()
        look("question on return")
        press(page, "No")
        assert page.locator(".folded details[open] summary").inner_text() == titles[1]
        look("changed")
    assert faults == {}


def test_texts_with_a_heading_begin_sections(visitor: Visitor) -> None:
    survey = make_survey(title="Life", questions=())
    for section in ("Work", "Home\n\nNow about your home."):
        ask(survey, section, type="information")
        for number in range(6):
            ask(survey, f"{section[:4]} {number}?", flips=46)
    page = visitor.open(open_survey(survey=survey))
    press(page, "Start")
    eyebrow = page.locator(".eyebrow")
    expect(eyebrow).to_have_text("Page 1 of 14 · Minutes left: 4")
    press(page, NEXT)
    expect(eyebrow).to_have_text("Work · Page 2 of 14 · Minutes left: 4")
    page.evaluate(WALK)
    assert page.locator(SECTION).all_inner_texts() == ["Work (6)", "Home (6)"]


def test_short_surveys_have_neither_a_bar_nor_sections(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=FIVE))
    answer(page, ["Yes"] * 5)
    expect(page.locator(".folded, .way")).to_have_count(0)
    expect(page.get_by_role("button", name="Submit")).to_have_count(1)
