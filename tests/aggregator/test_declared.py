"""Groups that are sent as they are: counted exactly, and hidden where they are small."""

from __future__ import annotations

import csv
import io
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from aggregator.exports import stream_reports
from aggregator.models import RawReport
from aggregator.results import find_view, hide_small_groups
from surveys.models import Question, Survey, Wave
from surveys.services import add_question, close_wave, create_survey, launch_survey
from tests.aggregator.fielding import process, sign_in

MINIMUM = 100


@given(st.lists(st.integers(0, 400), min_size=2, max_size=8), st.integers(1, 200))
def test_no_small_group_is_shown_or_can_be_found_by_subtracting(
    counts: list[int], minimum: int
) -> None:
    hidden = hide_small_groups(counts, minimum=minimum)
    shown = set(range(len(counts))) - hidden
    assert all(counts[code] >= minimum for code in shown)
    together = sum(counts[code] for code in hidden)
    assert not hidden or together >= minimum or not shown or together == 0
    if all(count >= minimum for count in counts):
        assert not hidden


@pytest.fixture
def wave(db: None) -> Wave:
    owner = User.objects.create_user(email="groups@example.org")
    survey = create_survey(owner=owner, title="Groups", display_minimum=MINIMUM)
    add_question(
        survey=survey,
        type=Question.Type.DECLARED,
        text="Where do you work?",
        options=["Kitchen", "Ward", "Office"],
    )
    add_question(survey=survey, text="Did you ever work ill?")
    return launch_survey(survey=survey)


def send(wave: Wave, groups: dict[int, int]) -> Survey:
    RawReport.objects.bulk_create(
        RawReport(id=secrets.token_bytes(32), wave=wave, symbols=bytes([group, number % 2]))
        for group, people in groups.items()
        for number in range(people)
    )
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return wave.survey


def read_groups(survey: Survey) -> list[int | None]:
    results = find_view(survey).results
    assert results is not None
    [declared] = results.declared
    return [group.count for group in declared.groups]


def read_csv(survey: Survey) -> list[dict[str, str]]:
    results = find_view(survey).results
    assert results is not None
    text = b"".join(stream_reports(results)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_large_groups_are_told_exactly(wave: Wave) -> None:
    survey = send(wave, {0: 120, 1: 150, 2: 130})
    assert read_groups(survey) == [120, 150, 130]
    rows = read_csv(survey)
    assert [sum(row["q1"] == str(code) for row in rows) for code in range(3)] == [120, 150, 130]


@pytest.mark.usefixtures("static_files")
def test_a_small_group_is_hidden_with_the_next_one_everywhere(wave: Wave) -> None:
    survey = send(wave, {0: 3, 1: 150, 2: 130})
    assert read_groups(survey) == [None, 150, None]
    rows = read_csv(survey)
    assert sum(row["q1"] == "1" for row in rows) == 150
    hidden = [row for row in rows if row["q1"] != "1"]
    assert {row["q1"] for row in hidden} == {""}
    # Nothing about the order of the hidden rows tells the two groups apart.
    assert [row["q2"] for row in hidden] == sorted(row["q2"] for row in hidden)
    client = sign_in(survey.owner)
    page = client.get(f"/surveys/{survey.slug}/results").content.decode()
    assert "too few" in page
    assert "This question was not scrambled" in page
    answer = client.get(f"/api/surveys/{survey.slug}/results").json()
    assert [group["n"] for group in answer["declared"][0]["groups"]] == [None, 150, None]
    # The scrambled question is not divided by groups anywhere.
    assert [question["name"] for question in answer["questions"]] == ["q2"]
