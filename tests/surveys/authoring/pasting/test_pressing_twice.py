"""The button that creates pasted questions is pressed twice at the same moment, on PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.attacks.linker.server import Server, django_on
from surveys.authoring.errors import PreviewOutdated
from surveys.authoring.pasting.creating import create_pasted
from surveys.authoring.pasting.reading import read_paste
from tests.support.factories import make_survey

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "A?\nB?\n- x\n- y"


def test_one_of_them_creates_the_questions(postgres_server: Server) -> None:
    url = postgres_server.application_url
    with django_on(url):
        survey = make_survey(questions=[])
        stamp = read_paste(TEXT, survey=survey).stamp

    def press(_: int) -> int:
        with django_on(url):
            try:
                return len(create_pasted(survey=survey, text=TEXT, stamp=stamp))
            except PreviewOutdated:
                return 0

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(press, range(4))) == [0, 0, 0, 2]
    with django_on(url):
        assert [question.position for question in survey.questions.all()] == [1, 2]
