"""The privacy label in every language: no English is left, and nouns agree with numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.conf import settings
from django.utils.translation import gettext, override

from surveys.manifest.languages import hash_words
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.respondent.label.label import describe_protection
from surveys.respondent.label.names import write_tenths, write_whole
from surveys.respondent.label.parts import PrivacyLabel
from tests.support.factories import FOLLOW_UP, YES_NO
from tests.support.label import RULE, all_odds, describe, make, survey

# Words that another language shares with English, and the numbers of questions.
SAME = {"es": r"No\.", "fr": r"(\d+ q|Q)uestions?( \d+)?"}
QUOTED = r"[\d“”, ]+"
OTHERS = [language for language, _ in settings.LANGUAGES if language != "en"]
NUMBERED = tuple(Option(code=code, text=str(code)) for code in range(3))


def own(options: tuple[Option, ...]) -> tuple[Option, ...]:
    return tuple(replace(option, text=gettext(option.text)) for option in options)


def manifests() -> Iterator[Manifest]:
    """Yield manifests that need every kind of sentence, in the active language."""
    for flips in (49, 25, 12, 5, 1):
        yes_no = make("yes_no", options=own(YES_NO), flips=flips, text="1")
        others: list[ManifestQuestion] = [
            make("choice", options=NUMBERED, flips=flips, text="2"),
            make("choice", options=NUMBERED[:2], flips=flips, text="3"),
            make("several", options=NUMBERED, flips=flips, refusal=True, text="4"),
            make("number", unit="", flips=flips, text="5"),
            make("number", unit="", flips=flips, refusal=True, text="6"),
        ]
        declared = make("declared", options=NUMBERED, text="7")
        tied = make("yes_no", options=own(YES_NO), rule=RULE, flips=flips, text="8")
        follow_up = make("follow_up", options=own(FOLLOW_UP), flips=flips, text="9")
        yield survey(yes_no, cap=1)
        yield survey(yes_no, yes_no, declared, cap=100_000)
        yield survey(yes_no, *others, declared, declared, declared, cap=1537)
        yield survey(*others[3:], cap=100_000)
        yield survey(yes_no, tied, follow_up, declared, declared)
        yield replace(survey(*[yes_no] * 4, tied, tied), drawn=1)
        yield replace(survey(*[yes_no] * 4), drawn=2)
        yield replace(survey(yes_no), mode=Mode.MANUAL, translations={"de": hash_words("{}")})
        yield replace(survey(yes_no, yes_no), mode=Mode.MANUAL)
        limits = ("cap", "minimum_batch", "total_epsilon")
        yield replace(survey(yes_no, cap=20), minimum_batch=10, acknowledged=limits)


def texts(label: PrivacyLabel) -> set[str]:
    """Return every sentence of the label; some rows have several sentences."""
    told = [(one.answer, *one.sentences) for one in label.consequences + label.warnings]
    pictured = label.picture.sentence if label.picture else ""
    groups = [(group.protection, *(o.scope for o in group.odds)) for group in label.groups]
    found = {
        label.lead,
        label.length,
        pictured,
        label.unscrambled,
        *label.process,
        *(formula.partition("ε")[0] for formula in label.formulas),
        *label.together,
        *label.finding,
        *label.shows,
        *label.crowd,
        *(odds.sentence for odds in all_odds(label)),
        *(text for row in told + groups for text in row),
    }
    return found - {""}


def labels(language: str) -> list[PrivacyLabel]:
    with override(language):
        return [describe_protection(manifest, asked_elsewhere=3) for manifest in manifests()]


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_stays_in_english(language: str) -> None:
    pairs = list(zip(labels("en"), labels(language), strict=True))
    assert len(pairs) == 50
    for english, translated in pairs:
        for text in texts(english) & texts(translated):
            assert re.fullmatch(f"{QUOTED}|{SAME.get(language, '')}", text), text
        if language in ("ar", "zh-hans"):
            told = (text.replace("Murmur", "") for text in texts(translated))
            assert not [text for text in told if re.search("[A-Za-z]", text)]


@pytest.mark.parametrize("language", OTHERS)
def test_the_key_of_the_strength_is_the_same_in_every_language(language: str) -> None:
    for english, translated in zip(labels("en"), labels(language), strict=True):
        assert [group.strength for group in english.groups] == [
            group.strength for group in translated.groups
        ]


def test_languages_with_six_forms_use_them() -> None:
    with override("ar"):
        lengths = [describe(*[make("yes_no")] * number).length for number in (1, 2, 3, 11)]
    questions = [length.split("،")[0] for length in lengths]
    assert questions == ["سؤال واحد", "سؤالان", "3 أسئلة", "11 سؤالًا"]


@pytest.mark.parametrize(
    ("surveys", "expected"),
    [
        (1, "يُطرح السؤال نفسه في استبيان آخر لهذا المؤلف."),
        (2, "تُطرح الأسئلة نفسها في استبيانين آخرين لهذا المؤلف."),
        (3, "تُطرح الأسئلة نفسها في 3 استبيانات أخرى لهذا المؤلف."),
        (11, "تُطرح الأسئلة نفسها في 11 استبيانًا آخر لهذا المؤلف."),
        (100, "تُطرح الأسئلة نفسها في 100 استبيان آخر لهذا المؤلف."),
    ],
)
def test_other_surveys_are_counted_in_the_form_of_their_number(surveys: int, expected: str) -> None:
    with override("ar"):
        label = describe_protection(survey(make("yes_no")), asked_elsewhere=surveys)
    assert label.warnings[-1].sentence.startswith(expected)


def test_numbers_are_written_as_each_language_does() -> None:
    assert (write_whole(1537), write_tenths(995), write_tenths(990)) == ("1,537", "99.5", "99")
    with override("de"):
        assert (write_whole(1537), write_tenths(995)) == ("1.537", "99,5")


def test_questions_are_quoted_where_words_have_no_spaces() -> None:
    with override("zh-hans"):
        described = describe_protection(
            survey(make("yes_no", text="您" * 60), make("choice", rule=RULE, text="三 个 字"))
        )
    assert {odds.scope for odds in all_odds(described)} == {f"“{'您' * 24}…”", "“三 个 字”"}


def test_sentences_are_joined_without_a_space_where_there_is_none() -> None:
    described = describe_protection(survey(make("yes_no")))
    assert described.told_process == " ".join(described.process)
    assert described.told_crowd == " ".join(described.crowd)
    assert described.told_together == ""
    with override("zh-hans"):
        assert described.told_process == "".join(described.process)


def test_people_who_toss_coins_read_about_coins_in_the_hand() -> None:
    described = describe_protection(replace(survey(*[make("yes_no")] * 2), mode=Mode.MANUAL))
    assert described.process == (
        "You toss two coins for each question.",
        "They decide whether you tick your own answer or the one they pick.",
        "Only you see how the coins fall.",
        "Only the ticks are sent.",
    )
    assert "this page tosses" not in " ".join(texts(described))
