"""The public page of a protected survey in each of its languages."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.models import ReleaseLedger
from surveys.lifecycle.services import switch_public_results
from surveys.manifest.languages import NAMES, direction, language_tag
from surveys.manifest.manifest import Publication
from surveys.models import StoredText, Survey, Wave
from tests.support.factories import make_survey, open_survey
from tests.support.releases.many_kinds import make_released, translate_all
from tests.support.releases.public import read, read_as_kept, visit
from tests.support.releases.stored import store_table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
OTHERS = tuple(code for code in NAMES if code != "en")
# Names and numbers are the same in every language; some words are the same in French.
SAME = re.compile(r"Murmur|[^a-z]*|UTC|Q\d|Questions? \d\.?|Protection|Publi\xadcation", re.I)


class Front(HTMLParser):
    """The text of a page that readers see, except parts marked as being in another language."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._open: list[bool] = []  # for each open element, whether it is marked
        self._language: str | None = None
        self.texts: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        language = dict(attrs).get("lang") or self._language
        self._language = self._language or language
        if tag not in ("meta", "link", "input", "br"):
            self._open.append(language != self._language or any(self._open[-1:]))
        for name, value in attrs:
            if name == "aria-label":
                self.handle_data(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "link", "input", "br"):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        for text in re.split(r"(?<=[.:?]) ", " ".join(data.split())):
            if text and not any(self._open[-1:]):
                self.texts.add(text)


def in_language(survey: Survey, language: str) -> str:
    return read_as_kept(survey, language=language).decode()


@pytest.fixture
def wave() -> Wave:
    """Make a survey whose page says everything that a page can say, and spend its whole cap."""
    wave = make_released(*OTHERS)
    ledger = ReleaseLedger.objects.get()
    ledger.suspended, ledger.spent_hundredths = "restored", ledger.cap_hundredths
    ledger.delta_spent_nanos = ledger.delta_cap_nanos
    ledger.save()
    return wave


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_in_front_stays_in_english(language: str, wave: Wave) -> None:
    english = Front(in_language(wave.survey, "en")).texts
    assert len(english) > 60
    translated = Front(in_language(wave.survey, language)).texts
    assert {text for text in english & translated if not SAME.fullmatch(text)} == set()
    page = in_language(wave.survey, language)
    assert f'<html lang="{language_tag(language)}" dir="{direction(language)}">' in page
    for words in ("Working at night", "What would help?", "More staff", "not at all"):
        assert f"({language}) {words}" in page


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_stays_in_english_before_the_first_release(language: str) -> None:
    for publication in (Publication.PROTECTED, Publication.EXACT):
        survey = make_survey(publication=publication)
        translate_all(survey, *OTHERS)
        open_survey(survey=survey)
        for off in (False, True):
            switch_public_results(survey=survey, off=off)
            pages = [
                Front(read(survey, language=one, status=410 if off else 200).decode()).texts
                for one in ("en", language)
            ]
            assert {text for text in pages[0] & pages[1] if not SAME.fullmatch(text)} == set()


def test_the_survey_s_own_language_comes_first_and_others_are_one_link_away(wave: Wave) -> None:
    page = visit(wave.survey)
    path = reverse("aggregator:public_results", args=[wave.survey.slug])
    assert '<html lang="en" dir="ltr">' in page
    for code in OTHERS:
        assert f'<a href="{path}?lang={code}" lang="{language_tag(code)}">{NAMES[code]}</a>' in page
    assert page.count("?lang=") == len(OTHERS)
    own = read(wave.survey)
    assert read(wave.survey, language="en") == own
    assert read(wave.survey, language="tlh") == own  # this language is not offered
    response = Client().get(path, headers={"accept-language": "ar"})
    assert response.content == own  # only the URL decides the language


def test_each_language_is_stored_under_a_key_of_its_own(wave: Wave) -> None:
    pages = {language: read_as_kept(wave.survey, language=language) for language in NAMES}
    assert len(set(pages.values())) == len(NAMES)
    stored = StoredText.objects.filter(name__contains=" releases ")
    assert stored.count() == len({bytes(one.key) for one in stored}) == len(NAMES)
    for language, page in pages.items():
        assert read_as_kept(wave.survey, language=language) == page


def test_numbers_and_days_are_written_as_in_the_language() -> None:
    survey = make_survey(publication=Publication.PROTECTED)
    translate_all(survey, *OTHERS)
    wave = open_survey(survey=survey)
    release = store_table(wave, "q1", people=45_000, epsilon=30)
    day = release.public_from
    written = {
        "en": (r"\b4\d,\d{3} ± \d", f"{day.day} {day:%B %Y}"),
        "de": (r"\b4\d\.\d{3} ± \d", f"{day.day}. "),
        "fr": ("\\b4\\d\N{NO-BREAK SPACE}\\d{3} ± \\d", f"publié le {day.day} "),
        "zh-hans": (r"约有 4\d{4} ± \d", f"{day.year}年{day.month}月{day.day}日"),
    }
    for language, (people, date) in written.items():
        page = in_language(survey, language)
        assert re.search(people, page), language
        assert date in page, language


def test_the_pages_of_people_who_tossed_coins_lead_to_each_other_in_one_language() -> None:
    survey = make_survey(publication=Publication.PROTECTED, coins=True)
    translate_all(survey, "ar")
    open_survey(survey=survey)
    browser, coins = (
        reverse(f"aggregator:{name}", args=[survey.slug])
        for name in ("public_results", "public_coin_results")
    )
    assert f'href="{coins}?lang=ar"' in in_language(survey, "ar")
    page = read_as_kept(survey, name="public_coin_results", language="ar").decode()
    assert f'href="{browser}?lang=ar"' in page
    assert f'href="{coins}?lang=en"' in page
    assert '<html lang="ar" dir="rtl">' in page
