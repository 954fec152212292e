"""How many bytes a visit sends over the network in each of the six languages."""

from __future__ import annotations

import pytest

from surveys.respondent.client_files import (
    ENTRY,
    ICON,
    RANDOMIZER,
    STYLESHEET,
    client_files,
    squeeze,
)
from surveys.respondent.page import render_questions
from tests.support.six_languages import HAPPENED, make_survey_in_six_languages

REPORT = 164  # bytes of ten codes


@pytest.mark.slow
@pytest.mark.django_db
def test_one_visit_takes_at_most_20_kilobytes_in_any_of_six_languages() -> None:
    wave = make_survey_in_six_languages()
    content, files = bytes(wave.manifest), client_files()
    fixed = [files[name] for name in (ENTRY, RANDOMIZER, STYLESHEET, ICON)]
    for language in HAPPENED:
        words = wave.words.get(language, "")
        page = render_questions("open", content=content, language=language, words=words)
        weight = sum(len(file.compressed) for file in fixed)
        weight += len(squeeze(content)) + len(squeeze(page)) + REPORT
        print(f"{language}: {weight:,} bytes")
        assert 15_000 < weight <= 20_000
