"""The editor's part for one question, over HTTP: saved once, and never over a newer version."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import SelectionRefused
from surveys.authoring.phone import describe_phone
from surveys.authoring.selection import duplicate_questions
from surveys.authoring.services import add_question
from surveys.models import HistoryRow, Question, Survey
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import at
from tests.support.question_forms import GOOD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
STATIC = Path("surveys/static/surveys")
MOST_BYTES = 40_960  # 40 KiB
IN_EDITOR = {"X-Editor": "1"}
KEY = {"draft_key": "1-2-3"}


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner, questions=("One?", "Two?"))


def new(survey: Survey) -> str:
    return f"{at('question_create', survey)}?type=yes_no"


def send(author: Client, path: str, **fields: Any) -> dict[str, str]:
    """Send a form as the editor does; return the attributes, stamp and page of the reply."""
    page = author.post(path, {"flips": "25", **fields}, headers=IN_EDITOR)
    assert page.status_code == 200, page.status_code
    found = dict(re.findall(r'data-(pk|outcome|problem)="([^"]*)"', page.text))
    stamp = re.search(r'name="stamp" value="([^"]+)"', page.text)
    return {**found, "stamp": stamp[1] if stamp else "", "page": unescape(page.text)}


def test_a_new_question_is_added_once_however_often_it_is_sent(
    author: Client, survey: Survey
) -> None:
    first = send(author, new(survey), text="Three?", **KEY)
    assert first["outcome"] == "saved"
    assert f'id="question-{first["pk"]}"' in first["page"]
    rows = HistoryRow.objects.count()
    again = send(author, new(survey), text="Three?", **KEY)
    assert (again["pk"], again["outcome"]) == (first["pk"], "saved")
    assert HistoryRow.objects.count() == rows
    # If other text has the same key and no stamp of the question, both versions are shown.
    other = send(author, new(survey), text="Three, in another tab?", stamp="0", **KEY)
    assert (other["pk"], other["outcome"]) == (first["pk"], "overtaken")
    assert "Three, in another tab?" in other["page"]
    assert survey.questions.get(pk=first["pk"]).text == "Three?"
    # An invalid key counts as no key.
    for _ in range(2):
        assert send(author, new(survey), text="Four?", draft_key="\0" * 50)["outcome"] == "saved"
    assert survey.questions.filter(draft_key="").count() == 4


def test_only_another_version_is_a_conflict(author: Client, survey: Survey) -> None:
    question = survey.questions.all()[0]
    path = at("question_edit", survey, question.pk)
    opened = author.get(path, headers=IN_EDITOR)
    old = re.search(r'name="stamp" value="([^"]+)"', opened.text)
    assert old is not None
    saved = send(author, path, text="Mine?", stamp=old[1])
    assert send(author, path, text="Mine?", stamp=old[1])["stamp"] == saved["stamp"]
    told = send(author, path, text="Theirs?", stamp=old[1])
    assert told["outcome"] == "overtaken"
    assert told["stamp"].startswith(saved["stamp"])  # with marks for what was typed
    assert told["page"].count('class="phone-tap"') == 2  # the text that people read stays complete
    assert send(author, path, text="Theirs?", stamp=told["stamp"])["outcome"] == "saved"
    unfinished = send(author, path, text=" ", stamp=told["stamp"])
    assert (unfinished["outcome"], unfinished["problem"]) == ("refused", "Enter the question.")
    too_long = send(author, path, text="x" * 2000)
    assert "Shorten it to 1000" in too_long["problem"]
    question.refresh_from_db()
    assert question.text == "Theirs?"


def test_the_editor_stops_when_the_survey_is_opened(author: Client, survey: Survey) -> None:
    path = at("question_edit", survey, survey.questions.all()[0].pk)
    open_survey(survey=survey)
    for method in ("get", "post"):
        page = getattr(author, method)(path, {"text": "Late?"}, headers=IN_EDITOR)
        assert page.status_code == 409
        assert 'role="alert"' in page.text


def test_closed_disclosures_keep_their_values(author: Client, survey: Survey) -> None:
    first = survey.questions.all()[0]
    rule = {"name": str(first.pk), "is": [1]}
    question = add_question(
        survey=survey, text="Q?", flips=40, refusal=True, rule=rule, same_fact=first.pk
    )
    path = at("question_edit", survey, question.pk)
    page = author.get(path, headers=IN_EDITOR).text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    shown = send(author, path, **fields, text="Changed?", name="", shown=["protection", "rule"])
    assert shown["outcome"] == "saved"
    assert 'type="radio" name="flips"' in shown["page"]
    assert 'id="rule_question_1"' in shown["page"]
    before = {name: getattr(question, name) for name in Question.CONTENT}
    question.refresh_from_db()
    after = {name: getattr(question, name) for name in Question.CONTENT}
    assert after == before | {"text": "Changed?", "name": "changed"}


def test_an_unfinished_rule_waits_and_the_preview_stays(author: Client, survey: Survey) -> None:
    parent = survey.questions.all()[0].pk
    chosen = {"text": "Then?", "rule": "", "rule_shown": "", "rule_question": str(parent)}
    told = send(author, new(survey), **chosen, shown="rule")
    assert (told["outcome"], told["problem"]) == ("refused", "")
    assert "Tick at least one answer to Q1" in told["page"]
    assert told["page"].count("phone-tap") == 2
    assert "Privacy used with this question: 60\N{NO-BREAK SPACE}%" in told["page"]
    wrong = send(author, new(survey), **chosen | {"text": " "})
    assert wrong["problem"] == "Enter the question."
    ticked = send(author, new(survey), **chosen, rule_answer=f"0.{parent}.yes")
    assert ticked["outcome"] == "saved"
    assert "Privacy used: 60\N{NO-BREAK SPACE}%" in ticked["page"]


def test_what_most_questions_have_is_set_once_and_said_where_it_differs(
    author: Client, survey: Survey
) -> None:
    odd = add_question(survey=survey, text="Odd?", flips=40, refusal=True)
    page = author.get(at("questions", survey)).text
    assert re.findall(r'<span class="tag">([^<]+)', page)[-2:] == ["40 of 100", "May decline"]
    path = at("question_edit", survey, odd.pk)
    said = "Strength and declining: 40 of 100, people may decline"
    assert said in author.get(path, headers=IN_EDITOR).text
    everything = {"everything": "1", "action": "strength", "flips": "33"}
    assert author.post(at("questions_selected", survey), everything).status_code == 302
    assert set(survey.questions.values_list("flips", flat=True)) == {33}
    added = send(author, new(survey), text="New?", flips=33)
    assert "Strength and declining<" in added["page"]
    assert 'name="flips" value="33"' in author.get(new(survey), headers=IN_EDITOR).text


def test_questions_are_copied_to_the_place_behind_them(author: Client, survey: Survey) -> None:
    first = survey.questions.all()[0]
    add_question(survey=survey, text="If one?", rule={"name": str(first.pk), "is": [1]})
    keys = list(survey.questions.values_list("pk", flat=True))
    sent = {"action": "duplicate", "question": [keys[0], keys[2]]}
    assert author.post(at("questions_selected", survey), sent).status_code == 302
    questions = list(survey.questions.all())
    assert [one.text for one in questions] == ["One?", "One?", "Two?", "If one?", "If one?"]
    assert questions[4].rule == questions[3].rule
    assert len({one.name for one in questions}) == 5
    Question.objects.bulk_create(
        Question(survey=survey, position=number, text="Q?") for number in range(6, 101)
    )
    with pytest.raises(SelectionRefused, match="100 questions at most"):
        duplicate_questions(survey=survey, keys=keys)


def test_the_phone_shows_what_respondents_read(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=(), language="de")
    for type_, fields in GOOD.items():
        path = f"{at('question_create', survey)}?type={type_}"
        assert send(author, path, **{**fields, "refusal": "on"})["outcome"] == "saved", type_
    manifest = build_manifest(survey=survey, wave_number=1)
    found = {
        Question.Type.SCORE if one.score else one.type: describe_phone(
            one, language="de", confirms=False
        )
        for one in manifest.questions
    }
    first = manifest.questions[0]
    assert describe_phone(first, language="de", confirms=True).go_on == "Weiter"
    controls = {str(type_): phone.control for type_, phone in found.items()}
    assert (controls["number"], controls["several"], controls["information"]) == (
        "number",
        "checkbox",
        "",
    )
    tapped = {
        type_ for type_, phone in found.items() if (phone.control, phone.go_on) == ("tap", "")
    }
    assert tapped == {"yes_no", "choice", "scale", "follow_up", "declared"}
    assert found[Question.Type.YES_NO].answers[:2] == ("Ja", "Nein")
    assert len(found[Question.Type.SCALE].answers) > 2
    assert found[Question.Type.FOLLOW_UP].follow_up_answers == ("Ja", "Nein")
    scale = found[Question.Type.SCORE]
    assert (scale.control, scale.items[1], scale.shared) == (
        "radio",
        "I felt calm",
        ("Never", "Sometimes", "Always"),
    )


def test_the_scripts_of_the_page_are_small(author: Client, survey: Survey) -> None:
    page = author.get(at("questions", survey)).text
    loaded = re.findall(r'src="/static/surveys/([\w/]+)\.\w+\.js"', page)
    assert sorted(loaded) == ["editor/editor", "forgetting"]
    assert page.count("<script") == len(loaded)
    names = {
        "forgetting.js",
        *(f"editor/{one}.js" for one in ("editor", "kept", "moving", "saving")),
    }
    assert sum((STATIC / name).stat().st_size for name in names) <= MOST_BYTES
