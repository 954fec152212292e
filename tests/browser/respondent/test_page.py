"""The respondent's page: keyboard, errors, hostile or huge texts, and refusals."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, Route, expect

from aggregator.models import RawReport
from surveys.authoring.drafts import build_manifest
from surveys.base64url import encode_base64url
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import Option
from surveys.manifest.serialization import hash_manifest, serialize_manifest
from surveys.models import Wave
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import (
    CHOSEN,
    DUMP,
    NEXT,
    SENT,
    Visitor,
    answer,
    go_back,
    press,
    status,
    visiting,
)
from tests.support.factories import make_launched_survey, make_survey, make_user

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>&amp;{{ 7*7 }}"
LONG = "Averyverylongwordwithoutanyspace" * 30 + " and many short ones" * 200


def launch_unusual(*, question: dict[str, Any], manifest: dict[str, Any] | None = None) -> Wave:
    """Freeze one question with texts and options that the authoring forms do not offer."""
    survey = make_survey(questions=("Driven?",))
    usual = build_manifest(survey=survey, wave_number=1)
    questions = tuple(replace(one, **question) for one in usual.questions)
    content = serialize_manifest(replace(usual, questions=questions, **(manifest or {})))
    return Wave.objects.create(
        survey=survey,
        number=1,
        manifest=content,
        manifest_hash=hash_manifest(content),
        minimum_batch=usual.minimum_batch,
        display_minimum=usual.display_minimum,
    )


def launch_with_new_keys() -> Wave:
    """Freeze a manifest with keys that this version does not know, as a later version may."""
    survey = make_survey(questions=("Driven?", "Children?"))
    manifest = build_manifest(survey=survey, wave_number=1)
    first, second = manifest.questions
    marked = replace(manifest, questions=(first, replace(second, same_fact="q1")))
    content = json.loads(serialize_manifest(marked))
    assert content["acknowledged"] == ["minimum_batch"]
    content["later"] = {"key": [1]}
    content["questions"][0]["later"] = True
    frozen = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return Wave.objects.create(
        survey=survey,
        number=1,
        manifest=frozen,
        manifest_hash=hash_manifest(frozen),
        minimum_batch=manifest.minimum_batch,
        display_minimum=manifest.display_minimum,
    )


def test_keys_of_a_later_release_do_not_stop_a_visit(visitor: Visitor) -> None:
    page = visitor.open(launch_with_new_keys())
    answer(page, ["Yes", "No"])
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.count() == 1


def heading(page: Page) -> Any:
    return page.get_by_role("heading", level=1)


def focused(page: Page) -> str:
    return str(
        page.evaluate(
            "() => { const one = document.activeElement;"
            " return (one.labels?.[0] ?? one).innerText.trim(); }"
        )
    )


def tab_to(page: Page, name: str) -> None:
    for _ in range(30):
        page.keyboard.press("Tab")
        if focused(page).startswith(name):
            return
    raise AssertionError(f"no way to {name!r} with Tab")


def test_a_whole_visit_works_by_keyboard(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=("Driven?", "Children?")))
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    assert focused(page) == "Driven?"
    tab_to(page, "Yes")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Yes", "arrows neither move nor answer"
    tab_to(page, "No")
    page.keyboard.press("Space")
    assert focused(page) == "Children?"
    tab_to(page, "Yes")
    page.keyboard.press("Enter")
    assert focused(page) == "Check your answers"
    tab_to(page, "Change")
    page.keyboard.press("Enter")
    expect(page.locator(CHOSEN)).to_have_text("No")
    tab_to(page, "No")
    page.keyboard.press("Enter")
    tab_to(page, "Submit")
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.count() == 1


def test_nothing_is_preselected_and_a_missing_answer_is_an_error_that_takes_the_focus(
    visitor: Visitor,
) -> None:
    page = visitor.open(make_launched_survey(title="On the road", confirm_answers=True))
    press(page, "Start")
    assert page.locator(CHOSEN).count() == 0
    press(page, NEXT)
    summary = page.locator(".error-summary")
    expect(summary).to_be_focused()
    expect(summary.get_by_role("heading", level=2)).to_have_text("There is a problem")
    assert page.title() == "Error: Survey"
    expect(page.locator("fieldset")).to_have_accessible_description(
        re.compile(r"Choose one answer\.$")
    )
    press(page, NEXT)
    assert page.locator(".error-summary").count() == 1
    assert page.title() == "Error: Survey"
    address = page.url
    summary.get_by_role("link", name="Choose one answer.").click()
    expect(page.get_by_role("button", name="Yes", exact=True)).to_be_focused()
    assert page.url == address
    press(page, "Yes")
    press(page, NEXT)
    assert page.title() == "Survey"


def test_every_step_has_its_own_title_and_one_heading_that_takes_the_focus(
    visitor: Visitor,
) -> None:
    wave = make_launched_survey(questions=("Driven?", "Children?", "Car?"), quick_exit=False)
    page = visitor.open(wave)
    seen = []

    def look() -> None:
        expect(heading(page)).to_have_count(1)
        seen.append((page.title(), heading(page).inner_text()))
        if len(seen) > 1:
            expect(heading(page)).to_be_focused()

    look()
    press(page, "Start")
    for _ in range(3):
        look()
        press(page, "Yes")
    look()
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    look()
    assert len({title for title, _ in seen}) == len(seen) == 6
    assert [text for _, text in seen] == [
        *("On the road", "Driven?", "Children?", "Car?", "Check your answers", "Thank you")
    ]


def test_going_back_by_link_or_by_browser_keeps_the_answers(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=("Driven?", "Children?")))
    answer(page, ("Yes", "No"))
    page.go_back()
    expect(heading(page)).to_have_text("Children?")
    expect(page.locator(CHOSEN)).to_have_text("No")
    page.get_by_role("link", name="Back").click()
    expect(heading(page)).to_have_text("Driven?")
    expect(page.locator(CHOSEN)).to_have_text("Yes")
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    press(page, "Start")
    expect(heading(page)).to_have_text("Driven?")


def test_start_opens_the_first_question_also_after_going_back(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=("Driven?", "Children?")))
    press(page, "Start")
    press(page, "Yes")
    go_back(page, 2)
    press(page, "Start")
    expect(heading(page)).to_have_text("Driven?")
    expect(page.locator(CHOSEN)).to_have_text("Yes")
    press(page, "No")
    expect(heading(page)).to_have_text("Children?")


def test_a_row_has_a_focus_ring_for_keyboards_only(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(confirm_answers=True))
    press(page, "Start")
    outline = "(row) => getComputedStyle(row).outlineStyle"
    row = page.locator(".choice").first
    row.click()
    expect(row).to_be_focused()
    assert row.evaluate(outline) == "none"
    page.keyboard.press("Tab")
    assert page.locator(".choice").last.evaluate(outline) == "solid"


def test_pulling_or_swiping_does_not_leave_the_page(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    behaviour = "getComputedStyle(document.documentElement).overscrollBehavior"
    assert page.evaluate(behaviour) == "contain"


def test_changing_one_answer_returns_to_the_check(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=("Driven?", "Children?", "Car?")))
    answer(page, ("Yes", "Yes", "Yes"))
    page.get_by_role("link", name="Change the answer to: Children?").click()
    press(page, "No")
    expect(heading(page)).to_have_text("Check your answers")
    assert page.locator("dl.checks dd:nth-of-type(1)").all_inner_texts() == ["Yes", "No", "Yes"]


def test_going_back_after_submit_shows_no_answers(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=("Driven?", "Children?")))
    answer(page, ("Yes", "No"))
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    page.go_back()
    expect(status(page)).to_have_text(SENT)
    assert page.locator("input").count() == 0
    # One more step back leaves the survey: the history does not show the number of steps.
    page.go_back()
    assert page.url == "about:blank"


def test_the_whole_row_can_be_tapped_and_is_tall_enough(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    press(page, "Start")
    row = page.locator(".choice").last
    box = row.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert box["width"] > 300
    page.mouse.click(box["x"] + box["width"] - 4, box["y"] + 4)
    page.get_by_role("link", name="Back").click()
    expect(page.locator(CHOSEN)).to_have_text("No")


def test_html_in_any_text_is_shown_as_text(visitor: Visitor) -> None:
    wave = make_launched_survey(
        title=HOSTILE,
        introduction=HOSTILE,
        questions=(HOSTILE,),
        quick_exit=False,
        confirm_answers=True,
    )
    page = visitor.open(wave)
    page.on("dialog", lambda dialog: pytest.fail("a text was run"))
    expect(heading(page)).to_have_text(HOSTILE)
    expect(page.locator(".intro")).to_have_text(HOSTILE)
    press(page, "Start")
    expect(heading(page)).to_have_text(HOSTILE)
    press(page, NEXT)
    assert page.title() == f"Error: Question 1 of 1 · {HOSTILE}"
    press(page, "Yes")
    press(page, NEXT)
    expect(page.locator("dl.checks dt")).to_have_text(HOSTILE)
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert page.locator("main script, main img").count() == 0


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_a_text_of_5000_characters_does_not_break_the_layout(
    chromium: Browser, live: LiveApplication, width: int
) -> None:
    wave = launch_unusual(
        question={"text": LONG[:5000]},
        manifest={"title": LONG[:5000], "introduction": LONG[:5000]},
    )
    with visiting(chromium, live, viewport={"width": width, "height": 640}) as visitor:
        page = visitor.open(wave)

        def assert_it_fits() -> None:
            assert page.evaluate("document.documentElement.scrollWidth") <= width

        assert_it_fits()
        press(page, "Start")
        assert_it_fits()
        press(page, "Yes")
        expect(heading(page)).to_have_text("Check your answers")
        assert_it_fits()
        press(page, "Submit")
        expect(status(page)).to_have_text(SENT)
        assert_it_fits()


def test_text_in_another_direction_keeps_its_direction(visitor: Visitor) -> None:
    wave = launch_unusual(
        question={
            "text": "هل لديك أطفال؟",
            "options": (Option(code=1, text="نعم"), Option(code=0, text="لا")),
        },
        manifest={"language": "ar"},
    )
    page = visitor.open(wave)
    page.locator("#start").click()
    words = heading(page).locator("span")
    assert words.evaluate("(one) => [one.lang, getComputedStyle(one).direction]") == [
        *("ar", "rtl")
    ]
    row, word = (
        page.locator(".choice").first.bounding_box(),
        page.locator(".choice > span").first.bounding_box(),
    )
    assert row is not None
    assert word is not None
    assert word["x"] > row["x"] + row["width"] / 2, "the word begins at the right"


def test_buttons_are_built_from_any_number_of_options(visitor: Visitor) -> None:
    options = tuple(Option(code=code, text=f"Row {code}") for code in (3, 0, 4, 1, 2))
    # Yes/no questions have fixed buttons.
    changes = {"type": QuestionType.CHOICE, "options": options, "threshold": 2**31}
    wave = launch_unusual(question=changes)
    page = visitor.open(wave)
    press(page, "Start")
    assert page.locator(".choice").all_inner_texts() == [option.text for option in options]
    press(page, "Row 4")
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.get().symbols[0] in range(5)


def test_a_tampered_manifest_is_refused(visitor: Visitor) -> None:
    def tamper(route: Route) -> None:
        response = route.fetch()
        body = response.text().replace("3221225472", "4294967295")
        route.fulfill(response=response, body=body)

    visitor.context.route("**/m/*.json", tamper)
    page = visitor.open(make_launched_survey())
    expect(page.locator("#status")).to_have_text(
        "These are not the promised questions, so they are not shown. Load the page again."
    )
    expect(page.get_by_role("button", name="Start")).to_be_hidden()


def change_question(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["questions"][0].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.update(format=2),
        lambda manifest: manifest.update(minimum_batch=9),
        lambda manifest: manifest.update(minimum_batch=50.5),
        lambda manifest: manifest.update(display_minimum=49),
        lambda manifest: manifest.update(questions=[]),
        lambda manifest: manifest.update(questions=manifest["questions"] * 10),  # 20 × 1.0986
        lambda manifest: manifest.pop("questions"),
        change_question(threshold=2**31),
        change_question(threshold=2**32),
        change_question(threshold=3221225472.5),
        change_question(k=3),
        change_question(k=1),
        change_question(type="essay"),
        change_question(options=[{"code": 1, "text": "Yes"}, {"code": 1, "text": "No"}]),
        change_question(options=[{"code": 2, "text": "Yes"}, {"code": 0, "text": "No"}]),
        change_question(options=[{"code": 1, "text": "Yes"}]),
    ],
)
def test_a_manifest_without_protection_is_refused_although_its_hash_is_right(
    visitor: Visitor, change: Callable[[dict[str, Any]], object]
) -> None:
    wave = make_launched_survey(minimum_batch=50, display_minimum=100)
    manifest = json.loads(bytes(wave.manifest))
    change(manifest)
    body = json.dumps(manifest).encode()
    digest = urlsafe_b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")

    def promise(route: Route) -> None:
        page = route.fetch()
        text = page.text().replace(encode_base64url(bytes(wave.manifest_hash)), digest)
        route.fulfill(response=page, body=text)

    visitor.context.route("**/s/*", promise)
    visitor.context.route("**/m/*.json", lambda route: route.fulfill(body=body))
    page = visitor.open(wave)
    expect(page.locator("#status")).to_have_text(
        "This survey would not protect you well enough, so it asks you nothing. "
        "You can close this page."
    )
    expect(page.get_by_role("button", name="Start")).to_be_hidden()


def test_the_page_stops_if_it_cannot_check_the_manifest(visitor: Visitor) -> None:
    visitor.context.add_init_script(
        "Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined });"
    )
    page = visitor.open(make_launched_survey())
    expect(page.locator("#status")).to_contain_text("Use one that starts with https.")
    expect(page.get_by_role("button", name="Start")).to_be_hidden()


def test_questions_that_cannot_be_loaded_are_explained(visitor: Visitor) -> None:
    visitor.context.route("**/m/*.json", lambda route: route.abort())
    page = visitor.open(make_launched_survey())
    expect(page.locator("#status")).to_have_text(
        "The questions could not be loaded. Load the page again, or use another browser."
    )


@pytest.mark.parametrize("failing", ["**/r/**/*.js", "**/r/**/randomize.js", "**/m/*.json"])
def test_if_the_scripts_fail_the_first_screen_says_so_and_leads_to_the_coins(
    visitor: Visitor, failing: str
) -> None:
    visitor.context.route(failing, lambda route: route.abort())
    wave = make_launched_survey(introduction="About driving.\n" * 3, coins=True)
    page = visitor.context.new_page()
    page.clock.install()  # the clock stands still, so nothing here waits for ten seconds
    page.goto(f"{visitor.url}/s/{wave.survey.slug}")
    expect(page.locator("#status")).to_contain_text("Load the page again")
    coins = page.get_by_role("link", name="You can use two coins instead.").first
    expect(coins).to_have_attribute("href", f"/s/{wave.survey.slug}/coins?lang=en")
    for part in (page.locator("#status"), coins):
        expect(part).to_be_in_viewport()


def test_a_script_that_does_not_arrive_is_mentioned_after_ten_seconds(visitor: Visitor) -> None:
    page = visitor.context.new_page()
    page.clock.install()
    visitor.context.route("**/r/**/page.js", lambda route: None)
    address = f"{visitor.url}/s/{make_launched_survey().survey.slug}"
    page.goto(address, wait_until="commit")
    expect(page.locator("#status")).to_be_hidden()
    page.clock.run_for(11_000)
    expect(page.locator("#status")).to_contain_text("Load the page again")


def test_no_hint_appears_if_the_scripts_have_run(visitor: Visitor) -> None:
    page = visitor.context.new_page()
    page.clock.install()
    page.goto(f"{visitor.url}/s/{make_launched_survey(coins=True).survey.slug}")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    page.clock.run_for(11_000)
    expect(page.locator("#status")).to_be_hidden()
    coins = page.get_by_role("link", name="You can use two coins instead.")
    expect(coins).to_have_count(0)
    page.get_by_text("Other ways to answer").click()
    expect(coins).to_have_count(1)


def test_the_explanation_of_the_protection_is_available_at_every_question(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    press(page, "Start")
    label = page.locator("main > details > section")
    expect(label).to_contain_text("25 send the same code as a Yes")
    expect(label).to_be_hidden()
    page.locator("main > details > summary").click()
    expect(label).to_be_visible()


def test_a_preview_stores_and_sends_nothing(chromium: Browser, live: LiveApplication) -> None:
    owner = make_user()
    survey = make_survey(owner=owner)
    client = Client()
    client.force_login(owner)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with visiting(chromium, live) as visitor:
        visitor.context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live.url}]
        )
        page = visitor.context.new_page()
        page.goto(f"{live.url}/surveys/{survey.slug}/preview")
        expect(page.get_by_text("Preview. Nothing is sent or stored.")).to_be_visible()
        answer(page, ("Yes", "No"))
        expect(page.get_by_text("Preview. Nothing is sent or stored.")).to_be_visible()
        press(page, "Submit")
        expect(heading(page)).to_have_text("End of the preview")
        assert visitor.reports() == []
        assert {request.method for request in visitor.requests} == {"GET"}
        assert page.evaluate("indexedDB.databases()") == []
        dump = page.evaluate(DUMP)
        assert (dump["databases"], dump["local"], dump["session"]) == ({}, {}, {})


@pytest.mark.parametrize("feature", ["forced_colors", "reduced_motion"])
def test_the_chosen_row_is_visible_in_forced_colours_and_nothing_moves(
    chromium: Browser, live: LiveApplication, feature: str
) -> None:
    options = {"forced_colors": "active"} if feature == "forced_colors" else {}
    with visiting(chromium, live, reduced_motion="reduce", **options) as visitor:
        page = visitor.open(make_launched_survey())
        press(page, "Start")
        press(page, "Yes")
        page.go_back()
        if options:
            yes, no = page.locator(".choice").all()
            width = "(row) => getComputedStyle(row).outlineStyle"
            assert yes.evaluate(width) != "none"
            assert no.evaluate(width) == "none"
        assert page.evaluate("document.getAnimations().length") == 0
