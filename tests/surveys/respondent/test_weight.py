"""How many bytes a visit sends over the network in each of the six languages."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from surveys.authoring.services import add_question
from surveys.manifest.manifest import Publication
from surveys.models import Wave
from surveys.models.stored_texts import squeeze
from surveys.respondent.client_files import (
    ICON,
    RANDOMIZER,
    client_files,
    page_script,
    page_style,
)
from surveys.respondent.page import render_questions
from surveys.respondent.parts import choose_parts
from tests.support.browser.every_type import make_branching_survey
from tests.support.factories import make_survey, open_survey
from tests.support.six_languages import HAPPENED, make_survey_in_six_languages

pytestmark = pytest.mark.django_db
REPORT = 164  # the bytes of a report with ten codes, the most in these tests


def weigh(wave: Wave, language: str) -> int:
    content, words = bytes(wave.manifest), wave.words.get(language, "")
    page = render_questions("open", content=content, language=language, words=words)
    parts = choose_parts(wave.description, mode="open")
    fixed = [client_files()[name] for name in (RANDOMIZER, ICON)]
    files = [file.content for file in (page_script(parts), page_style(parts), *fixed)]
    weight = sum(len(squeeze(loaded)) for loaded in (*files, content, page)) + REPORT
    print(f"{language}: {weight:,} bytes")
    return weight


@pytest.mark.parametrize("publication", Publication)
def test_one_visit_takes_at_most_20_kibibytes_in_any_of_six_languages(
    publication: Publication,
) -> None:
    wave = make_survey_in_six_languages(publication=publication)
    assert max(weigh(wave, language) for language in HAPPENED) <= 20_480


# Bytes of ten yes/no questions, to which the parts for other surveys may not add. This is the
# median of 40 surveys and 40 more, because identifiers and hashes are random and compress
# differently.
TEN = {"en": 18_463, "es": 18_788, "fr": 18_898, "de": 18_834, "ar": 19_028, "zh-hans": 18_933}


def test_a_scale_takes_at_most_1780_bytes_of_a_visit_and_other_surveys_none() -> None:
    """There are ten yes/no questions; then, a scale replaces one of them."""
    with_scale, without = (make_ten(scale=scale) for scale in (True, False))
    with_two = make_ten(scale=True, second=True)
    for language in HAPPENED:
        assert weigh(with_two, language) - weigh(with_scale, language) <= 600
        added = weigh(with_scale, language) - weigh(without, language)
        assert 500 < added <= 1_780
        assert weigh(without, language) <= TEN[language]
        parts = choose_parts(without.description, mode="open")
        assert b"score" not in page_style(parts).content
        assert b"readScores=" not in page_script(parts).content


def make_ten(*, scale: bool, second: bool = False) -> Wave:
    survey = make_survey(questions=[f"Question {number}?" for number in range(9)], language="en")
    content: dict[str, Any] = {"text": "Lately …", "flips": 25}
    if scale:
        items = ["I slept badly", "I felt calm | reversed", "I could not work | ×2"]
        options = ["0 Never", "1 Sometimes", "3 Always"]
        content |= {"type": "score", "scored_items": items, "scored_options": options}
        content |= {"output": "cut_off", "cut_off": 6}
    added = add_question(survey=survey, **content)
    if second:
        more: dict[str, Any] = {"type": "second", "same_fact": added.pk, "output": "total"}
        add_question(survey=survey, text="Total", flips=25, **more)
    return open_survey(survey=survey)


WHO_AND_WHY = {
    "notice_url": "https://example.org/privacy",
    "approval": "EK 2026/114",
    "delete_on": date(2027, 3, 31),
}


@pytest.mark.parametrize("language", HAPPENED)
def test_who_asks_and_why_takes_at_most_220_bytes_of_a_visit(language: str) -> None:
    without, told = (
        weigh(make_survey_in_six_languages(**more), language) for more in ({}, WHO_AND_WHY)
    )
    assert 0 < told - without <= 220  # about 180; hashes are random, so the compressed sizes differ


@pytest.mark.parametrize("language", HAPPENED)
def test_eight_questions_of_all_types_take_at_most_24_kilobytes(language: str) -> None:
    """The survey has rules, refusals, an age to confirm, consent, contacts, help and quick exit."""
    wave = make_branching_survey(
        language=language,
        organization="St Anna hospitals",
        contact="health@example.org",
        help_name="Staff health unit",
        help_phone="0800 555 0123",
        help_url="https://example.org/help",
        consent="We ask about your last move. You may stop at any time.",
        minimum_age=18,
        quick_exit=True,
        publication=Publication.EXACT,
    )
    assert weigh(wave, language) <= 24_000
