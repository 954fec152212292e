"""The respondent's pages with a screen reader, a keyboard, large type or other fonts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from aggregator.models import RawReport
from surveys.authoring.drafts import build_manifest
from surveys.lifecycle.services import close_wave
from surveys.manifest.languages import list_texts
from surveys.models import Wave
from surveys.respondent.client_files import RANDOMIZER
from tests.support.browser.accessibility import fill_in, find_violations
from tests.support.browser.every_type import REFUSED, ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import (
    CHOSEN,
    CONFIRM,
    NEXT,
    PHONE,
    SENT,
    Visitor,
    press,
    status,
    visiting,
)
from tests.support.factories import make_launched_survey, make_survey, open_survey

Look = Callable[[str], None]
# Finds elements that overflow the window or their box, or are cut off. Tables may be scrolled.
FIND_MISFITS = """() => {
    const root = document.scrollingElement;
    const misfits = root.scrollWidth > root.clientWidth ? [`page: ${root.scrollWidth} px`] : [];
    for (const one of document.body.querySelectorAll("*")) {
      if (one.closest(".visually-hidden, .wide, svg, input")) continue;
      const { left, right, width } = one.getBoundingClientRect();
      const isOutside = width > 0 && (left < -0.5 || right > root.clientWidth + 0.5);
      const isInline = getComputedStyle(one).display === "inline";
      const isCut = getComputedStyle(one).overflowY !== "visible";
      const isWider = !isInline && one.scrollWidth > one.clientWidth + 1;
      const isHigher = isCut && one.scrollHeight > one.clientHeight + 1;
      if (isOutside || isWider || isHigher) misfits.push(one.outerHTML.slice(0, 200));
    }
    return misfits;
}"""
# Applies the text spacing of WCAG 2.2, 1.4.12.
SPACE_OUT = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
      * { line-height: 1.5 !important; letter-spacing: 0.12em !important;
          word-spacing: 0.16em !important; }
      p { margin-block-end: 2em !important; }`);
    document.adoptedStyleSheets = [sheet];
}"""
# Finds the element with the focus, and the width of its outline. In a row, the outline belongs to
# the row and not to its input.
LOOK_AT_FOCUS = """() => {
    const one = document.activeElement;
    const shown = one.closest(".choice") ?? one;
    const { outlineStyle, outlineWidth } = getComputedStyle(shown);
    const { top, bottom } = shown.getBoundingClientRect();
    return {
      name: (one.labels?.[0] ?? one).innerText.trim().replace(/\\s+/g, " "),
      outline: outlineStyle === "none" ? 0 : parseFloat(outlineWidth),
      isOnScreen: bottom > 0 && top < innerHeight,
    };
}"""
FIND_MOTION = """() => {
    const moving = document.getAnimations().map(String);
    for (const one of document.querySelectorAll("*")) {
      for (const part of [null, "::before", "::after"]) {
        const style = getComputedStyle(one, part);
        const { transitionDuration, animationName, scrollBehavior } = style;
        const found = `${transitionDuration} ${animationName} ${scrollBehavior}`;
        if (found !== "0s none auto") moving.push(`${one.tagName}${part ?? ""}: ${found}`);
      }
    }
    return moving;
}"""
FIND_BORDERLESS = """() => {
    const shapes = "button, .exit, .choice, .label, .error-summary, textarea, .number input";
    const hasBorder = (one) => {
      const { borderTopStyle, borderTopWidth, borderTopColor, backgroundColor } =
        getComputedStyle(one);
      return borderTopStyle === "solid" && parseFloat(borderTopWidth) >= 1
        && borderTopColor !== backgroundColor;
    };
    return [...document.querySelectorAll(shapes)]
      .filter((one) => one.checkVisibility() && !hasBorder(one))
      .map((one) => one.outerHTML.slice(0, 200));
}"""
OUTLINES = """() => [...document.querySelectorAll(".choice")].map((row) =>
    [row.querySelector("input")?.checked ?? row.ariaPressed === "true",
      getComputedStyle(row).outlineStyle])"""
MEASURE_ROWS = """() => [...document.querySelectorAll(".choice")].map((row) => {
    const { top, left, width, height } = row.getBoundingClientRect();
    const mark = row.querySelector("input, span").getBoundingClientRect();
    const { cursor } = getComputedStyle(row);
    const [before, after] = [mark.left - left, left + width - mark.right];
    const [isMarkLeft, isMarkRight] = [before <= after, before >= after];
    return { top, width, height, cursor, isMarkLeft, isMarkRight,
      isOnScale: getComputedStyle(row.parentElement).display === "grid" };
})"""
# Shifts caused by a click or a key do not count.
COUNT_SHIFTS = """
    globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries()) {
        const moved = sources.map(({ node }) => node?.outerHTML?.slice(0, 100) ?? node?.nodeName);
        if (!hadRecentInput) globalThis.shifts.push(`${value}: ${moved}`);
      }
    }).observe({ type: "layout-shift", buffered: true });
"""
AFTER_FIRST_PAINT = """() => new Promise((resolve) =>
    new PerformanceObserver(resolve).observe({ type: "paint", buffered: true }))"""
AFTER_TWO_FRAMES = """() => new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))"""
ANSWER_ALL = """() => {
    while (!document.querySelector("dl.checks")) {
      document.querySelector("button.choice").click();
    }
}"""
# Everything that the author writes, with its translation.
WORDS = {
    "Moving house": "الانتقال من منزل",
    "Five minutes about your last move.\nThank you.": "خمس دقائق عن انتقالك الأخير.\nشكرا لك.",
    "Help is at 116 123.": "المساعدة على الرقم 116 123.",
    "Have you moved?": "هل انتقلت؟",
    "A move is hard. Take your time.": "الانتقال صعب. خذ وقتك.",
    "What did you leave behind?": "ماذا تركت خلفك؟",
    "Friends": "أصدقاء",
    "A garden": "حديقة",
    "A job": "عمل",
    "Were you lonely?": "هل كنت وحيدا؟",
    "Are you still lonely?": "هل ما زلت وحيدا؟",
    "How many hours did it take?": "كم ساعة استغرق ذلك؟",
    "hours": "ساعات",
    "How tired were you?": "كم كنت متعبا؟",
    "Not at all": "لا شيء",
    "Very": "جدا",
    "Who paid?": "من دفع؟",
    "I": "أنا",
    "Somebody else": "شخص آخر",
    "Nobody": "لا أحد",
    "Where do you live?": "أين تسكن؟",
    "In a town": "في مدينة",
    "Elsewhere": "في مكان آخر",
}
LONG_WORD = "Donaudampfschifffahrt" * 15
TALL = 5000  # pixels: a window in which a whole page is visible at once


def make_full_survey(*, tail: str = "", **settings: Any) -> Wave:
    """Make all types of questions in English and Arabic, one with coins; `tail` ends every text."""
    title, introduction, closing, *_ = (text + tail for text in WORDS)
    settings = {"introduction": introduction, "closing_message": closing, **settings}
    survey = make_survey(title=title[:200], questions=(), quick_exit=True, coins=True, **settings)

    def add(kind: str, text: str, *options: str, **content: Any) -> None:
        rows = [(option + tail)[:200] for option in options]
        ask(survey, text + tail, type=kind, options=rows, **content)

    add("yes_no", "Have you moved?")
    add("information", "A move is hard. Take your time.")
    things = ("Friends", "A garden", "A job")
    add("several", "What did you leave behind?", *things, limit=2, refusal=True)
    add("follow_up", "Were you lonely?", follow_up="Are you still lonely?" + tail)
    hours = {"minimum": 0, "maximum": 24, "unit": ("hours" + tail)[:40]}
    add("number", "How many hours did it take?", refusal=True, **hours)
    ends = {"low_label": ("Not at all" + tail)[:100], "high_label": ("Very" + tail)[:100]}
    add("scale", "How tired were you?", minimum=1, maximum=5, **ends)
    add("choice", "Who paid?", "I", "Somebody else", "Nobody")
    add("declared", "Where do you live?", "In a town", "Elsewhere")
    texts = [one.text for one in list_texts(build_manifest(survey=survey, wave_number=1))]
    translations = {text: WORDS.get(text, f"كلمة {text}") for text in texts}
    survey.translations.create(language="ar", texts=translations)
    return open_survey(survey=survey)


def walk(page: Page, look: Look) -> None:
    """Answer each page with its first row; look at it empty, with an error, and filled in."""
    expect(page.locator("#start")).to_be_visible()
    look("start")
    for summary in page.locator("main summary").all():
        summary.click()
    page.locator("#demo button").first.click()
    look("demo")
    page.locator("#start").click()
    while page.locator("dl.checks").count() == 0:
        text = page.locator("h1").inner_text()
        look(text)
        if page.locator("button.choice").count():
            fill_in(page)
            page.locator(".back").click()
            look(f"{text} filled in")
            fill_in(page)
            continue
        if page.locator("fieldset").count():
            page.locator("main > .button").click()
            look(f"{text} refused")
            fill_in(page)
            look(f"{text} filled in")
        page.locator("main > .button").click()
    look("check")
    page.locator("main > .button").last.click()
    expect(page.locator("details")).to_be_visible()
    look("outcome")
    page.locator("summary").click()
    look("receipt")


def tour(page: Page, live: LiveApplication, wave: Wave, *, language: str, look: Look) -> None:
    """Show all other pages that a respondent can see."""
    slug, query = wave.survey.slug, f"?lang={language}"

    def go(path: str) -> None:
        page.goto(f"{live.url}/s/{path}")
        # The scripts write the heading of a survey's page once the manifest has arrived.
        expect(page.locator("h1")).not_to_be_empty()
        look(path)

    go(f"{slug}/check{query}")
    # With only one way to scramble, the self-test takes a moment.
    short = make_launched_survey(language=language, questions=("Driven?",))
    page.goto(f"{live.url}/s/{short.survey.slug}/check")
    page.locator("#self-test button").click()
    page.locator("#counts summary").click(timeout=20_000)
    expect(page.locator("#self-test table")).to_be_visible()
    look("self-test")
    go(f"{slug}/paper{query}")
    go(f"{slug}/send{query}")
    page.locator("textarea").fill("{}")
    page.locator("[type=submit]").click()
    expect(page.locator(".error-summary")).to_be_visible()
    look("code refused")
    go(f"{slug}/coins{query}")
    page.locator("[type=submit]").click()
    expect(page.locator(".error-summary")).to_be_visible()
    look("coins refused")
    page.locator(".choice").first.click()
    page.locator("[type=submit]").click()
    expect(page).to_have_url(re.compile("/coins/sent"))
    expect(page.locator("h1")).not_to_be_empty()
    look("coins sent")
    go(f"nothing/coins{query}")
    go("nothing")
    early = make_full_survey(opens_at=datetime(2100, 1, 1, tzinfo=UTC)).survey.slug
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    for one in (early, slug):
        go(f"{one}/{language}")
        go(f"{one}/coins{query}")


@pytest.mark.parametrize("language", ["ar"])
def test_axe_finds_no_violation_on_any_page(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    wave = make_full_survey()
    faults: dict[str, list[str]] = {}
    with visiting(chromium, live, locale=language) as visitor:
        page = visitor.context.new_page()

        def look(step: str) -> None:
            faults[step] = find_violations(page)

        page.goto(f"{live.url}/s/{wave.survey.slug}/{language}")
        walk(page, look)
        tour(page, live, wave, language=language, look=look)
    assert {step: found for step, found in faults.items() if found} == {}


def focus(page: Page) -> str:
    """Return the name of the element with the focus; the focus must be visible."""
    found = page.evaluate(LOOK_AT_FOCUS)
    assert found["outline"] >= 2, found
    assert found["isOnScreen"], found
    return str(found["name"])


def tab_to(page: Page, name: str, *, key: str = "Tab") -> None:
    for _ in range(30):
        page.keyboard.press(key)
        if focus(page).startswith(name):
            return
    raise AssertionError(f"no way to {name!r} with {key}")


def type_keys(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_whole_visit_by_keyboard_keeps_the_focus_visible(visitor: Visitor) -> None:
    page = visitor.open(make_full_survey())
    title = page.get_by_role("heading", level=1)
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    for stop in ("Exit this page", "العربية", "Start"):
        page.keyboard.press("Tab")
        assert focus(page) == stop
    page.keyboard.press("Enter")
    expect(title).to_be_focused()
    tab_to(page, "No")
    page.keyboard.press("Enter")
    expect(title).to_have_text("Please read")
    tab_to(page, "Back", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(title).to_have_text("Have you moved?")
    expect(title).to_be_focused()
    expect(page.locator(CHOSEN)).to_have_text("No")
    tab_to(page, "No")
    page.keyboard.press("Enter")
    tab_to(page, NEXT)
    page.keyboard.press("Enter")
    tab_to(page, NEXT)
    page.keyboard.press("Enter")
    assert focus(page).startswith("There is a problem")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert focus(page) == "Friends"
    type_keys(page, "Space", "Enter")
    for first, *keys in (
        ("Yes", "Space"),
        ("No", "Enter"),
        ("A whole number", "1", "2", "Enter"),
        ("2", "Enter"),
        ("Nobody", "Space"),
        ("In a town", "Enter"),
    ):
        expect(title).to_be_focused()
        tab_to(page, first)
        type_keys(page, *keys)
    expect(title).to_have_text("Check your answers")
    tab_to(page, "Change the answer to: How many hours did it take?")
    page.keyboard.press("Enter")
    tab_to(page, REFUSED)
    type_keys(page, "Space", "Enter")
    expect(title).to_have_text("Check your answers")
    answers = ["No", "Friends", "Yes", "No", REFUSED, "2", "Nobody", "In a town Not scrambled"]
    rows = page.locator("dl.checks dd:nth-of-type(1)").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == answers
    tab_to(page, "Submit")
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text(SENT)
    expect(title).to_be_focused()
    tab_to(page, "See what")
    page.keyboard.press("Enter")
    expect(page.locator("dl.letters")).to_be_visible()


def test_the_strength_of_a_question_is_part_of_its_description(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(flips=5))
    press(page, "Start")
    told = "Hardly protected 95 of 100 codes are the true answer."
    group = page.get_by_role("group").first
    expect(group).to_have_accessible_description(told)
    page.get_by_role("checkbox", name=CONFIRM).click()
    press(page, NEXT)
    group = page.locator("fieldset")
    expect(group).to_have_accessible_description(f"{told} Choose one answer.")


def test_the_check_says_first_that_nothing_was_sent(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    press(page, "Start")
    for _ in range(2):
        press(page, "No")
    expect(page.locator("h1 + p")).to_contain_text("Not sent yet. When you press Submit")


def test_two_coins_can_be_answered_by_keyboard(visitor: Visitor) -> None:
    wave = make_full_survey()
    page = visitor.context.new_page()
    page.goto(f"{visitor.url}/s/{wave.survey.slug}/coins")
    tab_to(page, "Send")
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^Error: "))
    assert focus(page).startswith("There is a problem")
    page.keyboard.press("Tab")
    assert focus(page) == "Question 1: tick Yes or No."
    page.keyboard.press("Enter")
    assert focus(page) == "Yes"
    type_keys(page, "Space", "ArrowDown")
    expect(page.get_by_label("No", exact=True)).to_be_checked()
    tab_to(page, "Send")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")


def assert_rows_are_well_made(page: Page, *, from_right: bool) -> None:
    """Check that rows are stacked and as tall as a thumb, and that each begins with its mark."""
    bottom = 0.0
    for row in page.evaluate(MEASURE_ROWS):
        assert row["height"] >= 44
        assert row["cursor"] == "pointer"
        if row["isOnScale"]:
            assert row["width"] >= 44
            continue
        assert row["top"] >= bottom, "stacked"
        bottom = row["top"] + row["height"]
        assert row["isMarkRight" if from_right else "isMarkLeft"]


@pytest.mark.parametrize("language", ["ar"])
def test_every_step_has_the_same_structure(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    wave = make_full_survey()
    titles: dict[str, str] = {}
    with visiting(chromium, live, locale=language) as visitor:
        page = visitor.context.new_page()
        title = page.locator("h1")

        def look(step: str) -> None:
            expect(title).to_have_count(1)
            expect(page).to_have_title(re.compile(r"\S"))
            titles[step] = page.title()
            assert_rows_are_well_made(page, from_right=language == "ar")

        def look_closer(step: str) -> None:
            look(step)
            if step.endswith("filled in"):
                return
            assert page.locator(f":checked, {CHOSEN}").count() == 0, "nothing is chosen beforehand"
            assert page.locator("legend h1").count() == page.locator("fieldset").count()
            if step.endswith("refused"):
                expect(page.locator(".error-summary")).to_be_focused()
            elif step not in ("start", "demo", "receipt"):
                expect(title).to_be_focused()

        page.goto(f"{live.url}/s/{wave.survey.slug}/{language}")
        walk(page, look_closer)
        steps = {
            step: text
            for step, text in titles.items()
            if step not in ("demo", "receipt") and not step.endswith("filled in")
        }
        # Start, check and end; nine pages, two of which can be refused.
        assert len(steps) == 3 + 9 + 2
        # If people may have to leave at once, no title says how far the visit has gone.
        start = steps["start"]
        assert set(steps.values()) == {start, f"خطأ: {start}"}
        tour(page, live, wave, language=language, look=look)


def test_a_survey_of_100_questions_shows_progress(visitor: Visitor) -> None:
    wave = make_launched_survey(questions=[f"Number {n}?" for n in range(1, 101)], flips=46)
    page = visitor.open(wave)
    expect(page.get_by_text("100 questions").first).to_be_visible()
    press(page, "Start")
    for number in (1, 2):
        expect(page.locator(".eyebrow")).to_contain_text(f"Question {number} of 100")
        press(page, "Yes")
    page.evaluate(ANSWER_ALL)
    expect(page.locator("dl.checks > div")).to_have_count(100)
    page.get_by_role("button", name="Submit").first.click()
    expect(status(page)).to_have_text(SENT)
    [report] = RawReport.objects.all()
    assert len(report.symbols) == 100


@pytest.mark.parametrize("language", ["ar"])
def test_nothing_is_cut_off_or_overflows_at_400_percent(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    """At 400 % zoom, a window of 1280 × 1024 pixels shows 320 × 256 CSS pixels."""
    wave = make_full_survey(tail=LONG_WORD)
    misfits: dict[str, list[str]] = {}
    size = {"width": 320, "height": 256}
    with visiting(chromium, live, viewport=size, device_scale_factor=4, locale=language) as visitor:
        page = visitor.context.new_page()

        def look(step: str) -> None:
            misfits[step] = page.evaluate(FIND_MISFITS)
            page.evaluate(SPACE_OUT)
            misfits[f"{step}, spaced out"] = page.evaluate(FIND_MISFITS)
            page.evaluate("() => { document.adoptedStyleSheets = []; }")

        page.goto(f"{live.url}/s/{wave.survey.slug}/{language}")
        walk(page, look)
        tour(page, live, wave, language=language, look=look)
    assert {step: found for step, found in misfits.items() if found} == {}


def test_forced_colours_keep_all_shapes_and_nothing_moves(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_full_survey()
    faults: dict[str, list[str]] = {}
    options = {"forced_colors": "active", "reduced_motion": "reduce"}
    with visiting(chromium, live, **options) as visitor:
        page = visitor.context.new_page()

        def look(step: str) -> None:
            found = page.evaluate(FIND_BORDERLESS) + page.evaluate(FIND_MOTION)
            if found:
                faults[step] = found
            if step.endswith("filled in"):
                page.locator("h1").focus()
                for is_chosen, outline in page.evaluate(OUTLINES):
                    assert outline == ("solid" if is_chosen else "none"), step

        page.goto(f"{live.url}/s/{wave.survey.slug}/en")
        walk(page, look)
        tour(page, live, wave, language="en", look=look)
    assert faults == {}


@pytest.mark.parametrize(
    ("language", "viewport"),
    [
        ("en", PHONE),
        ("ar", {**PHONE, "height": TALL}),
        pytest.param("en", {"width": 1280, "height": TALL}, marks=pytest.mark.long),
    ],
)
def test_everything_can_be_read_before_any_script_and_nothing_moves_afterwards(
    chromium: Browser, live: LiveApplication, language: str, viewport: dict[str, int]
) -> None:
    wave = make_full_survey()
    held: list[Route] = []
    with visiting(chromium, live, viewport=viewport) as visitor:
        page = visitor.context.new_page()
        page.add_init_script(COUNT_SHIFTS)
        page.route("**/r/**/*.js", lambda route: held.append(route))
        page.route("**/api/reports", answer_late)
        page.goto(f"{live.url}/s/{wave.survey.slug}/{language}", wait_until="commit")
        for part in ("h1", ".intro", ".facts", ".lead", ".told dt", "figure svg"):
            expect(page.locator(part).first).to_be_visible()
        expect(page.locator("#start")).to_be_hidden()
        page.evaluate(AFTER_FIRST_PAINT)
        names = sorted(route.request.url.rpartition("/")[2] for route in held)
        assert names == ["page-information-languages-number-scale-several.js", RANDOMIZER]
        # A busy browser may paint a page before all of it has arrived. Until then, lines may move.
        page.wait_for_function("document.readyState !== 'loading'")
        page.evaluate(AFTER_TWO_FRAMES)
        page.evaluate("globalThis.shifts.splice(0)")
        for route in held:
            route.continue_()
        shifts: dict[str, list[str]] = {}

        def look(step: str) -> None:
            page.evaluate(AFTER_TWO_FRAMES)
            found = page.evaluate("globalThis.shifts.splice(0)")
            if found:
                shifts[step] = found

        walk(page, look)
    assert shifts == {}


def answer_late(route: Route) -> None:
    """Answer so late that the browser does not attribute later movement to the last click."""
    time.sleep(0.7)
    route.continue_()
