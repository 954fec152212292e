"""Create all pasted questions that were shown, or none."""

from __future__ import annotations

from django.db import transaction

from surveys.authoring.errors import PreviewOutdated
from surveys.authoring.pasting.reading import read_paste
from surveys.authoring.services import add_questions, lock_draft
from surveys.models import Question, Survey


@transaction.atomic
def create_pasted(*, survey: Survey, text: str, stamp: str) -> list[Question]:
    """Create the questions of a pasted text, as its preview with this stamp showed them.

    Raises PreviewOutdated if the text would now become different questions, or if the draft's
    questions have changed. Pressing the button twice therefore creates the questions only once.
    """
    locked = lock_draft(survey=survey)
    reading = read_paste(text, survey=locked)
    if stamp != reading.stamp or not reading.contents:
        raise PreviewOutdated
    return add_questions(survey=locked, contents=reading.contents)
