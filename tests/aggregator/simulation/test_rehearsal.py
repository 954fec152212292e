"""Synthetic respondents: which answers may be stated, how the rest are drawn, and what is sent."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from aggregator.intake.store import record_report
from aggregator.intake.wire import parse_upload
from aggregator.simulation.demo_surveys import STUDY
from aggregator.simulation.rehearsal import (
    RehearsalError,
    draw_people,
    open_rehearsal,
    read_groups,
    share_out,
)
from aggregator.simulation.respondents import Answers, find_asked, randomize_answers
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.services import add_question, save_translation
from surveys.manifest.languages import list_texts, read_words
from surveys.manifest.manifest import Manifest, Publication
from surveys.models import Survey, Wave
from tests.support.manifests import make_manifest
from tests.support.scores import draw_pair
from tests.support.waves import count_all


@pytest.fixture
def survey(db: None) -> Survey:
    owner = User.objects.create_user(email="rehearsal@example.org")
    survey = Survey.objects.create_owned(owner, title="Study", drawn=4)
    STUDY.add_questions(survey)
    return survey


@pytest.fixture
def manifest(survey: Survey) -> Manifest:
    return build_manifest(survey=survey, wave_number=1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "Write a list of groups"),
        ({"share": 1}, "Write a list of groups"),
        ([{"share": 1}], "Group 1 must have a share and answers, and nothing else"),
        ([{"share": 0, "answers": {}}], "share of group 1 must be a number above 0"),
        ([{"share": True, "answers": {}}], "share of group 1 must be a number above 0"),
        ([{"share": 1, "answers": {"q77": 1}}], "the survey asks no question named q77"),
        (
            [{"share": 1, "answers": {"t1": 1}}],
            "the survey asks no question named t1",
        ),  # t1 is a text to read
        ([{"share": 1, "answers": {"q2": 2}}], r"Group 1, q2: the codes are \[0, 1\]"),
        ([{"share": 1, "answers": {"q2": "yes"}}], "q2: an answer is a whole number"),
        ([{"share": 1, "answers": {"q2": {"yes": 1}}}], "named by their codes, not 'yes'"),
        ([{"share": 1, "answers": {"q2": {"1": 0}}}], "at least one weight must be above 0"),
        ([{"share": 1, "answers": {"q2": {"1": -1}}}], "weight of 1 must be a number from 0"),
        (
            [{"share": 1, "answers": {"q4": None}}],
            "the question does not offer “prefer not to say”",
        ),
        ([{"share": 1, "answers": {"q3": 31}}], "the range is 0 to 30"),
        ([{"share": 1, "answers": {"q6": [1, 2, 3]}}], "at most 2 items"),
        ([{"share": 1, "answers": {"q6": [9]}}], r"choose items from \[1, 2, 3, 4\]"),
        ([{"share": 1, "answers": {"q6": {"1": 0.5}}}], 'write {"items"'),
        ([{"share": 1, "answers": {"q6": {"items": [1]}}}], 'write {"items"'),
        ([{"share": 1, "answers": {"q6": {"items": {"1": 2.5}}}}], "number from 0 to 1"),
        ([{"share": 1, "answers": {"q6": [1, 1]}}], "each at most once"),
        ([{"share": 1, "answers": {"q6": [[1]]}}], "choose items from"),
        ([{"share": 1, "answers": {"q6": [True]}}], "choose items from"),
        ([{"share": float("inf"), "answers": {}}], "share of group 1 must be a number above 0"),
        ([{"share": 1, "answers": {"q2": {"0": 1e308, "1": 1e308}}}], "number from 0 to 1e"),
        ([{"share": 1, "answers": {"q2": {"0": float("nan")}}}], "number from 0 to 1e"),
    ],
)
def test_impossible_stated_answers_are_refused(
    manifest: Manifest, content: Any, message: str
) -> None:
    with pytest.raises(RehearsalError, match=message):
        read_groups(content, manifest=manifest)


def test_groups_get_their_shares_to_the_nearest_whole_person() -> None:
    assert share_out([1, 1, 1], 10) == [4, 3, 3]
    assert share_out([0.3, 0.7], 1000) == [300, 700]
    assert sum(share_out([0.1, 0.2, 0.3, 0.15], 9999)) == 9999


def test_stated_answers_are_used_and_others_are_drawn(manifest: Manifest) -> None:
    content = [
        {"share": 1, "answers": {"q2": 1, "q3": 12, "q6": [1, 4], "q5": {"refused": 1}}},
        {"share": 3, "answers": {"q2": None, "q6": {"items": {"2": 1}}, "q4": {"2": 2, "0": 1}}},
    ]
    groups = read_groups(content, manifest=manifest)
    people = draw_people(groups, manifest=manifest, people=400, seed=7)
    assert draw_people(groups, manifest=manifest, people=400, seed=7) == people
    first, second = people[:100], people[100:]
    assert all((p["q2"], p["q3"], p["q6"], p["q5"]) == (1, 12, [1, 4], None) for p in first)
    assert all((p["q2"], p["q6"]) == (None, [2]) for p in second)
    assert set(Counter(p["q4"] for p in second)) == {0, 2}
    assert {p["q7"] for p in people} == set(range(11))  # not stated: drawn evenly
    assert "t1" not in people[0]


def test_a_synthetic_respondent_is_asked_what_a_browser_would_ask(manifest: Manifest) -> None:
    everything: Answers = {"q1": 0, "q2": 1, "q3": 5, "q4": 0, "q5": 0, "q6": [], "q7": 3, "q8": 0}
    assert find_asked(manifest, everything) == {"t1", *(f"q{number}" for number in range(1, 9))}
    assert "q3" not in find_asked(manifest, {**everything, "q2": 0})
    assert "q3" not in find_asked(manifest, {**everything, "q2": None})
    blocks = manifest.blocks
    drawn = {None, blocks["q2"]}
    assert find_asked(manifest, everything, drawn=drawn) == {"t1", "q1", "q2", "q3"}


def test_a_text_is_shown_with_the_question_that_its_rule_names(db: None) -> None:
    """This also holds for a negated rule, which is true if the question was not asked."""
    owner = User.objects.create_user(email="texts@example.org")
    survey = Survey.objects.create_owned(owner, title="Texts", drawn=1)
    first = add_question(survey=survey, text="Ever?")
    add_question(survey=survey, text="Now?")
    rule = {"not": {"name": str(first.pk), "is": [1]}}
    add_question(survey=survey, text="Read this.", type="information", rule=rule)
    manifest = build_manifest(survey=survey, wave_number=1)
    answers: Answers = {"q1": 0, "q2": 0}
    blocks = manifest.blocks
    assert find_asked(manifest, answers, drawn={None, blocks["q1"]}) == {"q1", "t1"}
    assert find_asked(manifest, answers, drawn={None, blocks["q2"]}) == {"q2"}
    assert find_asked(manifest, {"q1": 1, "q2": 0}) == {"q1", "q2"}


def test_the_number_of_draws_does_not_depend_on_answers(manifest: Manifest) -> None:
    base: Answers = {"q1": 0, "q2": 1, "q3": 5, "q4": 0, "q5": 0, "q6": [1], "q7": 3, "q8": 0}
    seen = set()
    for change in ({}, {"q2": 0}, {"q2": None}, {"q3": 30}, {"q5": None}, {"q6": None}, {"q8": 2}):
        draws = 0

        def draw() -> int:
            nonlocal draws
            draws += 1
            return 0  # never redrawn

        report = randomize_answers(manifest, {**base, **change}, random_uint32=draw)
        seen.add((draws, len(report)))
    assert len(seen) == 1


def test_an_answer_that_is_not_offered_is_refused(manifest: Manifest) -> None:
    manifest = replace(manifest, drawn=None)
    complete: Answers = {"q1": 0, "q2": 1, "q3": 5, "q4": 0, "q5": 0, "q6": [], "q7": 3, "q8": 0}
    with pytest.raises(ValueError, match="q4 must be answered"):
        randomize_answers(manifest, {**complete, "q4": None}, random_uint32=lambda: 0)
    with pytest.raises(ValueError, match="takes 2 items, got 3"):
        randomize_answers(manifest, {**complete, "q6": [1, 2, 3]}, random_uint32=lambda: 0)


def test_a_rehearsal_is_a_separate_survey(survey: Survey) -> None:
    wave = open_rehearsal(survey=survey, people=500)
    assert wave.survey_id != survey.pk
    assert (wave.survey.title, wave.cap) == ("Rehearsal of Study", 500)
    assert wave.survey.rehearsal
    assert survey.is_draft()
    assert not survey.rehearsal
    rehearsed = build_manifest(survey=wave.survey, wave_number=1)
    assert rehearsed.questions == build_manifest(survey=survey, wave_number=1).questions


def test_a_protected_survey_is_rehearsed_without_a_closing_date(survey: Survey) -> None:
    """A rehearsal may end after a set number of people, and the releases are tried out in it."""
    Survey.objects.filter(pk=survey.pk).update(
        publication=Publication.PROTECTED, release_epsilon_hundredths=70
    )
    survey.refresh_from_db()
    manifest = open_rehearsal(survey=survey, people=500).description
    assert (manifest.closes, manifest.cap) == (None, 500)
    assert manifest.release_epsilon_hundredths == 70


def test_a_rehearsal_that_cannot_open_leaves_nothing_behind(db: None) -> None:
    owner = User.objects.create_user(email="empty@example.org")
    empty = Survey.objects.create_owned(owner, title="Empty")
    with pytest.raises(NotLaunchable):
        open_rehearsal(survey=empty, people=500)
    assert list(Survey.objects.all()) == [empty]


def test_a_survey_with_a_complete_translation_is_rehearsed(
    survey: Survey, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The title is translated too, although the rehearsal has a different title."""
    german = {source.text: f"{source.text} (deutsch)" for source in list_texts(manifest)}
    save_translation(survey=survey, language="de", texts=german)

    def store(bodies: Sequence[bytes], **_: object) -> None:
        for body in bodies:
            record_report(parse_upload(body))
        count_all(Wave.objects.get())

    monkeypatch.setattr("aggregator.simulation.fielding.send_reports", store)
    output = StringIO()
    call_command("rehearse", survey.slug, people=150, stdout=output)
    assert "150 reports counted" in output.getvalue()
    wave = Wave.objects.get()
    assert read_words(wave.words["de"])["Rehearsal of Study"] == "Study (deutsch)"


def test_the_command_says_what_is_wrong(survey: Survey, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no survey nothing"):
        call_command("rehearse", "nothing")
    with pytest.raises(CommandError, match="--people must be from 150"):
        call_command("rehearse", survey.slug, people=99)
    broken = tmp_path / "answers.json"
    broken.write_text("{")
    with pytest.raises(CommandError, match="is not valid JSON"):
        call_command("rehearse", survey.slug, answers=broken)
    broken.write_text(json.dumps([{"share": 1, "answers": {"q2": 5}}]))
    with pytest.raises(CommandError, match="the codes are"):
        call_command("rehearse", survey.slug, answers=broken)
    assert Survey.objects.count() == 1  # nothing was opened


def test_two_codes_of_one_scale_are_rehearsed_with_the_same_items() -> None:
    pair = draw_pair(random.Random(2), names=("q1", "q2"))
    manifest = make_manifest(*pair)
    groups = read_groups([{"share": 1, "answers": {}}], manifest=manifest)
    [person] = draw_people(groups, manifest=manifest, people=1, seed=1)
    assert person.keys() == {"q1"}
    assert len(randomize_answers(manifest, person)) == 2
    with pytest.raises(RehearsalError, match="both or neither"):
        read_groups([{"share": 1, "answers": {"q1": 1}}], manifest=manifest)
