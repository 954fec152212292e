"""The start page's sentences about a visit agree with a recording of a visit, in both directions.

A new sentence about what is not hidden fails until a check here covers it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser

from aggregator.models import RawReport, SpentId
from scripts.benchmarks.grounds.five_surveys import make_mine
from surveys.manifest.manifest import Publication
from surveys.models import Survey, Wave
from tests.support.browser.every_type import Do, choose, type_in
from tests.support.browser.live import LiveApplication
from tests.support.browser.recording import Recording, record_visit
from tests.support.browser.visit import visiting
from tests.support.factories import make_survey, open_survey

TAKEN = "In the last month, did you take anything to get through a night shift?"
MISTAKE = "Did you make a mistake that could have harmed a patient?"
AFTER_YES = "What did you take?", "Did you report it?"
NIGHTS: Mapping[str, Do] = {
    "On which kind of ward do you work most?": choose("Intensive care"),
    TAKEN: choose("Yes"),
    AFTER_YES[0]: choose("Sleeping pills", "Cannabis"),
    MISTAKE: choose("Yes"),
    AFTER_YES[1]: choose("No"),
    "What would help you most?": choose("Fewer nights"),
    "How often do you work although you are ill?": choose("4"),
    "How sure are you that you will leave this job within a year?": choose("9"),
    "How many hours did you sleep before your last night shift?": type_in("3"),
}
QUIET_NIGHTS = {**NIGHTS, TAKEN: choose("No"), MISTAKE: choose("No")}
ROADS = ("Driven after drinking?", "Read messages?", "Driven without a licence?")
# These headers are the same in all visits; the label names what the other headers reveal.
CONSTANT = {
    *("accept", "accept-encoding", "cache-control", "connection", "content-length"),
    *("content-type", "host", "origin", "priority", "purpose", "upgrade-insecure-requests"),
    *("sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "sec-purpose"),
}
NAMED = {
    *("user-agent", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"),  # the browser
    "accept-language",
}
EMPTY = {"local": {}, "session": {}, "cookie": "", "caches": [], "name": ""}


def sends_address_browser_and_languages(visit: Recording) -> bool:
    response = visit.sent[0].response()
    knows_address = response is not None and response.server_addr() is not None
    return knows_address and visit.sent[0].all_headers().keys() >= NAMED


def is_loaded_from_where_the_code_goes(visit: Recording) -> bool:
    """A single server, at one address, sends the page and receives the code."""
    ends = [request.response() for request in (visit.sent[0], visit.report)]
    return len({str(end.server_addr()) for end in ends if end}) == 1 and all(ends)


def sends_the_language_of_the_page(visit: Recording) -> bool:
    return visit.sent[0].url.endswith(f"/{visit.language}")


def keeps_only_a_mark(visit: Recording) -> bool:
    return bool(visit.kept["databases"] == {"murmur/envelopes": [{"over": "sent"}]})


def keeps_nothing(visit: Recording) -> bool:
    return bool(visit.kept["databases"] == {"murmur/envelopes": []})


def sends_which_questions_were_drawn(visit: Recording) -> bool:
    return visit.symbols.count("~") == len(visit.symbols) - len(visit.pages) > 0


def sends_at_two_moments_only(visit: Recording) -> bool:
    """The page was loaded, the code was sent, and there was nothing in between."""
    place = visit.sent.index(visit.report)
    return place == visit.sent_before_start == len(visit.sent) - 1


def asks_more_after_some_answers(visit: Recording) -> bool:
    return set(AFTER_YES) <= set(visit.pages)


def has_answers_on_the_screen(visit: Recording) -> bool:
    """People who see the screen see the answers, and so does a program that reads it."""
    return "Yes" in visit.check.split()


def is_in_the_history(visit: Recording) -> bool:
    return any("/s/" in entry["url"] for entry in visit.history)


def _read_public_page(visit: Recording) -> tuple[int, str]:
    """Return the response at the address of the results while the survey is open."""
    slug = visit.sent[0].url.split("/s/")[1].split("/")[0]
    response = Client().get(reverse("aggregator:public_results", args=[slug]))
    return response.status_code, response.content.decode()


def publishes_nothing(visit: Recording) -> bool:
    return _read_public_page(visit)[0] == 404


def publishes_estimates_after_the_close(visit: Recording) -> bool:
    """tests/aggregator/publishing/test_public_page.py shows the page after the close."""
    status, page = _read_public_page(visit)
    return status == 200 and "after the survey has closed" in page and 'class="block"' not in page


def sends_only_a_code(visit: Recording) -> bool:
    return visit.body.keys() == {"format", "id", "manifest", "symbols"}


def stores_only_codes(visit: Recording) -> bool:
    columns = {field.name for model in (RawReport, SpentId) for field in model._meta.fields}
    [report] = RawReport.objects.all()
    return columns == {"id", "wave", "symbols"} and len(report.symbols) == len(visit.symbols)


# Sentences about what is not hidden, and others that a recording can prove.
SHOWS: Mapping[str, Callable[[Recording], bool]] = {
    "That this device opened this page, with its network address, browser and languages.": (
        sends_address_browser_and_languages
    ),
    (
        "The website’s owners see which code is yours, and could change this page."
    ): is_loaded_from_where_the_code_goes,
    "In which language you read it.": sends_the_language_of_the_page,
    # tests/browser/engines/test_traces.py reads the files in which the rest may stay.
    "That this browser took part. It may keep the questions and your code, but no answers.": (
        keeps_only_a_mark
    ),
    "Which questions were drawn for you.": sends_which_questions_were_drawn,
    "How long you took, from opening this page until the code is sent.": sends_at_two_moments_only,
    "That time can hint at your answers: some lead to more questions.": (
        asks_more_after_some_answers
    ),
    "The researchers decide who sees the results.": publishes_nothing,
    (
        "Once the survey has closed, anyone can see estimates for everyone together, but no codes "
        "and no groups."
    ): publishes_estimates_after_the_close,
    "The browser’s history shows when this page was used.": is_in_the_history,
    "What someone over your shoulder sees, or spyware on this device.": has_answers_on_the_screen,
}
OTHERS: Mapping[str, Callable[[Recording], bool]] = {
    "This device scrambles your answers before sending.": sends_only_a_code,
    "Only the code is sent.": sends_only_a_code,
    "Hackers or courts with the database cannot either.": stores_only_codes,
    "This browser keeps no answers, and your code only if it could not be sent at once.": (
        keeps_nothing
    ),
}


def assert_every_sentence_is_true(visit: Recording) -> set[str]:
    """Check that every sentence found is true, and return these sentences."""
    assert visit.shows
    found = {*visit.shows, *(sentence for sentence in OTHERS if sentence in visit.told)}
    checks = {**SHOWS, **OTHERS}
    assert {sentence: checks[sentence](visit) for sentence in found} == dict.fromkeys(found, True)
    return found


def assert_nothing_else_shows(visit: Recording) -> None:
    for request in visit.sent:
        assert request.all_headers().keys() <= CONSTANT | NAMED, request.url
    assert visit.kept.items() >= EMPTY.items()
    [address] = {entry["url"] for entry in visit.history if entry["url"] != "about:blank"}
    assert address == visit.sent[0].url


def make_roads() -> Wave:
    survey: Survey = make_survey(
        title="Drinking",
        questions=ROADS,
        shared_devices=True,
        drawn=2,
        publication=Publication.EXACT,
    )
    return open_survey(survey=survey)


def test_every_sentence_about_a_visit_is_true_and_none_is_missing(
    chromium: Browser, live: LiveApplication
) -> None:
    nights, roads = make_mine(quick_exit=False), make_roads()
    found: set[str] = set()
    visits = []
    for wave, answers in (
        (nights, NIGHTS),
        (nights, QUIET_NIGHTS),
        (roads, dict.fromkeys(ROADS, choose("Yes"))),
    ):
        with visiting(chromium, live, locale="en") as visitor:
            visit = record_visit(visitor, wave, answers)
            if answers is not QUIET_NIGHTS:
                found |= assert_every_sentence_is_true(visit)
            assert_nothing_else_shows(visit)
            visits.append(visit)
        RawReport.objects.all().delete()
    assert found == {*SHOWS, *OTHERS}
    long, short, neutral = visits
    # Both visits look the same except for their codes and duration.
    assert len(long.pages) == len(short.pages) + len(AFTER_YES)
    assert [one.url for one in long.sent] == [one.url for one in short.sent]
    assert len(long.report.post_data or "") == len(short.report.post_data or "")
    assert long.kept == short.kept
    assert "Drinking" not in str([entry["title"] for entry in neutral.history])
