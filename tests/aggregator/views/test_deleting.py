"""The page that deletes a closed survey, and what the survey's URLs return afterwards."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import reverse

from aggregator.exports import reports
from aggregator.upkeep.deleting import delete_survey
from surveys.lifecycle.services import close_wave
from surveys.models import DeletedWave, Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.fielding import field, sign_in
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def make_closed(title: str = "On the road", **settings: Any) -> Survey:
    wave = make_launched_survey(title=title, **settings)
    return field(wave, yes=[20, 30], total=40)


def at(survey: Survey) -> str:
    return reverse("aggregator:delete", args=[survey.slug])


def test_the_page_of_a_closed_survey_leads_to_its_deletion() -> None:
    survey = make_closed()
    author = sign_in(survey.owner)
    page = author.get(reverse("surveys:edit", args=[survey.slug]))
    assert f'href="{at(survey)}"' in page.content.decode()
    words = words_of(author.get(at(survey)))
    for part in ("Erased:", "Kept:", "Not erased:", "backups", "On the road"):
        assert part in words


def test_typing_the_title_deletes_the_survey() -> None:
    survey = make_closed()
    response = sign_in(survey.owner).post(at(survey), {"title": "On the road"}, follow=True)
    assert response.redirect_chain == [("/", 302)]
    assert "The survey was deleted with everything it collected." in words_of(response)
    assert not Survey.objects.exists()
    assert DeletedWave.objects.get().slug == survey.slug


@pytest.mark.parametrize("typed", ["", "on the road", "On the roads", "On the road; yes"])
def test_a_wrong_title_deletes_nothing_and_says_what_to_type(typed: str) -> None:
    survey = make_closed()
    response = sign_in(survey.owner).post(at(survey), {"title": typed})
    assert response.status_code == 422
    assert "Type the title exactly as it is shown: “On the road”. Nothing was deleted." in words_of(
        response
    )
    assert Survey.objects.get().find_wave() is not None
    assert not DeletedWave.objects.exists()


@pytest.mark.parametrize(
    ("title", "typed"),
    [
        ("A  wide   gap", " A wide gap "),  # a page shows several spaces as one
        ("Caf\u00e9", "Cafe\u0301"),
        ('<b>\u05e9\u05dc\u05d5\u05dd & "x"', '<b>\u05e9\u05dc\u05d5\u05dd & "x"'),
    ],
)
def test_a_title_that_looks_the_same_is_the_same(title: str, typed: str) -> None:
    survey = make_closed(title)
    assert sign_in(survey.owner).post(at(survey), {"title": typed}).status_code == 302
    assert not Survey.objects.exists()


def test_an_open_survey_says_to_close_it_first_and_has_no_link() -> None:
    survey = make_launched_survey().survey
    author = sign_in(survey.owner)
    for response in (author.get(at(survey)), author.post(at(survey), {"title": survey.title})):
        assert response.status_code == 409
        assert "Close it first, then delete it." in words_of(response)
    page = author.get(reverse("surveys:edit", args=[survey.slug])).content.decode()
    assert at(survey) not in page
    assert Survey.objects.filter(pk=survey.pk).exists()


def test_a_draft_is_deleted_on_its_own_page() -> None:
    draft = make_survey()
    response = sign_in(draft.owner).get(at(draft))
    assert response["Location"] == reverse("surveys:delete", args=[draft.slug])


def test_a_closed_survey_without_any_report_can_be_deleted_too() -> None:
    wave = make_launched_survey()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    survey = wave.survey
    sign_in(survey.owner).post(at(survey), {"title": survey.title})
    assert not Survey.objects.exists()


def test_two_windows_delete_once() -> None:
    survey = make_closed()
    author = sign_in(survey.owner)
    answers = [author.post(at(survey), {"title": survey.title}).status_code for _ in range(2)]
    assert answers == [302, 404]


ADDRESSES = [
    "surveys:edit",
    "aggregator:results",
    "aggregator:results_panel",
    "aggregator:reports_csv",
    "aggregator:estimates_csv",
    "aggregator:compare",
    "aggregator:api_survey",
    "aggregator:api_results",
    "aggregator:api_reports_csv",
    "aggregator:api_estimates_csv",
]


@pytest.mark.parametrize("name", ADDRESSES)
def test_results_files_and_the_api_find_nothing_afterwards(name: str) -> None:
    survey = make_closed()
    author = sign_in(survey.owner)
    address = reverse(name, args=[survey.slug])
    assert author.get(address).status_code in (200, 286)
    delete_survey(survey=survey)
    assert author.get(address).status_code == 404


FILES = ["reports_csv", "estimates_csv", "api_reports_csv", "api_estimates_csv", "api_results"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", ["find_batches", "newest_snapshot", "newest"])
def test_a_survey_deleted_while_its_file_is_made_gives_the_file_or_a_404(
    name: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = make_closed()
    author = sign_in(survey.owner)
    author.raise_request_exception = False
    address = reverse(f"aggregator:{name}", args=[survey.slug])
    whole = read_all(author, address)
    target = {
        "find_batches": "aggregator.exports.reports.find_batches",
        "newest_snapshot": "aggregator.results.display.newest_snapshot",
        "newest": "surveys.models.WaveQuerySet.newest",
    }[place]
    module, _, attribute = target.rpartition(".")
    original = pkgutil.resolve_name(f"{module.replace('.WaveQuerySet', ':WaveQuerySet')}")
    original = getattr(original, attribute)

    def delete_first(*arguments: Any, **named: Any) -> Any:
        if Survey.objects.exists():
            delete_survey(survey=survey)
        return original(*arguments, **named)

    monkeypatch.setattr(target, delete_first)
    response = author.get(address)
    if response.status_code == 200:
        assert b"".join(parts_of(response)) == whole
    else:
        assert response.status_code == 404
        assert not response.get("Content-Disposition")


def read_all(author: Client, address: str) -> bytes:
    return b"".join(parts_of(author.get(address)))


def parts_of(response: Any) -> Iterator[bytes]:
    content = response.streaming_content if response.streaming else [response.content]
    yield from content


def test_a_file_that_has_begun_is_complete_even_if_the_survey_is_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reports, "ROWS_AT_ONCE", 10)
    survey = make_closed()
    author, address = sign_in(survey.owner), reverse("aggregator:reports_csv", args=[survey.slug])
    whole = read_all(author, address)
    response = author.get(address)
    assert isinstance(response, StreamingHttpResponse)
    delete_survey(survey=survey)
    assert b"".join(parts_of(response)) == whole


def test_a_survey_deleted_between_counting_and_reading_its_reports_gives_no_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = make_closed()
    author = sign_in(survey.owner)
    author.raise_request_exception = False
    original = reports.find_batches

    def delete_afterwards(*arguments: Any, **named: Any) -> Any:
        found = original(*arguments, **named)
        delete_survey(survey=survey)
        return found

    monkeypatch.setattr("aggregator.exports.reports.find_batches", delete_afterwards)
    response = author.get(reverse("aggregator:reports_csv", args=[survey.slug]))
    assert response.status_code == 404
    assert not response.get("Content-Disposition")


def test_a_survey_of_someone_else_cannot_be_deleted() -> None:
    survey = make_closed()
    stranger = sign_in(make_user())
    assert stranger.post(at(survey), {"title": survey.title}).status_code == 404
    assert Survey.objects.exists()


def test_a_title_may_be_used_again() -> None:
    survey = make_closed()
    owner = survey.owner
    delete_survey(survey=survey)
    open_survey(survey=make_survey(owner=owner))
    assert re.search("On the road", words_of(sign_in(owner).get("/")))
