"""While a wave is open, nothing is broken down by a declared answer, and there are no rows."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from django.urls import reverse

from aggregator.comparisons.choice import GROUPS_AFTER_CLOSE
from aggregator.models import Comparison, RawReport
from aggregator.results.display import find_view
from surveys.authoring.services import add_question
from surveys.comparing.choice import NotComparable
from surveys.lifecycle.services import close_wave
from surveys.models import Question, Survey, Wave
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
Kind = Comparison.Kind
# Sizes of groups among 1,307 people; no other number on any page equals one of these.
GROUPS = (211, 463, 633)
LATER = "Counted after the survey has closed"


@pytest.fixture
def wave() -> Wave:
    survey = make_survey(questions=("Ill?", "Late?"), display_minimum=50, minimum_batch=10)
    add_question(
        survey=survey,
        type=Question.Type.DECLARED,
        text="Where do you work?",
        options=["Kitchen", "Ward", "Office"],
    )
    wave = open_survey(survey=survey)
    RawReport.objects.bulk_create(
        RawReport(
            id=secrets.token_bytes(32),
            wave=wave,
            symbols=bytes([number % 2, number % 3 == 0, group]),
        )
        for group, people in enumerate(GROUPS)
        for number in range(people + 10 * (group == 0))
    )
    process(wave)
    return wave


def close(wave: Wave) -> Survey:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    wave.refresh_from_db()
    return wave.survey


def read(survey: Survey, name: str, *arguments: object) -> Any:
    address = reverse(f"aggregator:{name}", args=[survey.slug, *arguments])
    return sign_in(survey.owner).get(address)


def content_of(response: Any) -> str:
    parts = response.streaming_content if response.streaming else [response.content]
    return b"".join(parts).decode()


def count_groups(wave: Wave) -> list[int]:
    snapshot = wave.snapshots.get()
    return list(snapshot.counts[2])


@pytest.mark.parametrize("name", ["results", "results_panel"])
def test_the_page_says_when_groups_are_counted_and_names_none(wave: Wave, name: str) -> None:
    # The hash may contain any number.
    words = text_of(read(wave.survey, name)).replace(wave.manifest_hash_hex, "")
    assert LATER in words
    for word in ("Kitchen", "Ward", "Office", *map(str, count_groups(wave))):
        assert word not in words
    survey = close(wave)
    words = text_of(read(survey, name))
    assert LATER not in words
    assert "Kitchen 17 % (" in words
    assert "Kitchen 221" in words


def test_neither_the_api_nor_any_file_has_a_group(wave: Wave) -> None:
    answer = read(wave.survey, "api_results").json()
    assert answer["declared"] == []
    assert [question["name"] for question in answer["questions"]] == ["ill", "late"]
    counted = set(count_groups(wave))
    assert not counted & {
        estimate["count"] for one in answer["questions"] for estimate in one["estimates"]
    }
    for text in (
        content_of(read(wave.survey, "estimates_csv")),
        content_of(read(wave.survey, "api_estimates_csv")),
    ):
        assert "Kitchen" not in text
        assert "Where do you work" not in text
    close(wave)
    assert [one["name"] for one in read(wave.survey, "api_results").json()["declared"]] == [
        "work_a"
    ]


def test_rows_exist_only_after_the_close(wave: Wave) -> None:
    survey = wave.survey
    page = read(survey, "data").content.decode()
    assert 'id="download-reports"' not in page
    assert 'id="rows-come-later"' in page
    refused = read(survey, "reports_csv")
    assert refused.status_code == 409
    assert "appears once the survey has closed" in text_of(refused)
    problem = read(survey, "api_reports_csv")
    assert (problem.status_code, problem["Content-Type"]) == (409, "application/problem+json")
    assert problem.json()["type"] == "/problems/survey-not-counted"
    assert "once the survey has closed" in problem.json()["detail"]
    assert read(survey, "codebook_csv").status_code == 200
    close(wave)
    page = read(survey, "data").content.decode()
    assert 'id="download-reports"' in page
    assert 'id="rows-come-later"' not in page
    assert read(survey, "reports_csv").status_code == 200
    assert read(survey, "api_reports_csv").status_code == 200


def test_a_closed_wave_that_is_still_being_counted_counts_as_open(wave: Wave) -> None:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    results = find_view(wave.survey).results
    assert results is not None
    assert results.declared == ()
    refused = read(wave.survey, "reports_csv")
    assert refused.status_code == 409
    assert "its last reports are being counted" in text_of(refused)
    words = text_of(read(wave.survey, "results"))
    assert LATER in words
    assert "Kitchen" not in words


def test_compare_offers_no_group_and_refuses_one(wave: Wave) -> None:
    survey = wave.survey
    address = reverse("aggregator:compare", args=[survey.slug])
    page = read(survey, "compare").content.decode()
    assert 'value="q2"' in page
    assert 'value="q3.' not in page
    assert 'id="groups-come-later"' in page
    client = sign_in(survey.owner)
    for choice in (
        {"kind": "table", "outcome": "q1", "group": "q3.0"},
        {"kind": "table", "outcome": "q3.1", "group": "q1"},
        {"kind": "regression", "outcome": "q1", "predictor_1": "q2", "predictor_2": "q3.2"},
        {"kind": "regression", "outcome": "q3.0", "predictor_1": "q3.2"},
    ):
        response = client.post(address, choice)
        assert response.status_code == 422
        assert GROUPS_AFTER_CLOSE in text_of(response)
    with pytest.raises(NotComparable):
        ask(wave, Kind.TABLE, "q1", "q3.0")
    assert not Comparison.objects.exists()
    assert (
        client.post(address, {"kind": "table", "outcome": "q1", "group": "q2"}).status_code == 302
    )
    close(wave)
    page = read(survey, "compare").content.decode()
    assert 'value="q3.0"' in page
    assert 'id="groups-come-later"' not in page
    assert compute(ask(wave, Kind.TABLE, "q1", "q3.1")).result is not None


def store_by_an_earlier_version(wave: Wave, names: str) -> Comparison:
    """Store a result that an earlier version would have computed while the wave was open."""
    requested = ask(wave, Kind.TABLE, "q1", "q2")
    computed = requested if requested.is_settled else compute(requested)
    computed.pk, computed.names, computed.method_version = None, names.split(","), 6
    computed.save()
    return computed


@pytest.mark.parametrize("names", ["q1,q3.1", "q3.1,q1"])
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_group_compared_earlier_while_the_wave_was_open_is_withdrawn(
    wave: Wave, names: str, is_closed: bool
) -> None:
    stored = store_by_an_earlier_version(wave, names)
    plain = store_by_an_earlier_version(wave, "q1,q2")
    if is_closed:
        close(wave)
    for name in ("comparison", "comparison_panel"):
        words = text_of(read(wave.survey, name, stored.pk))
        assert GROUPS_AFTER_CLOSE in words
        assert "463" not in words
        assert "Difference" not in words
    assert read(wave.survey, "comparison_csv", stored.pk).status_code == 404
    stored.refresh_from_db()
    assert stored.result is None
    assert "Difference" in text_of(read(wave.survey, "comparison", plain.pk))
    if not is_closed:
        close(wave)
    assert compute(ask(wave, Kind.TABLE, *names.split(","))).result is not None
