"""Two programs and a page change one draft at the same time on PostgreSQL; only one succeeds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from scripts.attacks.linker.server import Server, django_on
from surveys.authoring.errors import Overtaken
from surveys.authoring.services import edit_question
from surveys.authoring.stamps import stamp_question
from surveys.definition.exporting import export_definition
from surveys.definition.parsing import parse_definition
from surveys.definition.replacing import hash_definition, replace_draft
from surveys.models import HistoryRow, Kind, Question, Survey, Verb
from tests.support.factories import make_survey

pytestmark = pytest.mark.django_db(transaction=True)


def run_at_once(url: str, acts: list[Callable[[], object]]) -> list[object]:
    """Run all acts at the same moment, and return the result of each, or None if it is refused."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        with django_on(url):
            barrier.wait()
            try:
                return act()
            except Overtaken:
                return None

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_one_of_those_who_read_the_same_version_saves(postgres_server: Server) -> None:
    url = postgres_server.application_url
    with django_on(url):
        survey = make_survey()
        [question, _] = survey.questions.all()
        content = export_definition(survey)
        stamp = stamp_question(question)
    read = [hash_definition(content)]

    def replace(number: int) -> object:
        changed = content.replace(question.text.encode(), f"Program {number} {read[0]}?".encode())
        own = Survey.objects.get(pk=survey.pk)
        return replace_draft(survey=own, definition=parse_definition(changed), read=read)

    def edit() -> object:
        own = Question.objects.get(pk=question.pk)
        return edit_question(question=own, stamp=stamp, text=f"Page {stamp}?") or "edited"

    for _ in range(3):
        done = run_at_once(url, [partial(replace, 1), edit, partial(replace, 2)])
        assert sum(one is not None for one in done) == 1
        with django_on(url):
            question.refresh_from_db()
            rows = HistoryRow.objects.filter(slug=survey.slug, verb=Verb.CHANGED)
            kind = Kind.QUESTIONS if question.text.startswith("Page") else Kind.DEFINITION
            assert rows.latest("number").kind == kind
            content = export_definition(Survey.objects.get(pk=survey.pk))
            read, stamp = [hash_definition(content)], stamp_question(question)
