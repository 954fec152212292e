"""From an upload to a draft: the pages, the worker, and the stored data."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from aggregator import tasks
from aggregator.upkeep.broker import find_queue
from aggregator.upkeep.due import WorkKind, find_due_work
from surveys.exchange import jobs
from surveys.exchange.jobs import (
    KEPT_PER_ACCOUNT,
    create_from,
    forget_imports,
    read_upload,
    store_upload,
)
from surveys.exchange.reading.files import Unreadable
from surveys.exchange.reading.reader import read_questionnaire
from surveys.leases import MAX_ATTEMPTS
from surveys.models import HistoryRow, Import, Survey, Verb
from surveys.models.imports import KEPT
from tests.support.factories import make_user, open_survey
from tests.support.fielding import at, sign_in
from tests.support.questionnaires import (
    DICTIONARY,
    XLSFORM,
    with_cell,
    write_csv,
    write_workbook,
)
from tests.support.reading import text_of, words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
UPLOAD = "/surveys/import"
CONTENT = write_csv(DICTIONARY)
WORDS_OF_OURS = 60
WORDS = (
    *("hide", "break", "borrow", "lose", "forget", "invent", "copy", "burn", "trade", "paint"),
    *("keys", "letters", "money", "tools", "plans", "orders", "bread", "boats", "songs", "maps"),
)
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>\u202e=1+1'


@pytest.fixture(autouse=True)
def child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the file in this process; test_files.py tests the child process."""

    def read(content: bytes, *, name: str) -> dict[str, object]:
        try:
            return {"parsed": read_questionnaire(content, name=name).write()}
        except Unreadable as problem:
            return {"problem": str(problem)}

    monkeypatch.setattr(jobs, "read_in_child", read)


def upload(author: Client, content: bytes = CONTENT, name: str = "study.csv") -> Import:
    answer = author.post(UPLOAD, {"file": SimpleUploadedFile(name, content)})
    assert answer.status_code == 302, text_of(answer)
    return Import.objects.get(slug=answer["Location"].rpartition("/")[2])


def create(found: Import) -> Survey:
    survey = create_from(upload=found)
    assert survey is not None
    return survey


def page_of(found: Import) -> str:
    return reverse("surveys:imported", args=[found.slug])


def test_an_upload_is_read_shown_and_becomes_a_draft_once(author: Client, owner: User) -> None:
    found = upload(author)
    assert find_queue("aggregator.tasks.read_import") != find_queue("aggregator.tasks.seal_wave")
    waiting = author.get(page_of(found))
    assert "Reading" in text_of(waiting)
    assert 'hx-trigger="every 1s"' in waiting.text
    [due] = find_due_work()
    assert (due.kind, due.subject) == (WorkKind.IMPORT, found.pk)
    tasks.read_import(found.pk)
    found.refresh_from_db()
    assert found.content is None
    assert find_due_work() == []
    preview = text_of(author.get(page_of(found)))
    assert not Survey.objects.exists(), "a preview saves nothing"
    assert found.definition is not None
    count = len(found.definition["questions"])
    assert all(f"{title}:" in preview for title in ("Left out", "Changed", "Taken over"))
    first, second = (author.post(page_of(found)) for _ in range(2))
    [survey] = Survey.objects.filter(memberships__account=owner)
    assert first["Location"] == second["Location"] == at("edit", survey)
    assert survey.questions.count() == count
    assert survey.questions.get(name="phq_i1").source_name == "phq_1"
    found.refresh_from_db()
    assert found.definition is None
    assert page_of(found) in author.get(at("edit", survey)).text
    assert "Open the draft" in text_of(author.get(page_of(found)))


def test_items_of_scores_can_stay_single_questions(author: Client) -> None:
    for singly, types in (({}, {"gad": "score"}), ({"singly": "yes"}, {"gad_i1": "choice"})):
        found = upload(author)
        read_upload(import_id=found.pk)
        assert "Create draft without scores" in text_of(author.get(page_of(found)))
        author.post(page_of(found), singly)
        found.refresh_from_db()
        assert found.survey is not None
        asked = list(found.survey.questions.values_list("name", "type"))
        assert types.items() <= dict(asked).items()
        assert ("gad" in dict(asked)) != bool(singly)
        reasons = " ".join(one["reason"] for one in found.outcomes)
        assert ("stay single questions, as chosen" in reasons) == bool(singly)
        author.post(page_of(found), {"singly": "yes"})
        assert list(found.survey.questions.values_list("name", "type")) == asked, "pressed twice"


@pytest.mark.parametrize(
    ("content", "name"), [(b"", "a.csv"), (bytes(2_000_001), "a.xlsx"), (None, "")]
)
def test_an_upload_that_is_no_file_is_refused(
    author: Client, content: bytes | None, name: str
) -> None:
    data = {} if content is None else {"file": SimpleUploadedFile(name, content)}
    answer = author.post(UPLOAD, data)
    assert answer.status_code == 422
    assert "There is a problem" in text_of(answer)
    assert not Import.objects.exists()


@pytest.mark.parametrize("content", [b"hello", write_csv(DICTIONARY[:3])])
def test_a_file_without_questions_says_why(author: Client, content: bytes) -> None:
    found = upload(author, content)
    read_upload(import_id=found.pk)
    found.refresh_from_db()
    assert (found.state, found.content) == (Import.State.FAILED, None)
    page = text_of(author.get(page_of(found)))
    assert found.problem in words_of(author.get(page_of(found)))
    assert "Create the draft" not in page
    assert author.post(page_of(found))["Location"] == UPLOAD
    assert not Survey.objects.exists()


def test_no_page_has_more_than_sixty_words_of_ours(author: Client) -> None:
    found = upload(author)
    addresses = [UPLOAD, page_of(found)]
    for _ in range(2):
        for address in addresses:
            page = author.get(address).text
            main = page[page.index('<main id="main"') : page.index("</main>")]
            main = re.sub(r"<li.*?</li>", "", main, flags=re.DOTALL)
            words = re.sub(r"<[^>]+>", " ", main).split()
            assert len(words) <= WORDS_OF_OURS, words
        read_upload(import_id=found.pk)


def test_a_killed_worker_or_a_fault_only_delays(
    author: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = upload(author)
    assert jobs.QUEUE.claim(Import.objects.filter(pk=found.pk)), "and the worker is killed"
    assert not read_upload(import_id=found.pk), "another one has it"
    Import.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert [due.subject for due in find_due_work()] == [found.pk]
    with monkeypatch.context() as broken:
        broken.setattr(jobs, "draft", lambda *_: 1 / 0)
        read_upload(import_id=found.pk)
    found.refresh_from_db()
    assert (found.state, found.content is None) == (Import.State.WAITING, False)
    Import.objects.update(leased_until=None)
    assert read_upload(import_id=found.pk)
    found.refresh_from_db()
    assert found.state == Import.State.DONE


def test_what_keeps_failing_is_given_up(author: Client) -> None:
    found = upload(author)
    Import.objects.update(attempts=MAX_ATTEMPTS)
    read_upload(import_id=found.pk)
    found.refresh_from_db()
    assert (found.state, found.problem, found.content) == ("failed", jobs.GAVE_UP, None)


def test_two_imports_at_once_are_two_drafts(owner: User) -> None:
    other = make_user("other@example.org")
    uploads = [store_upload(owner=one, name="a.csv", content=CONTENT) for one in (owner, other)]
    for one in reversed(uploads):
        read_upload(import_id=one.pk)
    drafts = [create_from(upload=one) for one in uploads]
    assert [draft.owner for draft in drafts if draft] == [owner, other]
    assert [row.verb for row in HistoryRow.objects.all()] == [Verb.CREATED] * 2
    assert sign_in(other).get(page_of(uploads[0])).status_code == 404
    assert sign_in(other).post(page_of(uploads[0])).status_code == 404


@pytest.mark.parametrize(
    ("prepare", "stays"),
    [
        (lambda found: None, True),
        (lambda found: Import.objects.update(uploaded_at=timezone.now() - KEPT * 1.1), False),
        (lambda found: Import.objects.update(uploaded_at=timezone.now() + KEPT * 1.1), False),
        (lambda found: create_from(upload=found), True),
        (lambda found: open_survey(survey=create(found)), False),
        (lambda found: create(found).delete(), False),
    ],
)
def test_imports_are_kept_for_an_hour_or_as_long_as_the_draft(
    owner: User, prepare: Callable[[Import], object], stays: bool
) -> None:
    rows = [*DICTIONARY[:1], *DICTIONARY[4:5]]
    found = store_upload(owner=owner, name="a.csv", content=write_csv(rows))
    read_upload(import_id=found.pk)
    prepare(found)
    forget_imports()
    assert Import.objects.exists() is stays


def test_a_draft_keeps_its_lists_after_the_hour(owner: User) -> None:
    found = store_upload(owner=owner, name="a.csv", content=CONTENT)
    read_upload(import_id=found.pk)
    create_from(upload=found)
    Import.objects.update(uploaded_at=timezone.now() - 2 * KEPT)
    forget_imports()
    assert Import.objects.get().outcomes


def test_an_account_has_few_uploads(owner: User) -> None:
    for _ in range(KEPT_PER_ACCOUNT + 2):
        last = store_upload(owner=owner, name="a.csv", content=b"x")
    assert Import.objects.count() == KEPT_PER_ACCOUNT
    assert Import.objects.filter(pk=last.pk).exists()


def test_hostile_cells_and_names_are_shown_as_texts(author: Client) -> None:
    sheets = XLSFORM
    for sheet, row, column in (
        *(("survey", 8, place) for place in (1, 2, 3, 4, 5)),
        *(("survey", 3, place) for place in (0, 1, 2)),
        *(("choices", 4, place) for place in (1, 2, 3)),
        ("settings", 1, 0),
    ):
        sheets = with_cell(sheets, sheet, row, column, f"{HOSTILE}{row}{column}")
    found = upload(author, write_workbook(sheets), name=f"{HOSTILE[:20]}.xlsx")
    read_upload(import_id=found.pk)
    pages = [author.get(page_of(found))]
    survey = create(found)
    pages += [author.get(at(name, survey)) for name in ("edit", "questions", "preview", "settings")]
    for page in pages:
        assert page.status_code == 200
        for mark in ("<script>alert", "<img src=x", "\u202e"):
            assert mark not in page.text.replace("&lt;", ""), mark


def test_both_formats_can_be_saved_of_a_draft(author: Client, owner: User) -> None:
    found = store_upload(owner=owner, name="a.csv", content=CONTENT)
    read_upload(import_id=found.pk)
    survey = create(found)
    for name, start in (("xlsform", b"PK"), ("redcap", "\ufeffVariable".encode())):
        answer = author.get(at(name, survey))
        assert answer.content.startswith(start)
        assert "attachment" in answer["Content-Disposition"]
        again = upload(author, answer.content, name=name)
        read_upload(import_id=again.pk)
        copy = create(again)
        texts = [list(one.questions.values_list("text", flat=True)) for one in (survey, copy)]
        assert texts[0] == texts[1]


def test_forty_imported_items_open_in_three_presses_after_the_first_warning(
    author: Client, owner: User
) -> None:
    lists = [["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "No"]]
    words = [" ".join(Random(at).sample(WORDS, 6)) for at in range(40)]
    rows = [["select_one yn", f"item{at}", f"Did you {words[at]}?"] for at in range(40)]
    content = write_workbook({"survey": [["type", "name", "label"], *rows], "choices": lists})
    found = upload(author, content, "forty.xlsx")
    read_upload(import_id=found.pk)
    author.post(page_of(found))
    survey = Survey.objects.get(memberships__account=owner)
    warning = author.get(at("questions", survey))
    assert "the survey cannot be opened." in words_of(warning)
    [(address, body), *_] = re.findall(
        r'<form[^>]* action="([^"]+/budget)">(.*?)</form>', warning.text, re.DOTALL
    )
    sent = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', body))
    author.post(address, sent)  # one
    launch = author.get(at("launch", survey))  # two
    assert "acknowledge_" not in launch.text
    [manifest] = re.findall(r'name="manifest" value="(\w+)"', launch.text)
    assert author.post(at("launch", survey), {"manifest": manifest}).status_code == 302  # three
    assert not survey.is_draft()
