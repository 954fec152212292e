"""Scores in drafts: what authors may write, what counts as a repeat, and what pages say."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from django.urls import reverse

from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.forms import QUESTION_FORMS
from surveys.authoring.scale_lines import parse_band, parse_item, parse_option
from surveys.authoring.services import add_question, edit_question
from surveys.manifest.languages import list_texts, translate_manifest, write_words
from surveys.manifest.scores import MOST_ITEMS
from surveys.models import Question, Survey
from surveys.models.asked_questions import count_elsewhere
from surveys.planning.question_facts import list_facts
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.question_forms import GOOD
from tests.support.reading import words_of
from tests.support.scores import draw_scale

pytestmark = pytest.mark.django_db
SCALE = GOOD["score"]
# Each row lists the changed fields, the field with the error, and part of the error message.
BAD: list[tuple[dict[str, str], str, str]] = [
    ({"scored_items": "I slept badly"}, "scored_items", "only one item"),
    ({"scored_items": "I slept badly\nI slept badly"}, "scored_items", "same as line 1"),
    ({"scored_items": "I slept badly\nI slept badly | ×2"}, "scored_items", "appears twice"),
    ({"scored_items": "a\nb | backwards"}, "scored_items", "mark “backwards”"),
    ({"scored_items": "a\nb | ×0"}, "scored_items", "mark “×0”"),
    ({"scored_items": "a\nb | ×1.5"}, "scored_items", "mark “×1.5”"),
    ({"scored_items": "a\nb | ×101"}, "scored_items", "mark “×101”"),
    ({"scored_items": "a\n| reversed"}, "scored_items", "no text before"),
    ({"scored_items": "\n".join(f"Item {n}x" for n in range(31))}, "scored_items", "are 31 items"),
    ({"scored_options": "0 Never"}, "scored_options", "only one answer"),
    ({"scored_options": "Never\n1 Always"}, "scored_options", "does not begin with a whole number"),
    ({"scored_options": "0.5 Never\n1 Always"}, "scored_options", "does not begin"),
    ({"scored_options": "0 Never\n1001 Always"}, "scored_options", "more than 1,000"),
    ({"scored_options": "0 Never\n1 Never"}, "scored_options", "appears twice"),
    ({"scored_options": "2 Never\n2 Always"}, "scored_options", "All answers count the same"),
    ({"output": "items"}, "output", "Choose what is sent"),
    ({"options": ""}, "options", "at least 2 bands"),
    ({"options": "0–12 All"}, "options", "only one band"),
    ({"options": "0–4 Low\n6–12 High"}, "options", "No band has the total 5"),
    ({"options": "0–4 Low\n4–12 High"}, "options", "must begin at 5"),
    ({"options": "1–4 Low\n5–12 High"}, "options", "No band has the total 0"),
    ({"options": "-1–4 Low\n5–12 High"}, "options", "below the lowest total"),
    ({"options": "0–4 Low\n5–11 High"}, "options", "must end at 12"),
    ({"options": "0–4 Low\n5–13 High"}, "options", "must end at 12"),
    ({"options": "4–0 Low\n5–12 High"}, "options", "ends below its beginning"),
    ({"options": "Low\nHigh"}, "options", "does not begin with totals"),
    ({"output": "cut_off"}, "cut_off", "from 1 to 12"),
    ({"output": "cut_off", "cut_off": "0"}, "cut_off", "from 1 to 12"),
    ({"output": "cut_off", "cut_off": "13"}, "cut_off", "from 1 to 12"),
    ({"output": "cut_off", "cut_off": "5.5"}, "cut_off", "whole number"),
]


@pytest.mark.parametrize(("typed", "field", "words"), BAD)
def test_what_makes_no_score_is_refused_where_it_is_typed(
    typed: dict[str, str], field: str, words: str
) -> None:
    form = QUESTION_FORMS["score"](SCALE | typed)
    assert words in " ".join(map(str, form.errors[field]))
    assert list(form.errors) == [field]


def test_answers_without_any_number_count_from_zero() -> None:
    lines = {"scored_options": "Never\n\nOften", "output": "total"}
    form = QUESTION_FORMS["score"](SCALE | lines)
    assert form.is_valid()
    assert form.cleaned_data["scored_options"] == ["0 Never", "1 Often"]
    assert form["scored_options"].value() == "0 Never\n\n1 Often"
    assert not QUESTION_FORMS["score"](SCALE | lines | {"scored_options": "Never\n5–9"}).is_valid()


def test_totals_that_are_too_far_apart_are_refused() -> None:
    items = "\n".join(f"Item {number}x | ×100" for number in range(MOST_ITEMS))
    wide = {"scored_items": items, "scored_options": "-1000 No\n1000 Yes", "output": "total"}
    assert "too far apart" in str(QUESTION_FORMS["score"](SCALE | wide).errors["scored_options"])


def test_a_band_that_no_answers_reach_is_refused() -> None:
    gaps = {
        "scored_items": "a\nb",
        "scored_options": "0 No\n5 Yes",
        "options": "0 a\n1–4 b\n5–10 c",
    }
    assert "no answers add up to" in str(QUESTION_FORMS["score"](SCALE | gaps).errors["options"])


def test_lines_are_read_as_people_write_them() -> None:
    item = parse_item("I felt calm |REVERSED| x3")
    assert (item.text, item.weight, item.reversed) == ("I felt calm", 3, True)
    assert parse_option("\N{MINUS SIGN}2: Not at all").value == -2
    assert [parse_option(one).text for one in ("1 a", "1. a", "1) a", "1=a")] == ["a"] * 4
    bands = [parse_band(one) for one in ("-3–-1 a", "0 to 4: b", "5", "6—7")]
    assert [(one.low, one.high) for one in bands] == [(-3, -1), (0, 4), (5, 5), (6, 7)]


def test_fields_that_the_output_does_not_need_are_dropped() -> None:
    form = QUESTION_FORMS["score"](SCALE | {"output": "cut_off", "cut_off": "6"})
    assert form.is_valid()
    assert form.content()["options"] == []
    form = QUESTION_FORMS["score"](SCALE | {"cut_off": "6"})
    assert form.is_valid()
    assert form.content()["cut_off"] is None


def add(survey: Survey, **content: Any) -> Question:
    usual: dict[str, Any] = {
        "type": "score",
        "text": "Lately …",
        "flips": 25,
        "scored_items": ["I slept badly", "I felt calm | reversed"],
        "scored_options": ["0 Never", "3 Always"],
        "output": "total",
    }
    return add_question(survey=survey, **usual | content)


REPEATS: list[dict[str, Any]] = [
    {"text": "Again …", "scored_items": ["1. i slept badly!", "I ate well"]},
    {"scored_items": ["I slept badly", "I ate well"], "scored_options": ["0 No", "1 Yes"]},
    {
        "type": "yes_no",
        "text": "I slept badly",
        "scored_items": [],
        "scored_options": [],
        "output": "",
    },
]


@pytest.mark.parametrize("again", REPEATS)
def test_the_same_item_elsewhere_in_the_survey_is_a_repeat_until_it_is_marked(
    again: dict[str, Any],
) -> None:
    survey = make_survey(questions=())
    first = add(survey)
    second = add(survey, **again)
    with pytest.raises(NotLaunchable, match="Question 2 asks the same as question 1"):
        open_survey(survey=survey)
    edit_question(question=second, same_fact=first.pk)
    wave = open_survey(survey=survey)
    one, other = wave.description.questions
    both = wave.description.statement_epsilon(one)
    assert both == wave.description.statement_epsilon(other)
    assert both == pytest.approx(one.epsilon + other.epsilon)


def test_items_count_in_other_surveys_of_the_same_people() -> None:
    first = make_survey(questions=())
    add(first)
    open_survey(survey=first)
    for number, (again, expected) in enumerate(
        [
            ({"scored_items": ["I slept badly", "I ate well"]}, 1),
            (
                {
                    "scored_items": ["I ate well", "I felt calm"],
                    "scored_options": ["0 No", "1 Yes"],
                },
                1,
            ),
            ({"scored_items": ["I ate well", "I felt well"]}, 0),
        ]
    ):
        other = make_survey(owner=first.owner, questions=())
        add(other, text=f"Survey {number}", **again)
        manifest = build_manifest(survey=other, wave_number=1)
        assert count_elsewhere(manifest=manifest, survey=other.pk) == expected


def test_items_and_their_answers_are_translated() -> None:
    survey = make_survey(questions=())
    add(survey, output="bands", options=["0–3 Low", "4–6 High"])
    manifest = build_manifest(survey=survey, wave_number=1)
    own = {one.text: f"{one.text} (fr)" for one in list_texts(manifest)}
    expected = {"I slept badly", "I felt calm", "Never", "Always", "0–3 Low", "Lately …"}
    assert expected <= own.keys()
    survey.translations.create(language="fr", texts=own)
    survey = Survey.objects.get(pk=survey.pk)
    manifest = build_manifest(survey=survey, wave_number=1)
    words = write_words(manifest, texts=own)
    [question] = translate_manifest(manifest, "fr", words).questions
    assert question.score is not None
    assert [one.text for one in question.score.items] == ["I slept badly (fr)", "I felt calm (fr)"]
    assert [one.text for one in question.score.options] == ["Never (fr)", "Always (fr)"]


@pytest.mark.parametrize("in_editor", [False, True])
def test_bands_that_a_new_range_breaks_are_fitted_by_saving_again(in_editor: bool) -> None:
    survey = make_survey(questions=())
    bands = ["0–2 Low", "3 Middle", "4–6 High"]
    scale = add(survey, scored_items=["a", "b"], output="bands", options=bands)
    for items, fitted in (
        ("a\nb\nc", ["0–2 Low", "3 Middle", "4–9 High"]),
        ("a\nb | ×2\nc", ["0–2 Low", "3 Middle", "4–12 High"]),
        ("a\nb", ["0–2 Low", "3 Middle", "4–6 High"]),
    ):
        typed = SCALE | {
            "scored_items": items,
            "scored_options": "\n".join(scale.scored_options),
            "options": "\n".join(scale.options),
        }
        given: dict[str, Any] = {"questions": [scale], "question": scale, "in_editor": in_editor}
        form = QUESTION_FORMS["score"](typed, **given)
        assert form.is_valid() == (fitted == scale.options)
        if fitted == scale.options:
            continue
        [told] = form.errors["options"]
        assert f"“{scale.options[-1]}”" in told
        assert f"“{fitted[-1]}”" in told
        assert form["options"].value().splitlines() == (scale.options if in_editor else fitted)
        again = QUESTION_FORMS["score"](typed | {"options": "\n".join(fitted)}, **given)
        assert again.is_valid()
        edit_question(question=scale, **again.content())
    typed["options"] = "0–2 Low\n3–5 High"  # the author is changing the bands
    assert "The last band must end" in str(QUESTION_FORMS["score"](typed, **given).errors)


def test_rules_read_bands_and_cut_offs_but_no_total() -> None:
    survey = make_survey(questions=())
    banded = add(survey, output="bands", options=["0–3 Low", "4–6 High"])
    cut = add(survey, scored_items=["a b", "c d"], output="cut_off", cut_off=3)
    total = add(survey, scored_items=["e f", "g h"])
    questions = list(survey.questions.all())
    for text, expected in (
        ("Q1 is 2", {"name": f"{banded.pk}", "is": [1]}),
        ("Q2 is yes", {"name": f"{cut.pk}", "is": [1]}),
        ("Q3 is 1", None),
    ):
        form = QUESTION_FORMS["yes_no"](GOOD["yes_no"] | {"rule": text}, questions=questions)
        assert form.is_valid() == (expected is not None), total
        if expected is not None:
            assert form.cleaned_data["rule"] == expected


def test_authors_read_what_they_give_up_and_gain() -> None:
    survey = make_survey(questions=())
    add(survey)
    add(survey, scored_items=["a b", "c d"], output="bands", options=["0–3 Low", "4–6 High"])
    total, banded = list_facts(build_manifest(survey=survey, wave_number=1))
    assert total.cost is not None
    assert banded.cost is not None
    assert any("You give up results for single items" in line for line in total.cost.lines)
    assert any("Nobody can change the limits" in line for line in banded.cost.lines)
    # With half the ε for each, (e**ε + 1) / (e**ε - 1) is 3.73 instead of 2; two items are
    # averaged.
    [gain] = [line for line in total.cost.lines if "Asked one by one" in line]
    apart, one = (
        int(word.replace(",", "")) for word in gain.split() if word[0].isdigit() and len(word) > 2
    )
    assert apart / one == pytest.approx(1.74, abs=0.01)


@pytest.mark.usefixtures("static_files")
def test_random_scales_are_shown_and_edited() -> None:
    random = Random(75)
    survey = make_survey(questions=())
    author = sign_in(survey.owner)
    for number in range(6):
        content = draw_scale(random)
        items = [f"In {number} cases {item}" for item in content["scored_items"]]
        add(survey, **content | {"text": f"Scale {number}", "scored_items": items})
    first = survey.questions.first()
    assert first is not None
    for name, args in (("questions", []), ("question_edit", [first.pk]), ("launch", [])):
        response = author.get(reverse(f"surveys:{name}", args=[survey.slug, *args]))
        assert response.status_code == 200
        assert "Scale 0" in response.text or name == "launch"
    page = author.get(reverse("surveys:question_edit", args=[survey.slug, first.pk]))
    assert first.scored_items[0].split(" |")[0] in words_of(page)
