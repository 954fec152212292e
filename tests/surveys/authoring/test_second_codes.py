"""Second codes in drafts: what authors may write, and what moving, copying and deleting do."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import BrokenRules
from surveys.authoring.forms import QUESTION_FORMS
from surveys.authoring.inserting import insert_questions
from surveys.authoring.repeats import find_repeats
from surveys.authoring.selection import (
    delete_questions,
    duplicate_questions,
    move_questions,
    restore_questions,
    set_declining,
)
from surveys.authoring.services import add_question, copy_survey, edit_question
from surveys.authoring.stamps import stamp_insertion
from surveys.comparing.choice import NotComparable, check_two_questions
from surveys.definition.creating import create_draft
from surveys.definition.exporting import build_definition
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Question, Survey
from surveys.planning.question_costs import find_question_cost
from surveys.planning.question_facts import list_facts
from surveys.respondent.label.odds import describe_groups
from tests.support.factories import make_survey
from tests.support.fielding import sign_in
from tests.support.question_forms import COINS, GOOD

pytestmark = pytest.mark.django_db
BANDS = ["0–4 Low", "5–12 High"]


def add_scale(survey: Survey, **content: Any) -> Question:
    """Add a scale with totals from 0 to 12 that sends the total."""
    usual: dict[str, Any] = {
        "type": "score",
        "text": "Lately …",
        "flips": 25,
        "scored_items": GOOD["score"]["scored_items"].splitlines(),
        "scored_options": GOOD["score"]["scored_options"].splitlines(),
        "output": "total",
    }
    return add_question(survey=survey, **usual | content)


def add_second(survey: Survey, scale: Question, **content: Any) -> Question:
    usual: dict[str, Any] = {"output": "bands", "options": BANDS}
    if content.get("output", "bands") != "bands":
        usual = {}
    fixed: dict[str, Any] = {"type": "second", "text": "In bands", "flips": 25}
    return add_question(survey=survey, **fixed | usual | content | {"same_fact": scale.pk})


def list_described(survey: Survey) -> tuple[ManifestQuestion, ...]:
    return build_manifest(survey=Survey.objects.get(pk=survey.pk), wave_number=1).questions


@pytest.fixture
def survey() -> Survey:
    return make_survey(questions=("Is it cold?",))


def test_a_second_code_is_asked_and_declined_as_its_scale_and_counts_as_one_fact(
    survey: Survey,
) -> None:
    cold = survey.questions.get()
    rule = {"name": f"{cold.pk}", "is": [1]}
    scale = add_scale(survey, refusal=True, rule=rule)
    add_second(survey, scale)
    _, first, second = list_described(survey)
    assert (second.rule, second.refusal, second.same_fact) == (first.rule, True, first.name)
    assert second.score is not None
    assert first.score is not None
    assert second.score.items == first.score.items
    typed = {"same_fact": f"{scale.pk}", "output": "bands", "options": "\n".join(BANDS), **COINS}
    unnamed = QUESTION_FORMS["second"](typed, questions=list(survey.questions.all()))
    assert unnamed.guess_codes() == second.k == 4
    manifest = build_manifest(survey=survey, wave_number=1)
    costs = [find_question_cost(manifest, one) for one in (first, second)]
    assert [len(cost.switches) for cost in costs if cost] == [2, 0]
    assert not find_repeats(manifest)
    assert manifest.block_count == 1
    set_declining(survey=survey, keys=[scale.pk], allowed=False)
    assert not any(one.refusal for one in list_described(survey))


def test_the_form_offers_scales_that_come_before_and_checks_their_totals(survey: Survey) -> None:
    scale = add_scale(survey)
    typed = {"text": "In bands", "same_fact": f"{scale.pk}", "output": "bands", **COINS}
    for more, field, words in (
        ({"options": "\n".join(BANDS)}, "", ""),
        ({"options": "0–4 Low\n5–11 High"}, "options", "must end at 12"),
        ({"options": ""}, "options", "at least 2 bands"),
        ({"output": "cut_off", "cut_off": "13"}, "cut_off", "from 1 to 12"),
        ({"output": "total"}, "__all__", "the same kind of code as question 2"),
        ({"same_fact": f"{survey.questions.all()[0].pk}"}, "same_fact", "Choose an earlier scale"),
        ({"same_fact": ""}, "same_fact", "Choose an earlier scale"),
    ):
        form = QUESTION_FORMS["second"](typed | more, questions=list(survey.questions.all()))
        assert form.is_valid() == (not field), form.errors
        assert words in " ".join(map(str, form.errors.get(field, [])))


def test_what_would_break_the_pair_is_refused(survey: Survey) -> None:
    scale = add_scale(survey)
    second = add_second(survey, scale)
    third = {"output": "cut_off", "cut_off": 3}
    edit_question(question=second, output="cut_off", options=[], cut_off=12)
    fewer = scale.scored_items[:-1]
    with pytest.raises(BrokenRules, match="already has a second code"):
        add_second(survey, scale, **third)
    with pytest.raises(BrokenRules, match="would no longer be a scale"):
        add_second(survey, second, **third)
    with pytest.raises(BrokenRules, match="delete question 3 first and add it again"):
        edit_question(question=scale, scored_items=fewer)
    edit_question(question=second, output="bands", options=BANDS, cut_off=None)
    with pytest.raises(BrokenRules, match="delete question 3 first and add it again"):
        edit_question(question=scale, scored_options=["0 No", "1 Yes"])  # a band would be lost
    with pytest.raises(BrokenRules, match="would send the same"):
        edit_question(question=scale, output="bands", options=BANDS)
    with pytest.raises(BrokenRules, match=r"would be gone\. Delete question 3 first"):
        delete_questions(survey=survey, keys=[scale.pk])
    with pytest.raises(BrokenRules, match="must come after it"):
        move_questions(survey=survey, keys=[second.pk], after=None)
    with pytest.raises(BrokenRules, match="already has a second code"):
        duplicate_questions(survey=survey, keys=[second.pk])
    assert len(list_described(survey)) == 3


def test_its_bands_are_fitted_to_new_totals_of_the_scale(survey: Survey) -> None:
    scale = add_scale(survey)
    second = add_second(survey, scale)
    items = scale.scored_items
    told = edit_question(question=scale, scored_items=[*items, "I was late"])
    assert told == "Totals have changed, so question 3 now has “5–15 High”."
    second.refresh_from_db()
    assert second.options == ["0–4 Low", "5–15 High"]
    assert edit_question(question=scale, text="This week …") == ""
    edit_question(question=scale, scored_items=items)
    second.refresh_from_db()
    assert second.options == BANDS


def test_both_questions_are_duplicated_deleted_restored_inserted_and_copied(
    survey: Survey,
) -> None:
    scale = add_scale(survey)
    second = add_second(survey, scale)
    copies = duplicate_questions(survey=survey, keys=[scale.pk, second.pk])
    assert copies[1].same_fact == copies[0].pk
    described = list_described(survey)
    assert [one.score.of for one in described if one.score] == ["", "", "q2", "q3"]
    deletion = delete_questions(survey=survey, keys=[scale.pk, second.pk])
    restore_questions(survey=survey, deletion=deletion, stamp=deletion["stamp"])
    assert list_described(survey) == described
    assert list_described(copy_survey(survey=survey, title="Copy")) == described
    other = make_survey(owner=survey.owner, questions=())
    stamp = stamp_insertion([], source=list(survey.questions.all()))
    insert_questions(survey=other, source=survey, keys=[second.pk], stamp=stamp)
    assert [one.type_name for one in list_described(other)] == [
        "Score of a scale",
        "Second code of a scale",
    ]
    definition = build_definition(Survey.objects.get(pk=survey.pk))
    assert list_described(create_draft(definition, owner=survey.owner)) == described


def test_rules_read_the_second_code(survey: Survey) -> None:
    scale = add_scale(survey)
    second = add_second(survey, scale)
    typed = GOOD["yes_no"] | {"rule": "Q3 is 2"}
    form = QUESTION_FORMS["yes_no"](typed, questions=list(survey.questions.all()))
    assert form.is_valid()
    assert form.cleaned_data["rule"] == {"name": f"{second.pk}", "is": [1]}


def test_the_label_names_both_codes_and_authors_read_that_they_add_up(survey: Survey) -> None:
    scale = add_scale(survey)
    add_second(survey, scale)
    manifest = build_manifest(survey=survey, wave_number=1)
    said = [odds for group in describe_groups(manifest) for odds in group.odds]
    [both] = [odds for odds in said if "q2" in odds.names]
    assert both.names == ("q2", "q3")
    assert both.sentence.startswith(
        "Only your total and which of the 2 bands it is in are scrambled and sent. For the total: "
    )
    facts = list_facts(manifest)[2]
    assert "Second code of the scale Q2." in facts.details
    assert facts.cost is not None
    assert any("both codes" in line for line in facts.cost.lines)


def test_two_codes_of_one_scale_are_not_compared(survey: Survey) -> None:
    scale = add_scale(survey)
    add_second(survey, scale)
    manifest = build_manifest(survey=survey, wave_number=1)
    with pytest.raises(NotComparable, match="two codes of one scale"):
        check_two_questions(manifest=manifest, names=["q2", "q3.1"])
    check_two_questions(manifest=manifest, names=["q1", "q3.1"])


@pytest.mark.usefixtures("static_files")
def test_pages_of_the_draft_show_it(survey: Survey) -> None:
    scale = add_scale(survey)
    second = add_second(survey, scale)
    author = sign_in(survey.owner)
    for name, args in (
        ("questions", []),
        ("question_edit", [second.pk]),
        ("launch", []),
        ("question_create", []),
    ):
        address = reverse(f"surveys:{name}", args=[survey.slug, *args])
        response = author.get(address, {"type": "second"})
        assert response.status_code == 200, name
    response = author.get(reverse("surveys:question_edit", args=[survey.slug, second.pk]))
    assert response.text.count('name="same_fact"') == 1
