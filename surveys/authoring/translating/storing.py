"""Stores either all translations in a file that its preview showed, or none."""

from __future__ import annotations

from surveys.authoring.errors import PreviewOutdated
from surveys.authoring.services import changes_draft, lock_draft
from surveys.authoring.translating.reading import FileReading, read_file
from surveys.models import Kind, Survey


@changes_draft(Kind.TRANSLATION)
def store_file(*, survey: Survey, text: str, stamp: str) -> FileReading:
    """Store the translations of a file, as its preview with this stamp showed them.

    Raises PreviewOutdated if the draft or a translation has changed since the preview. A stored
    translation is kept if its cell is empty or if the survey no longer uses its text.
    """
    locked = lock_draft(survey=survey)
    reading = read_file(text, survey=locked)
    if stamp != reading.stamp or not reading.can_save:
        raise PreviewOutdated
    for language, texts in reading.texts.items():
        translation, _ = locked.translations.get_or_create(language=language)
        translation.texts = {**translation.texts, **texts}
        translation.save(update_fields=["texts"])
    return reading
