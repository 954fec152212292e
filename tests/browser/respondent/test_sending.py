"""Whatever the network does: one envelope, identical bytes at every retry, and one report."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone
from playwright.sync_api import Dialog, Route, expect

from aggregator.models import RawReport, SpentId
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.browser.sending import REPORTS, TWO, kept, lose_acknowledgement, refuse, submit
from tests.support.browser.visit import SENT, Visitor, answer, press, status
from tests.support.factories import make_launched_survey

# Every version of Murmur has stored an envelope in this way, under the hash of its manifest.
KEEP = """(envelope) => new Promise((resolve, reject) => {
    const opening = indexedDB.open("murmur", 1);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction("envelopes", "readwrite");
      transaction.objectStore("envelopes").put(envelope, envelope.manifest);
      transaction.oncomplete = resolve;
      transaction.onabort = reject;
    };
})"""
NOT_SENT = "Not sent yet. Your code stays the same."


def test_after_a_lost_acknowledgement_the_same_bytes_are_sent_again(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    visitor.context.route(REPORTS, lose_acknowledgement, times=2)
    submit(page)
    expect(status(page)).to_have_text(
        f"{NOT_SENT} This page tries again automatically. "
        "You can close this page and come back later."
    )
    expect(status(page)).to_have_text(SENT, timeout=20_000)
    assert len(visitor.bodies()) == 3
    assert len(set(visitor.bodies())) == 1
    assert (RawReport.objects.count(), SpentId.objects.count()) == (1, 1)
    assert kept(page) == [{"over": "sent"}]


# With a clock set by a test, all taps would have the same time.
TAPS_APART = """() => {
    let moment = 0;
    Object.defineProperty(Event.prototype, "timeStamp", { get: () => (moment += 1000) });
}"""


@pytest.mark.parametrize("today", ["1970-01-02", "2016-11-22", "2099-12-31"])
def test_a_browser_with_a_wrong_clock_sends_the_same(visitor: Visitor, today: str) -> None:
    now = timezone.now()
    wave = make_launched_survey(opens_at=now - timedelta(days=1), closes_at=now + timedelta(days=1))
    visitor.context.clock.install(time=today)
    page = visitor.open(wave)
    assert page.evaluate("new Date().toISOString()").startswith(today)
    page.evaluate(TAPS_APART)
    submit(page)
    expect(status(page)).to_have_text(SENT)
    [body] = visitor.bodies()
    assert list(json.loads(body)) == ["format", "manifest", "id", "symbols"]
    [request] = visitor.reports()
    assert not {"date", "if-modified-since"} & set(request.all_headers())
    assert RawReport.objects.count() == 1


def test_a_reload_after_a_lost_acknowledgement_sends_the_same_bytes(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    visitor.context.route(REPORTS, lose_acknowledgement, times=1)
    submit(page)
    expect(status(page)).to_contain_text(NOT_SENT)
    page.reload()
    expect(status(page)).to_have_text(SENT)
    assert len(visitor.bodies()) == 2
    assert len(set(visitor.bodies())) == 1
    assert RawReport.objects.count() == 1


def test_a_report_kept_by_an_earlier_release_is_sent_unchanged(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    manifest = page.locator("main").get_attribute("data-hash")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    page.evaluate(KEEP, {"manifest": manifest, "id": "A" * 43, "symbols": "AB"})
    page.reload()
    expect(status(page)).to_have_text(SENT)
    sent = f'{{"format":1,"manifest":"{manifest}","id":"{"A" * 43}","symbols":"AB"}}'
    assert visitor.bodies() == [sent]
    assert kept(page) == [{"over": "sent"}]


@pytest.mark.parametrize("tabs", [3, pytest.param(8, marks=pytest.mark.long)])
def test_several_tabs_send_one_report(visitor: Visitor, tabs: int) -> None:
    wave = make_launched_survey()
    pages = [visitor.open(wave) for _ in range(tabs)]
    for number, page in enumerate(pages):
        answer(page, TWO if number % 2 else ("No", "Yes"))
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if len(lost) < tabs:
            lost.append(route.request.post_data or "")
            lose_acknowledgement(route)
        else:
            route.continue_()

    visitor.context.route(REPORTS, lose_the_first)
    for page in pages:
        page.get_by_role("button", name="Submit").dispatch_event("click")
    for page in pages:
        expect(status(page)).to_contain_text("You can close this page.", timeout=30_000)
    assert len(visitor.bodies()) > tabs
    assert len(set(visitor.bodies())) == 1
    assert (RawReport.objects.count(), SpentId.objects.count()) == (1, 1)
    headings = [page.get_by_role("heading", level=1).inner_text() for page in pages]
    assert headings.count("Thank you") == 1
    assert headings.count("Your code was sent from another tab") == tabs - 1
    assert kept(pages[0]) == [{"over": "sent"}]


def test_a_later_visit_is_told_that_a_code_was_sent(visitor: Visitor) -> None:
    wave = make_launched_survey()
    submit(page := visitor.open(wave))
    expect(status(page)).to_have_text(SENT)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "A code was already sent from this browser"
    )
    assert len(visitor.bodies()) == 1
    # The same person can still answer another survey.
    other = visitor.open(make_launched_survey(title="Another one"))
    expect(other.get_by_role("button", name="Start")).to_be_visible()


@pytest.mark.parametrize("code", [503, 429])
def test_the_browser_waits_as_long_as_the_server_asks(visitor: Visitor, code: int) -> None:
    page = visitor.open(make_launched_survey())
    visitor.context.route(
        REPORTS, lambda route: route.fulfill(status=code, headers={"Retry-After": "3"}), times=1
    )
    submit(page)
    expect(status(page)).to_have_text(SENT, timeout=15_000)
    first, second = (request.timing["startTime"] for request in visitor.reports())
    assert 3000 <= second - first <= 8000
    assert len(set(visitor.bodies())) == 1


# Fixes the draws after the report was first sent, and notes how long the page intends to wait.
DRAWS_AND_WAITS = """
const draw = crypto.getRandomValues.bind(crypto), send = fetch, later = setTimeout;
window.waits = [];
window.fetch = (...given) => {
  crypto.getRandomValues = (array) =>
    array instanceof Uint32Array ? array.fill(%d) : draw(array);
  return send(...given);
};
window.setTimeout = (call, wait) => { window.waits.push(wait); return later(call, wait); };
"""


@pytest.mark.parametrize(("drawn", "wait"), [(0, 3000), (2**31, 3750), (2**32 - 1, 4500)])
def test_the_wait_is_lengthened_at_random_by_up_to_half(
    visitor: Visitor, drawn: int, wait: int
) -> None:
    visitor.context.add_init_script(DRAWS_AND_WAITS % drawn)
    page = visitor.open(make_launched_survey())
    visitor.context.route(
        REPORTS, lambda route: route.fulfill(status=503, headers={"Retry-After": "3"}), times=1
    )
    submit(page)
    expect(status(page)).to_have_text(SENT, timeout=15_000)
    assert wait in [round(told) for told in page.evaluate("waits")]
    first, second = (request.timing["startTime"] for request in visitor.reports())
    assert second - first >= wait - 1


def test_an_unreachable_database_does_no_harm(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visitor.open(make_launched_survey())

    def fail(uploads: object) -> None:
        raise OperationalError("canary")

    with monkeypatch.context() as broken:
        broken.setattr("aggregator.intake.asgi.record_reports", fail)
        submit(page)
        expect(status(page)).to_contain_text(NOT_SENT)
        envelope = kept(page)[0]
        assert envelope["symbols"]
        assert RawReport.objects.count() == 0
    page.reload()
    expect(status(page)).to_have_text(SENT)
    assert len(set(visitor.bodies())) == 1
    assert json.loads(visitor.bodies()[0])["id"] == envelope["id"]
    assert RawReport.objects.count() == 1


def test_after_a_limited_number_of_attempts_the_person_decides(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    visitor.context.route(REPORTS, lambda route: route.abort())
    page.clock.install()
    page.evaluate(TAPS_APART)
    submit(page)
    for _ in range(5):
        expect(status(page)).to_contain_text("This page tries again automatically.")
        page.clock.fast_forward(60_000)
        page.wait_for_timeout(200)
    expect(status(page)).to_contain_text("The survey cannot be reached right now.")
    assert len(visitor.bodies()) == 6
    visitor.context.unroute(REPORTS)
    press(page, "Try again")
    expect(status(page)).to_have_text(SENT)
    assert len(set(visitor.bodies())) == 1
    assert RawReport.objects.count() == 1


@pytest.mark.parametrize(
    ("code", "sentence", "left"),
    [
        (409, "Please tell the people who gave you the link.", "refused"),
        (410, "Your code came too late, so it was not counted.", "closed"),
        (413, "Please tell the people who gave you the link.", None),
        (415, "Please tell the people who gave you the link.", None),
        (422, "Please tell the people who gave you the link.", None),
        (403, "Please tell the people who gave you the link.", None),
    ],
)
def test_a_refusal_is_final_and_explained(
    visitor: Visitor, code: int, sentence: str, left: str | None
) -> None:
    page = visitor.open(make_launched_survey())
    visitor.context.route(REPORTS, lambda route: refuse(route, code))
    submit(page)
    expect(status(page)).to_contain_text(sentence)
    page.wait_for_timeout(1800)
    assert len(visitor.bodies()) == 1
    assert page.get_by_role("button").count() == 0
    # A code that is refused for a reason other than its content is kept and never drawn again.
    envelope = kept(page)[0]
    assert envelope == {"over": left} if left else envelope["symbols"]


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (200, "<p>Welcome to this hotel"),
        (403, "<p>Pay first"),
        (410, '{"type": "about:blank"}'),
    ],
)
def test_a_reply_that_is_not_from_the_intake_is_ignored(
    visitor: Visitor, code: int, body: str
) -> None:
    """The first attempt arrives, but something on the way replies instead of the intake."""

    def answer_instead(route: Route) -> None:
        assert route.fetch().status in (200, 201)
        route.fulfill(status=code, body=body)

    page = visitor.open(make_launched_survey())
    visitor.context.route(REPORTS, answer_instead, times=1)
    submit(page)
    expect(status(page)).to_contain_text(NOT_SENT)
    expect(status(page)).to_have_text(SENT, timeout=10_000)
    assert RawReport.objects.count() == 1


def test_a_redirect_is_not_followed(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    away = {"Location": "https://hotel.example/welcome"}
    visitor.context.route(REPORTS, lambda route: route.fulfill(status=307, headers=away), times=1)
    submit(page)
    expect(status(page)).to_contain_text(NOT_SENT)
    expect(status(page)).to_have_text(SENT, timeout=10_000)
    assert all(request.url.startswith(visitor.url) for request in visitor.requests)
    assert RawReport.objects.count() == 1


def test_a_request_to_a_hanging_server_is_abandoned_and_repeated(visitor: Visitor) -> None:
    page = visitor.context.new_page()
    page.clock.install()
    page.goto(f"{visitor.url}/s/{make_launched_survey().survey.slug}")
    visitor.context.route(REPORTS, lambda route: None, times=1)
    with page.expect_request(REPORTS):  # the time limit starts here
        page.evaluate(TAPS_APART)
        submit(page)
    page.clock.run_for(21_000)
    expect(status(page)).to_contain_text(NOT_SENT)
    page.clock.run_for(2_000)
    expect(status(page)).to_have_text(SENT)
    assert len(visitor.bodies()) == 2
    assert len(set(visitor.bodies())) == 1
    assert RawReport.objects.count() == 1


def test_loading_questions_is_abandoned_after_a_time_limit(visitor: Visitor) -> None:
    page = visitor.context.new_page()
    page.clock.install()
    visitor.context.route("**/m/*.json", lambda route: None)
    page.goto(f"{visitor.url}/s/{make_launched_survey().survey.slug}")
    expect(page.locator("#status")).to_be_hidden()
    for _ in range(10):  # no matter when the page began to wait
        page.clock.run_for(21_000)
    expect(page.locator("#status")).to_have_text(
        "The questions could not be loaded. Load the page again, or use another browser."
    )


def test_hanging_storage_is_replaced_by_memory(visitor: Visitor) -> None:
    page = visitor.context.new_page()
    page.clock.install()
    page.add_init_script("IDBFactory.prototype.open = () => ({});")
    page.goto(f"{visitor.url}/s/{make_launched_survey().survey.slug}")
    page.clock.run_for(8_000)
    expect(page.locator("#status")).to_contain_text("This browser cannot keep your code.")
    page.evaluate(TAPS_APART)
    submit(page)
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.count() == 1


def test_a_report_sent_too_early_keeps_its_code_and_can_be_retried(visitor: Visitor) -> None:
    opens_at = timezone.now() + timedelta(seconds=1)  # without this, no report can be early
    wave = make_launched_survey(opens_at=opens_at)
    time.sleep(1)
    page = visitor.open(wave)
    visitor.context.route(
        REPORTS,
        lambda route: refuse(route, 425, **{"Retry-After": "3600"}),
        times=1,
    )
    submit(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("This survey is not open yet")
    expect(status(page)).to_contain_text(NOT_SENT)
    press(page, "Try again")
    expect(status(page)).to_have_text(SENT)


def test_a_busy_server_is_not_called_a_lost_connection(visitor: Visitor) -> None:
    headers = {"Retry-After": "3600"}
    visitor.context.route(REPORTS, lambda route: refuse(route, 429, **headers), times=1)
    page = visitor.open(make_launched_survey())
    submit(page)
    expect(status(page)).to_contain_text("The survey cannot be reached right now.")
    again, persist = page.locator(".over .button").all()
    assert (again.inner_text(), persist.inner_text()) == ("Try again", "Keep trying for me")
    fill = "(one) => getComputedStyle(one).backgroundColor"
    assert again.evaluate(fill) != persist.evaluate(fill), "only one of them stands out"
    persist.click()
    expect(status(page)).to_contain_text("This page tries again automatically.")
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(status(page)).to_have_text(SENT)
    assert len(set(visitor.bodies())) == 1


@pytest.mark.parametrize("publication", ["none", "exact"])
def test_a_survey_that_has_closed_says_so_and_when_and_where_its_results_are(
    visitor: Visitor, publication: str
) -> None:
    closes = datetime(2100, 5, 31, 18, tzinfo=UTC)
    wave = make_launched_survey(closes_at=closes, publication=publication)
    page = visitor.open(wave)
    answer(page, TWO)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    press(page, "Submit")
    expect(page.get_by_role("heading", level=1)).to_have_text("This survey is closed")
    expect(status(page)).to_have_text("Your code came too late, so it was not counted.")
    expect(page.locator("main")).to_contain_text("It took answers until 31 May 2100")
    link = page.get_by_role("link", name="See the results")
    expect(link).to_have_count(int(publication == "exact"))
    if publication == "none":
        expect(page.get_by_text("The researchers decide who sees the results.")).to_be_visible()
    assert RawReport.objects.count() == 0
    page.reload()
    expect(status(page)).to_have_text("Your code came too late, so it was not counted.")
    expect(page.locator("main")).to_contain_text("It took answers until 31 May 2100")


def test_a_closed_survey_still_acknowledges_a_report_it_has(visitor: Visitor) -> None:
    """The report was committed, the acknowledgement was lost, and the survey closed."""
    wave = make_launched_survey()
    page = visitor.open(wave)
    visitor.context.route(REPORTS, lose_acknowledgement, times=1)
    submit(page)
    expect(status(page)).to_contain_text(NOT_SENT)
    page.goto("about:blank")
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    page.goto(f"{visitor.url}/s/{wave.survey.slug}")
    expect(status(page)).to_have_text(SENT)
    assert kept(page) == [{"over": "sent"}]
    assert RawReport.objects.count() == 1


@pytest.mark.parametrize(
    "missing",
    [
        "delete Window.prototype.indexedDB; delete window.indexedDB;",
        "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });",
        "IDBFactory.prototype.open = () => { throw new Error('private window'); };",
    ],
    ids=["no IndexedDB", "no Web Locks", "storage switched off"],
)
def test_without_storage_the_page_says_so_and_sends_from_memory(
    visitor: Visitor, missing: str
) -> None:
    visitor.context.add_init_script(missing)
    page = visitor.open(make_launched_survey())
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    expect(page.locator("#status")).to_have_text(
        "This browser cannot keep your code. Keep this page open until your code is sent."
    )
    visitor.context.route(REPORTS, lambda route: route.abort(), times=1)
    submit(page)
    expect(status(page)).to_contain_text("Keep this page open until your code is sent.")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.close(run_before_unload=True)
    expect(status(page)).to_have_text(SENT, timeout=10_000)
    assert asked == ["beforeunload"]
    assert len(set(visitor.bodies())) == 1
    assert RawReport.objects.count() == 1


def test_a_full_disk_does_not_draw_a_second_code(visitor: Visitor) -> None:
    visitor.context.add_init_script(
        "IDBObjectStore.prototype.put = () => { throw new Error('full'); };"
    )
    page = visitor.open(make_launched_survey())
    visitor.context.route(REPORTS, lambda route: route.abort(), times=1)
    submit(page)
    expect(status(page)).to_contain_text("Keep this page open until your code is sent.")
    expect(status(page)).to_have_text(SENT, timeout=10_000)
    assert len(visitor.bodies()) == 2
    assert len(set(visitor.bodies())) == 1
