"""Options of a worried respondent, and checks by an expert: leave, wait, test, keep a copy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest
from playwright.sync_api import Browser, Route, expect

from aggregator.models import RawReport
from scripts.stack.chromium import launch_chromium
from surveys.authoring import drafts
from surveys.manifest.languages import write_words
from surveys.manifest.manifest import Manifest
from surveys.models import Wave
from tests.support.browser.accessibility import fill_in
from tests.support.browser.every_type import (
    GROUP,
    HOURS,
    LONELY,
    LONELY_STILL,
    MOVED,
    PAID,
    THINGS,
    TIRED,
    make_branching_survey,
    walk_through,
)
from tests.support.browser.live import LiveApplication
from tests.support.browser.sending import REPORTS, TWO, kept, lose_acknowledgement, submit
from tests.support.browser.visit import SENT, Visitor, answer, press, status, visiting
from tests.support.factories import make_launched_survey, make_survey, open_survey

HOLD = "Scramble now, send later"
AGREE = "Send it when I am online again"


def test_a_code_can_be_held_and_sent_on_another_day(visitor: Visitor) -> None:
    wave = make_launched_survey()
    page = visitor.open(wave)
    answer(page, TWO)
    page.get_by_role("link", name=HOLD).click()
    expect(status(page)).to_contain_text("Your answers are scrambled.")
    [envelope] = kept(page)
    assert visitor.reports() == []
    page.close()
    page = visitor.open(wave)
    expect(status(page)).to_contain_text("Your answers are scrambled.")
    assert visitor.reports() == []
    press(page, "Send now")
    expect(status(page)).to_have_text(SENT)
    assert envelope["symbols"] in visitor.bodies()[0]
    assert (len(visitor.bodies()), RawReport.objects.count()) == (1, 1)


def test_sending_later_comes_first_if_the_time_could_show_where_answers_led(
    visitor: Visitor,
) -> None:
    page = visitor.open(make_branching_survey())
    asked = (MOVED, THINGS, LONELY, LONELY_STILL, HOURS, TIRED, PAID, GROUP)
    walk_through(page, dict.fromkeys(asked, fill_in))
    expect(
        page.get_by_text("Some answers take longer, so it is safer to send later.")
    ).to_be_visible()
    buttons = page.locator("main > .button")
    assert buttons.all_inner_texts() == [HOLD, "Submit"]
    expect(buttons).to_have_class(["button", "button plain"])
    buttons.first.click()
    expect(status(page)).to_contain_text("Your answers are scrambled.")
    assert visitor.reports() == []
    press(page, "Send now")
    expect(status(page)).to_have_text(SENT)


def test_a_tab_that_finds_another_tabs_held_code_says_that_its_answers_are_dropped(
    visitor: Visitor,
) -> None:
    wave = make_launched_survey(closing_message="Help: 116 123")
    first, second = visitor.open(wave), visitor.open(wave)
    for page in (first, second):
        answer(page, TWO)
    first.get_by_role("link", name=HOLD).click()
    expect(status(first)).to_contain_text("Your answers are scrambled.")
    [envelope] = kept(first)
    press(second, "Submit")
    expect(status(second)).to_contain_text("Your answers are scrambled.")
    expect(status(second)).to_contain_text("Your answers in this tab were deleted.")
    press(second, "Send now")
    expect(second.get_by_role("heading", level=1)).to_have_text(
        "Your code was sent from another tab"
    )
    expect(status(second)).to_contain_text("Your answers in this tab were deleted.")
    assert [json.loads(body)["symbols"] for body in visitor.bodies()] == [envelope["symbols"]]
    assert RawReport.objects.count() == 1
    second.reload()
    expect(second.get_by_role("heading", level=1)).to_have_text(
        "A code was already sent from this browser"
    )
    expect(second.get_by_text("Help: 116 123")).to_be_visible()


def test_a_held_code_can_still_be_sent_at_once(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(closing_message="Help: {line} 116 123"))
    answer(page, TWO)
    page.get_by_role("link", name=HOLD).click()
    press(page, "Send now")
    expect(status(page)).to_have_text(SENT)
    expect(page.get_by_text("Help: {line} 116 123")).to_be_visible()
    assert RawReport.objects.count() == 1


def test_offline_the_page_continues_and_sends_if_the_person_agrees(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    visitor.context.set_offline(True)
    submit(page)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    press(page, "Try again")
    press(page, AGREE)
    expect(status(page)).to_contain_text("This page sends it when you are online again.")
    visitor.context.set_offline(False)
    expect(status(page)).to_have_text(SENT)
    assert len(set(visitor.bodies())) == 1
    assert RawReport.objects.count() == 1


def test_a_page_that_is_online_again_no_longer_says_offline_and_waits_for_a_tap(
    visitor: Visitor,
) -> None:
    page = visitor.open(make_launched_survey())
    visitor.context.set_offline(True)
    submit(page)
    expect(status(page)).to_contain_text("You are offline.")
    visitor.context.set_offline(False)
    expect(status(page)).not_to_contain_text("You are offline.")
    expect(status(page)).to_contain_text("Not sent yet. Your code stays the same.")
    assert RawReport.objects.count() == 0
    press(page, "Try again")
    expect(status(page)).to_have_text(SENT)


def test_storage_wiped_before_the_acknowledgement_neither_loses_nor_duplicates_a_report(
    visitor: Visitor,
) -> None:
    page = visitor.open(make_launched_survey())
    visitor.context.route(REPORTS, lose_acknowledgement, times=1)
    submit(page)
    expect(status(page)).to_contain_text("Not sent yet.")
    session = visitor.context.new_cdp_session(page)
    origin = page.evaluate("origin")
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    expect(status(page)).to_have_text(SENT, timeout=20_000)
    assert (len(visitor.bodies()), len(set(visitor.bodies()))) == (2, 1)
    assert RawReport.objects.count() == 1


@pytest.mark.parametrize("years", [-40, 40])
def test_a_clock_that_is_wrong_by_years_changes_nothing(visitor: Visitor, years: int) -> None:
    visitor.context.add_init_script(
        f"const now = Date.now; Date.now = () => now() + {years} * 365.25 * 864e5;"
    )
    page = visitor.open(make_launched_survey())
    submit(page)
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.count() == 1


def test_an_old_browser_without_newer_features_can_send(visitor: Visitor) -> None:
    visitor.context.add_init_script("delete AbortSignal.timeout")
    page = visitor.open(make_launched_survey())
    submit(page)
    expect(status(page)).to_have_text(SENT)


@pytest.mark.parametrize("lock", ["async () => { throw new Error('no') }", "undefined"])
def test_without_locks_a_tab_continues_alone(visitor: Visitor, lock: str) -> None:
    visitor.context.add_init_script(
        f"if (globalThis.LockManager) LockManager.prototype.request = {lock};"
    )
    page = visitor.open(make_launched_survey())
    submit(page)
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.count() == 1


def test_if_nothing_can_be_drawn_the_page_says_so_and_drops_the_answers(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    answer(page, TWO)
    page.evaluate("() => { Crypto.prototype.getRandomValues = null; }")
    press(page, "Submit")
    expect(page.get_by_role("heading", level=1)).to_have_text("Something went wrong")
    assert visitor.reports() == []
    assert kept(page) == []


def test_the_demo_draws_a_hundred_codes_and_sends_nothing(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(flips=12))
    demo = page.locator("#demo")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    before = len(visitor.requests)
    demo.locator("summary").click()
    shares = []
    for name in ("Yes", "No") * 10:
        demo.get_by_role("button", name=name).click()
        said = demo.locator("[aria-live]").inner_text()
        marks = demo.locator(".draws").text_content() or ""
        yes, no = marks.count("●"), marks.count("○")
        assert said == (
            f"You answered {name}. Of 100 codes, {yes} say Yes and {no} say No. "
            "One code proves nothing."
        )
        assert yes + no == 100
        shares.append(yes if name == "Yes" else no)
    # In 2,000 draws, 88 of 100 codes stay, within 4.9 standard deviations; one run in a million
    # fails by chance.
    assert abs(sum(shares) - 1760) < 4.9 * (2000 * 0.88 * 0.12) ** 0.5
    assert len(visitor.requests) == before
    assert kept(page) == []


def make_translated_survey() -> Wave:
    survey = make_survey(title="On the road", questions=("Ever driven?", "Children?"))
    survey.translations.create(
        language="ar",
        texts={
            "On the road": "على الطريق",
            "Ever driven?": "هل قدت؟",
            "Children?": "هل لديك أطفال؟",
        },
    )
    return open_survey(survey=survey)


def test_a_translation_read_from_right_to_left_is_the_same_survey(visitor: Visitor) -> None:
    wave = make_translated_survey()
    page = visitor.open(wave)
    assert page.locator("html").get_attribute("dir") == "ltr"
    page.get_by_role("link", name="العربية").click()
    expect(page.locator("html[lang=ar][dir=rtl]")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("على الطريق")
    page.locator("#start").click()
    words = page.locator("h1 span")
    expect(words).to_have_text("هل قدت؟")
    assert words.get_attribute("lang") == "ar"
    for _ in range(2):
        press(page, "نعم")
    page.locator("main > .button").click()
    expect(page.locator("dl.letters")).to_be_attached()
    assert page.get_by_text("Yes").count() == 0
    [report] = RawReport.objects.all()
    assert len(report.symbols) == 2


def test_frozen_words_that_swap_yes_and_no_change_nothing(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older versions froze Murmur's own answers with the author's, who could translate both."""

    def write_swapped(manifest: Manifest, *, texts: Mapping[str, str]) -> str:
        return write_words(manifest, texts=texts)[:-1] + ',"Yes":"لا","No":"نعم"}'

    monkeypatch.setattr(drafts, "write_words", write_swapped)
    page = visitor.open(make_translated_survey(), ending="/ar")
    page.locator("#start").click()
    expect(page.locator("button.choice")).to_have_text(["نعم", "لا"])
    for _ in range(2):
        press(page, "نعم")
    expect(page.locator("dl.checks")).to_contain_text("نعم")
    expect(page.locator("dl.checks")).not_to_contain_text("لا")


def test_text_that_looks_like_markup_or_placeholders_is_shown_unchanged(visitor: Visitor) -> None:
    text = (
        'Öl "{constructor}" & </p></template><script>alert(1)</script>\r\n\t{one} 👩‍👩‍👧 &amp; \\'
    )
    survey = make_survey(title="Roads", closing_message="Bye", questions=("Driven?",))
    texts = {"Roads": "Straßen", "Bye": f"Ende {text}", "Driven?": f"Gefahren {text}"}
    survey.translations.create(language="de", texts=texts)
    page = visitor.open(open_survey(survey=survey), ending="/de")
    page.locator("#start").click()
    question = page.locator("h1 span")
    assert question.evaluate("(one) => one.textContent") == texts["Driven?"]
    press(page, "Ja")
    page.locator("main > .button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Danke")
    closing = page.locator(".closing").evaluate("(one) => one.textContent")
    assert closing == texts["Bye"].replace("\r\n", "\n")  # HTML normalizes line breaks
    assert RawReport.objects.count() == 1


@pytest.mark.parametrize("words", ["[]", "{}", "null", "not json", ""])
def test_texts_that_were_not_frozen_are_refused(visitor: Visitor, words: str) -> None:
    wave = make_translated_survey()
    path = f"/s/{wave.survey.slug}/ar"

    def tamper(route: Route) -> None:
        response = route.fetch()
        body = re.sub('<p id="own">[^<]*</p>', f'<p id="own">{words}</p>', response.text())
        assert body != response.text()
        route.fulfill(response=response, body=body)

    visitor.context.route(f"**{path}", tamper)
    page = visitor.open(wave, ending="/ar")
    expect(page.locator("#status")).to_contain_text("هذه ليست الأسئلة الموعودة، فلا تُعرَض.")
    expect(page.locator("#start")).to_be_hidden()


@pytest.mark.parametrize(("locale", "language"), [("ar-EG", "ar"), ("de-DE", "en")])
def test_the_browsers_language_is_used_if_the_survey_has_it(
    chromium: Browser, live: LiveApplication, locale: str, language: str
) -> None:
    wave = make_translated_survey()
    with visiting(chromium, live, locale=locale) as visitor:
        page = visitor.open(wave)
        assert page.locator("html").get_attribute("lang") == language


def test_without_javascript_two_coins_replace_the_page(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_launched_survey(coins=True)
    browser = launch_chromium(chromium.browser_type, "--blink-settings=scriptEnabled=false")
    with visiting(browser, live) as visitor:
        page = visitor.open(wave)
        page.get_by_role("link", name="You can use two coins instead.").click()
        assert page.locator(":checked").count() == 0
        press(page, "Send")
        expect(page.get_by_role("heading", name="There is a problem")).to_be_visible()
        assert page.title().startswith("Error:")
        for name, code in (("q1", 1), ("q2", 0)):
            page.locator(f"#{name}-{code}").check()
        press(page, "Send")
        expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
        assert visitor.context.cookies() == []
        # Neither reloading nor going back sends the form again or asks whether to send it.
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
        posts = [request for request in visitor.requests if request.method == "POST"]
        assert len(posts) == 2
        form = visitor.context.new_page()
        form.goto(f"{visitor.url}/s/{wave.survey.slug}/coins")
        for name in ("q1", "q2"):
            form.locator(f"#{name}-0").check()
        press(form, "Send")
        expect(form.get_by_role("heading", level=1)).to_have_text("Thank you")
        form.go_back()
        expect(form.get_by_role("button", name="Send")).to_be_visible()
        assert len([request for request in visitor.requests if request.method == "POST"]) == 3
    browser.close()
    manual = wave.survey.waves.manual().newest()
    assert manual is not None
    reports = {(one.wave_id, bytes(one.symbols)) for one in RawReport.objects.all()}
    assert reports == {(manual.pk, bytes([1, 0])), (manual.pk, bytes([0, 0]))}
