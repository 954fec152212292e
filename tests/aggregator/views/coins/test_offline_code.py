"""Handing in a code that was drawn elsewhere: codes that are accepted, and messages for others."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aggregator.intake.wire import MAX_BODY_BYTES, encode_report
from aggregator.models import RawReport
from aggregator.views.coins.offline_code import MAX_FORM_BYTES
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.services import add_question
from surveys.manifest.manifest import MOST_SYMBOLS, NOT_DRAWN
from surveys.models import Question, Survey, Wave
from tests.support.factories import QUESTIONS, make_launched_survey, make_survey, open_survey
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FORM = "application/x-www-form-urlencoded"
ID = bytes(range(32))


def address(wave: Wave) -> str:
    return reverse("aggregator:hand_in", args=[wave.survey.slug])


def code(wave: Wave, symbols: bytes = b"\1\0") -> str:
    report = encode_report(manifest_hash=bytes(wave.manifest_hash), report_id=ID, symbols=symbols)
    return report.decode()


def paste(wave: Wave, text: str, *, query: str = "", **headers: str) -> Any:
    return send(wave, urlencode({"report": text}), query=query, **headers)


def send(wave: Wave, body: str, *, query: str = "", **headers: str) -> Any:
    client = Client(headers={"host": "localhost", **headers})
    return client.post(address(wave) + query, body, content_type=FORM)


def thanks(response: Any) -> Any:
    """Return the page that appears after a code is handed in."""
    assert response.status_code == 303
    return Client(headers={"host": "localhost"}).get(response["Location"])


def pasted(response: Any) -> str:
    (text,) = re.findall(r"<textarea[^>]*>([^<]*)</textarea>", response.content.decode())
    return html.unescape(text)


def test_a_code_with_spaces_around_it_is_accepted() -> None:
    wave = make_launched_survey()
    response = paste(wave, f"  {code(wave)}\r\n")
    assert response["Location"] == f"{address(wave)}/sent?lang=en"
    assert (response.content, response.cookies) == (b"", {})
    assert "Your code was sent." in words_of(thanks(response))
    assert bytes(RawReport.objects.get().symbols) == b"\1\0"


def test_a_code_with_spaces_and_line_breaks_inside_it_is_accepted() -> None:
    wave = make_launched_survey()
    text = (
        code(wave).replace(",", ",\r\n  ").replace('"id":"AAEC', '"id":"AA\N{NO-BREAK SPACE} E\tC')
    )
    assert text.count("\n") == 3
    assert "E\tC" in text
    response = paste(wave, text)
    assert "Your code was sent." in words_of(thanks(response))
    assert bytes(RawReport.objects.get().symbols) == b"\1\0"


@pytest.mark.parametrize("name", ["coins", "hand_in"])
@pytest.mark.parametrize(
    ("came", "referrer", "is_ours"),
    [
        ("same-origin", "", True),
        ("none", "", False),
        ("cross-site", "", False),
        ("cross-site", "https://evil.example/localhost", False),
        ("cross-site", "http://[", False),
        ("none", "http://localhost/s/any/coins", True),  # as when WebKit reloads the page
    ],
)
def test_only_a_form_of_ours_leads_to_thanks(
    name: str, came: str, referrer: str, is_ours: bool
) -> None:
    slug = make_launched_survey(coins=True).survey.slug
    form = reverse(f"aggregator:{name}", args=[slug])
    client = Client(headers={"host": "localhost", "sec-fetch-site": came, "referer": referrer})
    response = client.get(f"{form}/sent?lang=en")
    assert response.status_code == (200 if is_ours else 303)
    assert response.get("Location", "") == ("" if is_ours else f"{form}?lang=en")


def test_a_code_with_many_spaces_is_shown_in_full_if_it_must_be_sent_again() -> None:
    wave, other = make_launched_survey(), make_launched_survey()
    text = code(other)
    response = paste(wave, text.replace(",", "," + " " * MAX_BODY_BYTES))
    assert "This is not one whole code." not in words_of(response)
    assert pasted(response) == text


def test_a_report_whose_first_question_is_a_number_can_be_handed_in() -> None:
    survey = make_survey(questions=[])
    content: dict[str, Any] = {"minimum": 0, "maximum": 24, "unit": "hours"}
    add_question(survey=survey, text="How long?", type=Question.Type.NUMBER, **content)
    wave = open_survey(survey=survey)
    page = Client(headers={"host": "localhost"}).get(address(wave))
    assert "Hand in your code" in words_of(page)
    assert "Your code was sent." in words_of(thanks(paste(wave, code(wave, b"\1"))))


class TestLength:
    @pytest.fixture
    def large(self) -> Wave:
        """Make a survey with as many symbols per report as possible, most of them not drawn."""
        survey = make_survey(questions=["First?"], drawn=1)
        fill(survey, MOST_SYMBOLS - 1)
        return open_survey(survey=survey)

    def test_the_largest_report_fits_even_in_its_longest_encoding(self, large: Wave) -> None:
        text = code(large, b"\1" + bytes([NOT_DRAWN]) * (MOST_SYMBOLS - 1))
        assert len(text) == MAX_BODY_BYTES
        body = "report=" + "".join(f"%{byte:02X}" for byte in text.encode())
        assert 3 * MAX_BODY_BYTES < len(body) < MAX_FORM_BYTES
        assert send(large, body).status_code == 303
        assert RawReport.objects.count() == 1

    def test_a_survey_with_larger_reports_cannot_be_opened(self) -> None:
        survey = make_survey(questions=["First?"])
        fill(survey, MOST_SYMBOLS)
        [problem] = find_launch_problems(survey=survey, now=timezone.now())
        assert problem.startswith("A report would have 3,964 codes, but the maximum is 3,963.")
        with pytest.raises(NotLaunchable):
            open_survey(survey=survey)

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("x" * (MAX_BODY_BYTES + 1), MAX_BODY_BYTES),
            ("ä" * MAX_BODY_BYTES, None),
            ("x" * 500_000, MAX_BODY_BYTES),
            ("x" * 1_500_000, 0),  # more than Django reads from any form
        ],
        ids=["by one", "in other letters", "by far", "unread"],
    )
    def test_the_form_says_that_the_text_is_too_long(self, text: str, shown: int | None) -> None:
        response = paste(make_launched_survey(), text)
        assert response.status_code == 413
        assert "This is not one whole code." in words_of(response)
        assert "<title>Error: " in response.content.decode()
        if shown is not None:
            assert pasted(response) == text[:shown]

    def test_text_that_was_cut_off_is_not_read_as_a_code(self) -> None:
        wave = make_launched_survey()
        assert paste(wave, code(wave) + " " * MAX_FORM_BYTES + "x").status_code == 413
        assert RawReport.objects.count() == 0

    def test_an_invalid_code_stays_on_the_form(self) -> None:
        response = paste(make_launched_survey(), "This is <no> code")
        assert response.status_code == 422
        text = response.content.decode()
        assert 'required aria-invalid="true" aria-describedby="error"' in text
        [error] = re.findall(r'<p class="error" id="error">([^<]*)</p>', text)
        assert "This is not one whole code." in error
        assert "This is not one whole code." in words_of(response)
        assert pasted(response) == "This is <no> code"


def fill(survey: Survey, symbols: int) -> None:
    """Add questions with this many symbols, protected well enough for browsers to ask them."""
    rows = [min(64, symbols - start) for start in range(0, symbols, 64)]
    for number, size in enumerate(rows, start=survey.questions.count() + 1):
        survey.questions.create(
            position=number,
            text=f"Which of list {number}?",
            type=Question.Type.SEVERAL,
            options=[f"Row {row}" for row in range(size)],
            limit=1,
            flips=49,
        )


def test_an_unknown_survey_is_not_found_and_coins_are_not_mentioned() -> None:
    for slug in ("nothing", make_survey().slug):
        path = reverse("aggregator:hand_in", args=[slug])
        response = Client(headers={"host": "localhost"}).get(path)
        words = words_of(response)
        assert response.status_code == 404
        assert "There is no survey here" in words
        assert "coin" not in words.lower()


def test_the_reply_to_a_post_from_another_site_links_back_in_its_language() -> None:
    survey = make_survey()
    words = {"On the road": "Unterwegs"} | {question: f"{question} (de)" for question in QUESTIONS}
    survey.translations.create(language="de", texts=words)
    wave = open_survey(survey=survey)
    response = paste(wave, code(wave), query="?lang=de", origin="https://evil.example")
    text = response.content.decode()
    assert response.status_code == 403
    assert '<html lang="de"' in text
    assert f'<a class="again" href="{address(wave)}?lang=de">' in text
    assert RawReport.objects.count() == 0


def test_a_post_that_is_not_a_form_is_refused() -> None:
    wave = make_launched_survey()
    client = Client(headers={"host": "localhost"})
    response = client.post(address(wave), code(wave), content_type="text/plain")
    assert response.status_code == 415
    assert "Your code was not counted" in words_of(response)
