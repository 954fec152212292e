"""Segments from the form to the page, its file and the report; choices that are refused."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from aggregator.charts.comparisons import make_comparison_figure
from aggregator.comparisons.jobs import request_comparison
from aggregator.comparisons.result import Profile, SegmentsResult, TooFewToShow
from aggregator.comparisons.segments import (
    AFTER_CLOSE,
    HOW_MANY,
    PLAIN_ONLY,
    TOO_FEW_ROWS,
    TOO_SMALL,
    analyse_segments,
    check_segments,
)
from aggregator.comparisons.sentences import A_SUMMARY
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.words.segment_sentences import list_profile_rows, summarize_profiles
from aggregator.models import Comparison
from aggregator.results.display import find_view
from aggregator.results.sentences import TOO_FEW, TOO_FEW_ANSWERS
from aggregator.study_report.sections.comparisons import write_comparisons
from privacy.associations.contradictions import Contradiction
from surveys.authoring.services import add_question
from surveys.comparing.choice import NotComparable
from surveys.comparing.indicators import find_indicators
from surveys.models import Wave
from tests.support.comparisons import compute, make_answered_wave, snapshot_of
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import process, sign_in
from tests.support.reading import text_of
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db
NONE = Contradiction(while_watched=False, after_fixed_end=False)


def make_divided_wave(*, people: int = 4000) -> Wave:
    """Make a wave: of four questions, 60 % say Yes to the first two, and 40 % to the last two."""
    return make_answered_wave(people=people, profiles=((0.6, "1100"), (0.4, "0011")))


def choose(client: Client, wave: Wave, *questions: str, profiles: str = "2") -> Any:
    address = reverse("aggregator:compare", args=[wave.survey.slug])
    chosen = {"kind": "segments", "profiles": profiles, "questions": questions}
    return client.post(address, chosen)


@pytest.mark.usefixtures("static_files")
def test_profiles_are_found_from_the_form_to_the_file_and_the_report() -> None:
    wave = make_divided_wave()
    client = sign_in(wave.survey.owner)
    response = choose(client, wave, "q4", "q2", "q1")
    assert response.status_code == 302, text_of(response)
    comparison = compute(Comparison.objects.get())
    assert (comparison.names, comparison.segments) == (["q1", "q2", "q4"], 2)
    page = client.get(response["Location"])
    words = text_of(page)
    assert "2 profiles of Q1, Q2 and Q4" in words
    assert "% of people: mostly Yes to Q1 and Q2. Profile 2, about" in words
    assert "% of people: mostly Yes to Q4." in words
    assert A_SUMMARY in words
    assert "about 2,4" in words
    assert 'id="profiles-title"' in page.content.decode()
    address = reverse("aggregator:comparison_csv", args=[wave.survey.slug, comparison.pk])
    rows = list(csv.DictReader(io.StringIO(client.get(address).content.decode("utf-8-sig"))))
    listed = [(row["row"], row["quantity"], row["first"]) for row in rows]
    assert listed[:6] == [
        ("1", "size", ""), ("1", "size_spread", ""), ("1", "share", "question_a"),
        ("1", "share", "question_b"), ("1", "share", "question_d"), ("1", "spread", ""),
    ]  # fmt: skip
    assert len(rows) == 12
    shares = [float(row["value"]) for row in rows if row["quantity"] == "share"]
    assert np.round(shares).tolist() == [1, 1, 0, 0, 0, 1]
    assert sum(float(row["value"]) for row in rows if row["quantity"] == "size") == 1
    standing = find_standing(comparison)
    assert make_comparison_figure(comparison, standing, ends_at_data=True) is None
    results = find_view(wave.survey).results
    assert results is not None
    [section] = write_comparisons(results)
    assert A_SUMMARY in str(section)


@pytest.mark.usefixtures("static_files")
def test_two_and_three_profiles_are_two_comparisons_and_each_is_computed_once() -> None:
    wave = make_divided_wave(people=600)
    client = sign_in(wave.survey.owner)
    for profiles in ("2", "3", "2"):
        assert choose(client, wave, "q1", "q2", profiles=profiles)
    assert sorted(Comparison.objects.values_list("segments", flat=True)) == [2, 3]


@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize(
    ("chosen", "profiles", "advice"),
    [
        ([], "2", HOW_MANY),
        (["q1"], "2", HOW_MANY),
        (["q1", "q1"], "2", HOW_MANY),
        (["q1", "q9"], "2", "Select a valid choice"),
        (["q1", "q2"], "4", "Select a valid choice"),
    ],
)
def test_a_wrong_choice_is_refused_with_advice(
    chosen: list[str], profiles: str, advice: str
) -> None:
    wave = make_divided_wave(people=600)
    response = choose(sign_in(wave.survey.owner), wave, *chosen, profiles=profiles)
    assert response.status_code == 422
    assert advice in text_of(response)
    assert not Comparison.objects.exists()


@pytest.mark.usefixtures("static_files")
def test_open_surveys_offer_no_profiles_and_compute_none() -> None:
    wave = make_wave(questions=2)
    send_many(wave, [bytes([number % 2, 1]) for number in range(400)])
    process(wave)
    client = sign_in(wave.survey.owner)
    page = client.get(reverse("aggregator:compare", args=[wave.survey.slug]))
    assert 'id="segments-title"' not in page.content.decode()
    assert AFTER_CLOSE in text_of(choose(client, wave, "q1", "q2"))
    with pytest.raises(NotComparable, match=AFTER_CLOSE):
        request_comparison(
            wave=wave,
            snapshot=snapshot_of(wave),
            kind=Comparison.Kind.SEGMENTS,
            names=["q1", "q2"],
            segments=2,
        )


def test_only_plain_yes_or_no_questions_have_profiles() -> None:
    survey = make_survey(questions=["Tired?"])
    add_question(survey=survey, text="Ward?", type="choice", options=["North", "South", "East"])
    manifest = open_survey(survey=survey).description
    chosen = find_indicators(manifest, ["q1", "q2.1"])
    with pytest.raises(NotComparable) as refusal:
        check_segments(manifest, chosen, is_final=True)
    assert str(refusal.value) == PLAIN_ONLY.format(label="Q2 (South)")


@pytest.mark.parametrize(
    ("counts", "segments", "advice"),
    [
        # The counts that two coins give for 1,000 people who all say No to both questions, or No to
        # Q1 only.
        ([[562, 188], [188, 62]], 2, TOO_FEW_ROWS.format(segments=2)),
        ([[375, 375], [125, 125]], 3, TOO_FEW_ROWS.format(segments=3)),
        # Of 1,000 people, 20 say Yes to both questions, and the others No to both.
        ([[554, 188], [188, 70]], 2, TOO_SMALL.format(minimum=30)),
    ],
)
def test_too_few_rows_or_people_are_refused(
    counts: list[list[int]], segments: int, advice: str
) -> None:
    indicators = find_indicators(make_launched_survey().description, ["q1", "q2"])
    with pytest.raises(TooFewToShow) as refusal:
        analyse_segments(
            indicators=indicators, counts=np.array(counts), segments=segments, minimum=30
        )
    assert str(refusal.value) == advice


def test_profiles_that_move_too_much_are_not_shown() -> None:
    indicators = find_indicators(make_launched_survey().description, ["q1", "q2"])

    def describe(spread: float, size_spread: float) -> tuple[str, list[str]]:
        profiles = tuple(
            Profile(size=0.5, size_spread=size_spread, shares=(0.3, 0.1), spread=spread)
            for _ in range(2)
        )
        result = SegmentsResult(n=1000, contradiction=NONE, profiles=profiles)
        rows = list_profile_rows(result, indicators)
        return summarize_profiles(result, indicators), [row.cells[0] for row in rows]

    said, cells = describe(0.04, 0.02)
    assert said.startswith("Profile 1, about 50\N{NO-BREAK SPACE}% of people: mostly No to all.")
    assert cells == [
        "about 500 ± 20",
        "30\N{NO-BREAK SPACE}%",
        "10\N{NO-BREAK SPACE}%",
        "± 4",
    ]
    assert describe(0.04, 0.1)[1][:2] == ["about 500 ± 100†", "30\N{NO-BREAK SPACE}%†"]
    for moved in ((0.2, 0.02), (0.04, 0.2)):
        said, cells = describe(*moved)
        assert said == TOO_FEW_ANSWERS
        assert cells == [TOO_FEW, "–", "–", "–"]
