"""Translations are complete, keep their placeholders and contain no forbidden words."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation import gettext, ngettext, override, pgettext, to_locale

from scripts.translations.catalogs import (
    FOLDER,
    LOCALES,
    compile_catalog,
    extract_messages,
    mo_path,
    po_path,
    read_catalog,
    sources,
    strings,
    update_catalog,
)
from scripts.translations.checks import find_problems
from tests.support.label import FORBIDDEN as ENGLISH

# These words are forbidden for the same reason as the English words in
# tests/surveys/respondent/test_label.py: people take them for a threat, a trick or a formula.
FORBIDDEN = {
    "es": r"anónim|\bm[ie]+nt(?:ir|e|es|ira|iras|iendo|ió)\b|respuestas? falsas?|\bfals[oa]s?\b"
    r"|\bruidos?\b|épsilon|ε",
    "fr": r"anonym|mensong|\bment(?:ir|ez|ent|i)\b|fausses? réponses?|\bfau(?:x|sses?)\b"
    r"|\bbruit|epsilon|ε",
    "de": r"anonym|\blüg|\bgelogen|falsche[nr]? antwort|gefälscht|\brausch|verrausch|epsilon|ε",
    "ar": r"مجهول|كذب|كاذب|إجابة خاطئة|مزيف|مزوّر|ضوضاء|ضجيج|تشويش|إبسيلون|ε",
    "zh_Hans": r"匿名|谎|虚假|假|噪声|噪音|乱码|ε",
}

# Respondents always read the same word for a thing: device, code, delete, 25 of 100, open until.
OTHER_WORDS = re.compile(r"phone|computer|\breport|\beras|\bodds\b|\bpoints?\b|\bUTC\b")

# The English page of results uses the words of researchers; its translations use the label's.
RESULTS = re.compile(r"(templates/)?aggregator/(publishing|releases|results)/")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "locale"))


def test_the_translations_are_complete() -> None:
    assert find_problems() == []


def test_every_language_but_english_has_a_catalog() -> None:
    assert sorted(LOCALES) == sorted(
        to_locale(language) for language, _name in settings.LANGUAGES if language != "en"
    )


@pytest.mark.parametrize("locale", LOCALES)
def test_no_forbidden_word_is_in_a_translation(locale: str) -> None:
    forbidden = re.compile(FORBIDDEN[locale], re.IGNORECASE)
    texts = [text for message in read_catalog(locale) if message.id for text in strings(message)]
    assert len(texts) > 100
    for text in texts:
        assert forbidden.search(text) is None, text


def list_english() -> list[tuple[str, str]]:
    """Return each English text that respondents read, with the first file that contains it."""
    found = [
        message
        for message in extract_messages()
        if message.id and not all(RESULTS.match(file) for file, _ in message.locations)
    ]
    assert len(found) > 200
    return [(text, message.locations[0][0]) for message in found for text in sources(message)]


def test_no_forbidden_word_is_in_any_english_message_either() -> None:
    for text, _file in list_english():
        assert ENGLISH.search(text) is None, text


def test_english_sentences_are_short_and_call_each_thing_by_one_word() -> None:
    for text, file in list_english():
        for sentence in re.split(r"(?<=[.:?!]) ", text):
            assert len(sentence.split()) <= 20, sentence
        if not file.endswith("poster.html"):  # people who read a poster have a phone
            assert OTHER_WORDS.search(text) is None, text


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("es", "Puede mentir."),
        ("es", "Es una mentira."),
        ("fr", "Une fausse réponse"),
        ("de", "Die Antwort ist gelogen."),
        ("ar", "إجابة خاطئة"),
        ("zh_Hans", "不要说谎"),
    ],
)
def test_forbidden_words_are_found(locale: str, text: str) -> None:
    assert re.search(FORBIDDEN[locale], text, re.IGNORECASE)


@pytest.mark.parametrize(
    ("locale", "text"),
    [("es", "directamente, exactamente, aumente"), ("fr", "Comment ? Un élément, directement")],
)
def test_innocent_words_are_not_forbidden(locale: str, text: str) -> None:
    assert re.search(FORBIDDEN[locale], text, re.IGNORECASE) is None


@pytest.mark.parametrize("language", [name for name, _ in settings.LANGUAGES if name != "en"])
def test_our_words_take_precedence_over_those_of_django_and_its_apps(language: str) -> None:
    """Both may translate "Yes", but people must read our translation, which has been checked."""
    catalog = read_catalog(to_locale(language))
    with override(language):
        for message in catalog:
            if not message.id:
                continue
            if message.pluralizable:
                singular, plural = sources(message)
                for number in (0, 1, 2, 3, 11, 100):
                    assert ngettext(singular, plural, number) in strings(message)
            elif message.context:
                assert pgettext(message.context, str(message.id)) == message.string
            else:
                assert gettext(str(message.id)) == message.string


def test_yes_is_ours_in_arabic() -> None:
    with override("ar"):
        assert gettext("Yes") == "نعم"


def change(
    folder: Path, locale: str, alter: Callable[[str], str], *, compiled: bool = True
) -> None:
    path = po_path(locale, folder)
    before = path.read_text(encoding="utf-8")
    after = alter(before)
    assert after != before
    path.write_text(after, encoding="utf-8")
    if compiled:
        mo_path(locale, folder).write_bytes(compile_catalog(locale, folder))


def translate(source: str, translation: str) -> Callable[[str], str]:
    """Replace the translation of a message, including its plural forms."""

    def alter(text: str) -> str:
        start = re.escape(f'msgid "{source}"\n') + r'(?:msgid_plural ".*"\n)?msgstr(?:\[0\])? '
        return re.sub(f'(?m)^({start})".*"$', lambda match: f'{match[1]}"{translation}"', text)

    return alter


@pytest.mark.parametrize(
    ("alter", "problem"),
    [
        (translate("Mostly yes.", ""), "not translated: “Mostly yes.”"),
        (translate("Sent as it is: %(name)s.", "?"), "the placeholders differ"),
        (translate("%(list)s, %(next)s", "%(list)s, %(name)s"), "the placeholders differ"),
        (translate("%(count)s %% of the range", "%(count)s %"), "a percent sign must be written"),
        (
            translate("about %(count)s minute", ""),
            "a plural form is empty: “about %(count)s minute”",
        ),
        (
            lambda text: text.replace('msgid "Mostly yes."', 'msgid "Mostly no."'),
            "missing: “Mostly yes.”",
        ),
        (
            lambda text: text.replace('msgid "Mostly yes."', 'msgid "Mostly no."'),
            "no longer used: “Mostly no.”",
        ),
        (lambda text: f'{text}\n#~ msgid "Gone"\n#~ msgstr "Weg"\n', "no longer used: “Gone”"),
        (
            lambda text: text.replace('msgid "Mostly yes."', '#, fuzzy\nmsgid "Mostly yes."'),
            "marked as fuzzy: “Mostly yes.”",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_is_reported(copy: Path, alter: Callable[[str], str], problem: str) -> None:
    change(copy, "de", alter)
    found = find_problems(copy)
    assert any(line.startswith(f"de: {problem}") for line in found), found
    assert len(found) <= 2


def test_a_placeholder_for_scripts_must_stay_too(copy: Path) -> None:
    source = next(
        str(message.id) for message in read_catalog("de") if re.search(r"\{\w+\}", str(message.id))
    )
    change(copy, "de", translate(source, "Frage"))
    assert find_problems(copy) == [f"de: the placeholders differ: “{source}”"]


def test_arabic_needs_six_forms_and_may_leave_out_the_number_in_three(copy: Path) -> None:
    def cut(form: int, translation: str) -> Callable[[str], str]:
        start = r'msgid "about %\(count\)s minute"\n(?:msgid_plural|msgstr)(?:.*\n)*?'
        return lambda text: re.sub(
            rf'({start}msgstr\[{form}\] )".*"', rf'\1"{translation}"', text, count=1
        )

    for form in (0, 1, 2):
        change(copy, "ar", cut(form, f"word {form}"))
    assert find_problems(copy) == []
    change(copy, "ar", cut(4, "word"))
    assert find_problems(copy) == ["ar: the placeholders differ: “about %(count)s minute”"]
    change(copy, "ar", cut(4, ""))
    assert find_problems(copy) == ["ar: a plural form is empty: “about %(count)s minute”"]


def test_a_stale_or_missing_mo_file_is_reported(copy: Path) -> None:
    change(copy, "fr", translate("Mostly yes.", "Non"), compiled=False)
    mo_path("es", copy).unlink()
    assert find_problems(copy) == [
        "es: the .mo file does not match the .po file",
        "fr: the .mo file does not match the .po file",
    ]


def test_a_missing_catalog_is_reported_and_written_again(copy: Path) -> None:
    po_path("fr", copy).unlink()
    assert find_problems(copy) == ["fr: there is no .po file"]
    update_catalog("fr", extract_messages(), copy)
    assert "fr: not translated: “Mostly yes.”" in find_problems(copy)


@pytest.mark.parametrize("locale", LOCALES)
def test_updating_what_is_up_to_date_changes_nothing(copy: Path, locale: str) -> None:
    before = po_path(locale).read_bytes()
    update_catalog(locale, extract_messages(), copy)
    assert po_path(locale, copy).read_bytes() == before
    assert before.startswith(b"# ")
