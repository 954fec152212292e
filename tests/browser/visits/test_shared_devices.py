"""A device that several people share: nothing remains, and the next person can answer at once."""

from __future__ import annotations

import json

import pytest
from django.test import override_settings
from playwright.sync_api import Page, expect

from aggregator.models import RawReport
from surveys.models import Wave
from tests.support.browser.sending import REPORTS, TWO, kept, lose_acknowledgement, submit
from tests.support.browser.visit import DUMP, SENT, Visitor, answer, press, status
from tests.support.factories import make_launched_survey

START = "#start:visible"
NEXT_PERSON = "Next person"


def make_shared(**settings: object) -> Wave:
    return make_launched_survey(shared_devices=True, **settings)


def assert_nothing_is_kept(page: Page) -> None:
    dump = page.evaluate(DUMP)
    assert dump["databases"] == {"murmur/envelopes": []}
    assert (dump["local"], dump["session"], dump["caches"]) == ({}, {}, [])
    assert page.context.cookies() == []


def send(page: Page) -> None:
    submit(page)
    expect(status(page)).to_have_text(SENT)


def test_a_second_person_answers_in_the_same_tab_and_finds_nothing_of_the_first(
    visitor: Visitor,
) -> None:
    page = visitor.open(make_shared())
    send(page)
    assert_nothing_is_kept(page)
    expect(page.get_by_text("If this is not your device, please give it back.")).to_be_visible()
    page.go_back()  # still the end of the first visit
    expect(status(page)).to_have_text(SENT)
    press(page, NEXT_PERSON)
    expect(page.locator(START)).to_be_visible()
    assert page.locator("dl.letters:visible").count() == 0
    page.go_forward()
    expect(page.locator(START)).to_be_visible()
    assert page.get_by_text(SENT).count() == 0
    page.go_back()
    page.wait_for_url("about:blank")  # the page that was open before the survey
    page.go_forward()
    send(page)
    assert_nothing_is_kept(page)
    page.reload()
    expect(page.locator(START)).to_be_visible()
    ids = {json.loads(body)["id"] for body in visitor.bodies()}
    assert (len(visitor.bodies()), len(ids), RawReport.objects.count()) == (2, 2, 2)


def test_a_code_that_waits_survives_a_reload_is_sent_unchanged_and_then_forgotten(
    visitor: Visitor,
) -> None:
    page = visitor.open(make_shared())
    visitor.context.route(REPORTS, lose_acknowledgement, times=1)
    submit(page)
    expect(status(page)).to_contain_text("Not sent yet.")
    [envelope] = kept(page)
    page.reload()
    expect(status(page)).to_have_text(SENT, timeout=20_000)
    assert_nothing_is_kept(page)
    assert page.locator("dl.letters").count() == 0, "it may be another person's"
    assert len(set(visitor.bodies())) == 1
    assert envelope["symbols"] in visitor.bodies()[0]
    assert RawReport.objects.count() == 1
    press(page, NEXT_PERSON)
    expect(page.locator(START)).to_be_visible()


@pytest.mark.parametrize("code", [409, 410])
def test_a_refused_code_is_forgotten_too(visitor: Visitor, code: int) -> None:
    page = visitor.open(make_shared())
    body = '{"type": "/problems/any"}'
    visitor.context.route(REPORTS, lambda route: route.fulfill(status=code, body=body))
    submit(page)
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Sending your code")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Thank you")
    assert_nothing_is_kept(page)


def test_leaving_forgets_a_code_that_waits(visitor: Visitor) -> None:
    with override_settings(EXIT_URL=f"{visitor.url}/healthz"):
        wave = make_shared()
        page = visitor.open(wave)
        answer(page, TWO)
        page.locator("main > .again").click()
        expect(status(page)).to_contain_text("“Exit this page” deletes it.")
        expect(status(page)).to_contain_text("Keep this page open until your code is sent.")
        assert kept(page) == []
        page.context.set_offline(True)
        press(page, "Send now")
        expect(status(page)).to_contain_text("You can close this page and come back later.")
        assert len(kept(page)) == 1
        page.context.set_offline(False)
        page.locator("#exit").click()
        page.wait_for_url("**/healthz")
        page = visitor.open(wave)
        expect(page.locator(START)).to_be_visible()
        assert_nothing_is_kept(page)


def test_leaving_the_page_for_checking_forgets_it_too(visitor: Visitor) -> None:
    with override_settings(EXIT_URL=f"{visitor.url}/healthz"):
        wave = make_shared()
        page = visitor.open(wave)
        visitor.context.route(REPORTS, lambda route: route.abort())
        submit(page)
        expect(status(page)).to_contain_text("Not sent yet.")
        assert len(kept(page)) == 1
        page.goto(f"{visitor.url}/s/{wave.survey.slug}/check")
        expect(page.locator("#self-test button")).to_be_enabled()
        page.locator("#exit").click()
        page.wait_for_url("**/healthz")
        assert_nothing_is_kept(page)


def test_two_tabs_of_one_device_send_two_codes_one_after_the_other(visitor: Visitor) -> None:
    wave = make_shared()
    first, second = visitor.open(wave), visitor.open(wave)
    answer(second, TWO)
    send(first)
    press(second, "Submit")
    expect(status(second)).to_have_text(SENT)
    assert RawReport.objects.count() == 2
    assert_nothing_is_kept(second)


@pytest.mark.parametrize("coins", [False, True])
def test_elsewhere_a_second_person_is_told_what_to_do(visitor: Visitor, coins: bool) -> None:
    wave = make_launched_survey(coins=coins)
    page = visitor.open(wave)
    send(page)
    assert page.get_by_text(NEXT_PERSON).count() == 0
    page.reload()
    expect(page.get_by_text("Are you someone else? Use a private window.")).to_be_visible()
    link = page.locator("main a")
    assert link.count() == coins
    if coins:
        link.click()
        expect(page).to_have_url(f"{visitor.url}/s/{wave.survey.slug}/coins?lang=en")
