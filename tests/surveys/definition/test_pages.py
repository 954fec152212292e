"""The pages and the command that save, import and compare definitions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from surveys.authoring.services import add_question, edit_question
from surveys.definition.comparing import list_changes
from surveys.definition.exporting import build_definition, export_definition
from surveys.definition.forms import MOST_KILOBYTES
from surveys.models import HistoryRow, Survey, Verb
from tests.support.factories import make_survey, make_user, open_survey
from tests.support.fielding import at
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
IMPORT = "/surveys/import/definition"
WORDS_OF_OURS = 60
HOSTILE = "</textarea><script>alert(1)</script><img src=x onerror=alert(1)>\u200f\u200e"


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner)


def exported(survey: Survey) -> str:
    return export_definition(Survey.objects.get(pk=survey.pk)).decode()


def preview(author: Client, text: str) -> dict[str, str]:
    """Return what the form on the preview page would send."""
    answer = author.post(IMPORT, {"text": text})
    assert answer.status_code == 200, words_of(answer)
    found = re.search(r'name="stamp" value="(\w+)"', answer.text)
    assert found is not None
    return {"text": text, "stamp": found[1], "create": "1"}


def test_a_file_that_was_saved_becomes_one_draft_however_often_one_presses(
    author: Client, survey: Survey
) -> None:
    open_survey(survey=survey)
    saved = author.get(at("definition", survey))
    assert saved["Content-Disposition"] == f'attachment; filename="{survey.slug}.json"'
    assert saved.text == exported(survey)
    shown = author.post(IMPORT, {"file": SimpleUploadedFile("a.json", saved.content)})
    assert "Create a draft with 2 questions" in words_of(shown)
    sent = preview(author, saved.text)
    assert Survey.objects.count() == 1, "a preview stores nothing"
    first, second = (author.post(IMPORT, sent) for _ in range(2))
    copy = Survey.objects.latest("pk")
    assert first["Location"] == at("edit", copy)
    assert second.status_code == 422
    assert "If you pressed the button twice, the draft is among your surveys" in words_of(second)
    assert Survey.objects.count() == 2
    assert exported(copy) == saved.text
    assert copy.is_draft()
    assert [row.verb for row in HistoryRow.objects.filter(slug=copy.slug)] == [Verb.CREATED]


def test_another_account_may_import_at_the_same_time(author: Client, survey: Survey) -> None:
    sent = preview(author, exported(survey))
    Survey.objects.create_owned(make_user(), title="Of another account")
    assert author.post(IMPORT, sent).status_code == 302


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({}, "Choose a file or paste its text."),
        ({"text": "{"}, "This is not JSON: Expecting property name"),
        ({"text": "x" * (1000 * MOST_KILOBYTES + 1)}, "larger than 900 kB"),
        ({"file": SimpleUploadedFile("a", b"")}, "The file is empty"),
        ({"file": SimpleUploadedFile("a", b"\xff")}, "is not UTF-8"),
        ({"file": SimpleUploadedFile("a", b"{}"), "text": "{}"}, "not both"),
    ],
)
def test_what_cannot_be_read_is_said(author: Client, sent: dict[str, Any], told: str) -> None:
    answer = author.post(IMPORT, sent)
    assert answer.status_code == 422
    assert told in words_of(answer)


def test_problems_are_listed_with_their_places_and_nothing_typed_is_lost(author: Client) -> None:
    found = {"format": "murmur-definition", "version": 1, "title": HOSTILE, "questions": [1]}
    answer = author.post(IMPORT, {"text": json.dumps(found), "create": "1", "stamp": "x"})
    assert answer.status_code == 422
    assert "/questions/0" in words_of(answer)
    assert json.dumps(found) in words_of(answer)
    assert not Survey.objects.exists()


def test_markup_stays_text(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, title=HOSTILE, questions=[HOSTILE])
    other = make_survey(owner=owner, title=f"{HOSTILE}!", questions=["Other?"])
    text = exported(survey)
    for answer in (
        author.post(IMPORT, {"text": text}),
        author.post(IMPORT, {"text": text.replace("flips", HOSTILE)}),
        author.post(at("definition_compare", survey), {"other": other.slug}),
        author.post(at("definition_compare", other), {"text": text}),
    ):
        assert "alert(1)" in answer.text
        assert not re.search(r"<script>alert|<img src=x", answer.text)


def test_no_page_has_many_words_of_ours(author: Client, survey: Survey) -> None:
    text = exported(survey)
    for answer in (
        author.get(IMPORT),
        author.post(IMPORT, {"text": text}),
        author.get(at("definition_compare", survey)),
    ):
        own = answer.text.partition("<h1>")[2].partition("</main>")[0]
        own = re.sub(r"(?s)<(textarea|select|li).*?</\1>|<[^>]+>", " ", own)
        assert len(re.findall(r"\w+", own)) <= WORDS_OF_OURS, own


def test_what_differs_is_shown_by_unit(author: Client, survey: Survey) -> None:
    text = exported(survey)
    [first, second] = survey.questions.all()
    edit_question(question=first, flips=33)
    add_question(survey=survey, type="scale", text="How often?", minimum=1, maximum=5, flips=25)
    Survey.objects.filter(pk=survey.pk).update(minimum_age=18)
    answer = author.post(at("definition_compare", survey), {"text": text})
    told = words_of(answer)
    for expected in (
        "3 differences",
        f"Changed: Question {first.name} Flips 25 33",
        "Added: Minimum age in years 18",
        "Added: Question often",
    ):
        assert expected in told
    assert f"Question {second.name}" not in told
    same = author.post(at("definition_compare", survey), {"text": exported(survey)})
    assert "The two definitions are the same." in words_of(same)


def test_defaults_and_order_are_told_apart_from_changes() -> None:
    one = {"name": "a", "type": "yes_no", "text": "A?", "flips": 25, "refusal": False}
    two, text = one | {"name": "b"}, {"type": "information", "text": "Read", "flips": 25}
    old = {"title": "T", "settings": {"cap": None}, "questions": [one, two, text]}
    new = {"title": "T", "questions": [two, {**one, "source_name": ""}, text | {"flips": 1}]}
    [moved] = list_changes(old, new)
    assert (moved.kind, moved.values) == (
        "Moved",
        (("", "Question a\nQuestion b\nText: Read", "Question b\nQuestion a\nText: Read"),),
    )


def test_another_owners_survey_cannot_be_compared(author: Client, survey: Survey) -> None:
    answer = author.post(at("definition_compare", survey), {"other": make_survey().slug})
    assert answer.status_code == 422


def test_a_survey_that_was_opened_before_there_were_names_gets_suggested_ones(
    survey: Survey,
) -> None:
    open_survey(survey=survey)
    names = list(survey.questions.values_list("name", flat=True))
    survey.questions.update(name="")
    assert [question["name"] for question in build_definition(survey)["questions"]] == names


def test_one_unit_stands_on_a_line(survey: Survey) -> None:
    lines = exported(survey).split("\n")
    assert lines[-1] == ""
    edit_question(question=survey.questions.all()[0], text="Have you ever?")
    now = exported(survey).split("\n")
    assert sum(one != other for one, other in zip(lines, now, strict=True)) == 1


def test_the_schema_is_public(client: Client) -> None:
    answer = client.get(reverse("surveys:definition_schema"))
    assert answer["Content-Type"] == "application/schema+json"
    assert answer.json()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_command_writes_checks_and_creates(
    survey: Survey, owner: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "survey.json"
    call_command("survey", "export", survey.slug, str(file))
    assert file.read_text() == exported(survey)
    call_command("survey", "validate", str(file))
    call_command("survey", "import", str(file), owner="OWNER@example.org")
    assert exported(Survey.objects.latest("pk")) == exported(survey)
    assert "The definition is valid." in capsys.readouterr().out
    file.write_text(file.read_text().replace("yes_no", "maybe"))
    for action in (["validate", str(file)], ["import", str(file), "--owner", owner.email]):
        with pytest.raises(CommandError, match="/questions/0/type: This must be one of") as error:
            call_command("survey", *action)
        assert error.value.returncode == 1
    assert Survey.objects.count() == 2


@pytest.mark.parametrize(
    "action",
    [
        ["export", "nothing"],
        ["validate", "/nothing/at/all"],
        ["import", "FILE", "--owner", "nobody@example.org"],
    ],
)
def test_the_command_says_what_is_missing(
    action: list[str], survey: Survey, tmp_path: Path
) -> None:
    file = tmp_path / "survey.json"
    file.write_text(exported(survey))
    with pytest.raises(CommandError) as error:
        call_command("survey", *(str(file) if word == "FILE" else word for word in action))
    assert error.value.returncode == 2


def test_a_draft_is_replaced_by_the_file_it_was_compared_with(
    author: Client, survey: Survey
) -> None:
    path, text = at("definition_compare", survey), exported(survey)
    file = SimpleUploadedFile("x.json", text.replace("On the road", "From a file").encode())
    answer = author.post(path, {"file": file})
    sent = {"text": answer.context["form"]["text"].value(), "replace": "1"}
    sent["stamp"] = answer.context["stamp"]
    Survey.objects.filter(pk=survey.pk).update(title="By a colleague")
    answer = author.post(path, sent)
    assert answer.status_code == 422
    assert "The draft has changed since you compared it" in words_of(answer)
    assert "Changed: Title From a file By a colleague" in words_of(answer)
    sent["stamp"] = answer.context["stamp"]
    broken = sent | {"text": sent["text"].replace('"flips": 25', '"flips": 50')}
    assert author.post(path, broken).status_code == 422
    assert author.post(path, sent)["Location"] == at("edit", survey)
    assert exported(survey) == text.replace("On the road", "From a file")
    open_survey(survey=survey)
    assert "stamp" not in author.post(path, {"text": text}).context
    assert author.post(path, sent).status_code == 409
