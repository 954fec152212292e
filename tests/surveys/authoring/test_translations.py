"""The author's words in other languages: written, checked, frozen, and never mixed up."""

from __future__ import annotations

import json
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from surveys.authoring.drafts import build_manifest, build_words
from surveys.authoring.errors import NotDraft, NotLaunchable
from surveys.authoring.forms.translations import TranslationForm, field_name
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.services import (
    add_question,
    add_translation,
    copy_survey,
    edit_question,
    remove_translation,
    save_translation,
)
from surveys.authoring.translations import summarize_languages
from surveys.manifest.languages import (
    INFORMATION_TEXT,
    SourceText,
    hash_words,
    list_texts,
    name_language,
    read_words,
    translate_manifest,
)
from surveys.models import MAX_QUESTIONS, Question, Survey
from surveys.views.authoring.translations import TEXTS_OF_A_PART
from tests.support.factories import QUESTIONS, make_survey, make_user, open_survey
from tests.support.fielding import at
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FRENCH = {
    "On the road": "Sur la route",
    "We ask\neverybody.": "Nous demandons\nà tous.",
    QUESTIONS[0]: "Avez-vous déjà conduit après avoir bu ?",
    QUESTIONS[1]: "Avez-vous des enfants ?",
    "How do you travel?": "Comment voyagez-vous ?",
    "By bus": "En bus",
    "By car": "En voiture",
}


@pytest.fixture
def survey(owner: User) -> Survey:
    survey = make_survey(owner=owner, introduction="We ask\neverybody.")
    add_question(
        survey=survey,
        text="How do you travel?",
        type=Question.Type.CHOICE,
        options=["By bus", "By car"],
    )
    return survey


def fields(words: dict[str, str]) -> dict[str, str]:
    """Return the fields that the form would send."""
    return {field_name(text): translated for text, translated in words.items()}


def french(survey: Survey) -> dict[str, str]:
    texts: dict[str, str] = survey.translations.get(language="fr").texts
    return texts


def problems(survey: Survey) -> list[str]:
    survey.refresh_from_db()
    return find_launch_problems(survey=survey, now=timezone.now())


def translate(survey: Survey, **changes: str) -> None:
    save_translation(survey=survey, language="fr", texts={**FRENCH, **changes})


def test_a_language_is_added_translated_and_complete(author: Client, survey: Survey) -> None:
    page = author.get(at("languages", survey)).text
    assert "English" in page
    assert at("settings_page", survey, "text") in page
    assert 'value="en"' not in page  # the survey's own language cannot be added
    answer = author.post(at("languages", survey), {"language": "fr"})
    assert answer["Location"] == at("translation", survey, "fr")
    page = author.get(at("languages", survey)).text
    assert "7 texts missing" in page
    assert at("preview", survey) + "?lang=fr" in page
    assert 'value="fr"' not in page
    answer = author.post(at("translation", survey, "fr"), fields(FRENCH))
    assert answer["Location"] == at("languages", survey)
    assert french(survey) == FRENCH
    assert "complete" in author.get(at("languages", survey)).text
    assert problems(survey) == []


def test_the_author_learns_that_no_native_speaker_has_read_the_translations(
    author: Client, survey: Survey
) -> None:
    said = "ative speakers have not read"
    assert said in author.get(at("languages", survey)).text
    wave = open_survey(survey=survey)
    assert said in author.get(at("languages", survey)).text
    # Respondents do not read this, because they can do nothing about the problem.
    for path in (f"/s/{survey.slug}", f"/s/{survey.slug}/check", f"/s/{survey.slug}/send"):
        assert "native speaker" not in author.get(path).text
    assert "native speaker" not in author.get(at("poster", survey)).text
    assert wave.survey == survey


@pytest.mark.parametrize("language", ["", "en", "tlh", "fr"])
def test_only_languages_that_are_left_can_be_added(
    author: Client, survey: Survey, language: str
) -> None:
    add_translation(survey=survey, language="fr")
    answer = author.post(at("languages", survey), {"language": language})
    assert answer.status_code == 422
    assert "Choose one of the languages in the list." in answer.text
    assert survey.translations.count() == 1


def test_a_language_is_removed_after_a_question(author: Client, survey: Survey) -> None:
    translate(survey)
    page = author.get(at("translation_remove", survey, "fr")).text
    assert "7 translated texts" in page
    assert survey.translations.count() == 1
    author.post(at("translation_remove", survey, "fr"))
    assert survey.translations.count() == 0
    assert author.get(at("translation_remove", survey, "fr")).status_code == 404


def test_removing_a_language_requires_a_form_token(owner: User, survey: Survey) -> None:
    translate(survey)
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(at("translation_remove", survey, "fr")).status_code == 403
    assert survey.translations.count() == 1


def test_the_draft_says_how_complete_its_translations_are(author: Client, survey: Survey) -> None:
    assert "<p>English</p>" in author.get(at("edit", survey)).text
    translate(survey, **{"By bus": "", "By car": ""})
    page = author.get(at("edit", survey)).text
    assert "English; French: 2 texts missing" in page
    assert at("languages", survey) in page


def test_after_the_last_language_no_more_are_offered(author: Client, survey: Survey) -> None:
    for language in ("es", "fr", "de", "ar", "zh-hans"):
        add_translation(survey=survey, language=language)
    page = author.get(at("languages", survey)).text
    assert "Simplified Chinese" in page
    assert "Add a language" not in page


def test_each_text_is_shown_next_to_its_field_with_its_language(
    author: Client, survey: Survey
) -> None:
    add_translation(survey=survey, language="ar")
    page = author.get(at("translation", survey, "ar")).text
    assert page.count('lang="ar" dir="rtl"') == len(FRENCH)
    assert page.count('<p class="pre-line" id="id_words-') == len(FRENCH)
    assert page.count('lang="en" dir="ltr">') >= len(FRENCH)
    for place in ("Title", "Introduction", "Question 2", "Question 3, answer 2"):
        assert f">{place}</label>" in page
    name = field_name("We ask\neverybody.")
    assert f'<textarea name="{name}"' in page
    assert f'aria-describedby="id_{name}_helptext"' in page


def test_the_heading_marks_the_title_with_its_language(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, title="Money at work")
    add_translation(survey=survey, language="fr")
    page = author.get(at("translation", survey, "fr")).text
    assert "<h1>“Money at work” in French</h1>" in page


def test_empty_fields_are_saved_and_count_as_missing(author: Client, survey: Survey) -> None:
    translate(survey)
    author.post(at("translation", survey, "fr"), fields({**FRENCH, "By car": "  "}))
    assert "By car" not in french(survey)
    assert problems(survey) == [
        "French lacks 1 text: Question 3, answer 2. Translate it or remove the language."
    ]


def test_typed_words_are_shown_as_text(author: Client, survey: Survey) -> None:
    html = '<script>alert("1")</script>'
    edit_question(question=survey.questions.all()[0], text=html)
    translate(survey, **{html: html})
    page = author.get(at("translation", survey, "fr")).text
    assert html not in page
    assert page.count("&lt;script&gt;") == 2


def test_a_translation_that_is_too_long_is_refused_and_kept(author: Client, survey: Survey) -> None:
    add_translation(survey=survey, language="fr")
    long = "x" * 201
    answer = author.post(
        at("translation", survey, "fr"), fields({**FRENCH, "By bus": long, "By car": "a\x07b"})
    )
    assert answer.status_code == 422
    assert (
        "The translation of question 3, answer 1 has 201 characters. Shorten it to 200 or fewer."
        in answer.text
    )
    assert "question 3, answer 2 contains an invisible control character" in answer.text
    assert f'href="#id_{field_name("By bus")}"' in answer.text
    assert long in answer.text
    assert "Comment voyagez-vous" in answer.text
    assert french(survey) == {}


@pytest.mark.parametrize(
    ("kinds", "limit", "lines"),
    [
        (("title",), 200, False),
        (("introduction",), 2000, True),
        (("organization",), 120, False),
        (("contact",), 200, False),
        (("consent",), 10_000, True),
        (("help_name",), 120, False),
        (("text",), 1000, False),
        (("options",), 200, False),
        (("unit",), 40, False),
        (("low_label",), 100, False),
        (("closing_message",), 1000, True),
        ((INFORMATION_TEXT,), 1000, True),
        ((INFORMATION_TEXT, "text"), 1000, False),
        (("text", "high_label"), 100, False),  # the same words appear in both places
    ],
)
def test_a_translation_may_be_as_long_as_its_text_may_be(
    kinds: tuple[str, ...], limit: int, lines: bool
) -> None:
    source = SourceText(place="Here", text="a", kinds=kinds)
    name = field_name("a")

    def send(words: str) -> TranslationForm:
        return TranslationForm({name: words}, sources=[source], language="fr", texts={}, own={})

    assert send("x" * limit).is_valid()
    assert not send("x" * (limit + 1)).is_valid()
    form = send("a\r\nb")
    assert form.is_valid()
    assert form.typed_texts == {"a": "a\nb" if lines else "a b"}


def test_a_text_changed_in_another_tab_does_not_get_the_old_words(
    author: Client, survey: Survey
) -> None:
    translate(survey, **{QUESTIONS[0]: ""})
    sent = fields(FRENCH)
    edit_question(question=survey.questions.all()[0], text="Have you ever flown?")
    answer = author.post(at("translation", survey, "fr"), sent)
    assert answer.status_code == 422
    assert "The survey has changed" in answer.text
    assert answer.text.count("Avez-vous déjà conduit") == 1  # shown for copying, but not in a field
    assert "Have you ever flown?" in answer.text
    assert QUESTIONS[0] not in french(survey)
    sent = fields({**FRENCH, "Have you ever flown?": "Avez-vous volé ?"})
    del sent[field_name(QUESTIONS[0])]
    assert author.post(at("translation", survey, "fr"), sent).status_code == 302
    assert french(survey)["Have you ever flown?"] == "Avez-vous volé ?"
    assert set(french(survey)) == {*FRENCH, "Have you ever flown?"} - {QUESTIONS[0]}


def test_moving_an_answer_takes_its_translation_along(author: Client, survey: Survey) -> None:
    translate(survey)
    sent = fields(FRENCH)
    edit_question(question=survey.questions.all()[2], options=["By car", "By bus"])
    author.post(at("translation", survey, "fr"), sent)
    source = build_manifest(survey=survey, wave_number=1)
    words = build_words(survey=survey, manifest=source)["fr"]
    manifest = translate_manifest(source, "fr", words)
    assert [option.text for option in manifest.questions[2].options] == ["En voiture", "En bus"]


def test_words_for_deleted_texts_are_kept_until_the_author_saves(
    author: Client, survey: Survey
) -> None:
    translate(survey)
    edit_question(question=survey.questions.all()[1], text="Do you have grandchildren?")
    page = author.get(at("translation", survey, "fr")).text
    assert "No longer used" in page
    assert FRENCH[QUESTIONS[1]] in page
    assert QUESTIONS[1] in french(survey)
    author.post(at("translation", survey, "fr"), {})
    assert QUESTIONS[1] not in french(survey)
    assert french(survey)["By bus"] == "En bus"  # a text that was not sent keeps its translation


def test_a_language_removed_in_another_tab_does_not_lose_what_is_sent(
    author: Client, survey: Survey
) -> None:
    assert author.post(at("translation", survey, "fr"), fields(FRENCH)).status_code == 302
    assert french(survey) == FRENCH
    for unknown in ("tlh", "../fr", "FR"):
        path = at("translation", survey, "fr").replace("/fr", f"/{unknown}")
        assert author.post(path, fields(FRENCH)).status_code == 404
    assert author.get(at("translation", survey, "de")).status_code == 404


@pytest.mark.long
def test_the_longest_survey_is_translated_in_parts(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=())
    for number in range(MAX_QUESTIONS):
        survey.questions.create(
            position=number + 1,
            text=f"Question {number}?",
            type=Question.Type.CHOICE,
            options=[f"{number}.{option}" for option in range(12)],
        )
    add_translation(survey=survey, language="zh-hans")
    texts = [source.text for source in list_texts(build_manifest(survey=survey, wave_number=1))]
    path = at("translation", survey, "zh-hans")
    parts = -(-len(texts) // TEXTS_OF_A_PART)
    for part in range(1, parts + 1):
        page = author.get(f"{path}?part={part}").text
        sent = {field_name(t): "好" * 200 for t in texts if f'name="{field_name(t)}"' in page}
        answer = author.post(f"{path}?part={part}", sent)
        assert answer.status_code == 302, answer.text
    assert answer["Location"] == at("languages", survey)
    assert set(survey.translations.get().texts) == set(texts)
    for odd in ("0", "999", "-1", "x", "9" * 5000):
        assert author.get(f"{path}?part={odd}").status_code == 200


def test_missing_translations_are_listed_before_opening(author: Client, survey: Survey) -> None:
    translate(survey, **{"On the road": "", QUESTIONS[1]: "", "By bus": ""})
    text = (
        "French lacks 3 texts: Title; Question 2; Question 3, answer 1. Translate them or remove "
        "the language."
    )
    assert problems(survey) == [text]
    assert text in words_of(author.get(at("launch", survey)))
    assert text in words_of(author.get(at("edit", survey)))
    with pytest.raises(NotLaunchable):
        open_survey(survey=survey)


def test_a_long_list_of_missing_texts_is_cut(survey: Survey) -> None:
    add_translation(survey=survey, language="zh-hans")
    [text] = problems(survey)
    assert text.startswith("Simplified Chinese lacks 7 texts: Title; Introduction; Question 1;")
    assert "; and 1 more. Translate them" in text


def test_translated_answers_must_differ(survey: Survey) -> None:
    translate(survey, **{"By bus": "En  Voiture"})
    assert problems(survey) == [
        "In French, answers 1 and 2 of question 3 have the same words. Translate them differently."
    ]


@pytest.mark.parametrize(
    ("text", "translated", "expected"),
    [
        ("Yes", "Non", "Oui"),  # swapped
        ("no", "Aucun", "Non"),
        ("No", "  NON ", None),
        ("Nobody", "Personne", None),
    ],
)
def test_an_answer_that_murmur_has_too_is_translated_like_murmurs(
    author: Client, survey: Survey, text: str, translated: str, expected: str | None
) -> None:
    options = [text, "Sometimes"]
    add_question(survey=survey, text="Ever?", type=Question.Type.CHOICE, options=options)
    words = {**FRENCH, "Ever?": "Jamais ?", "Sometimes": "Parfois", text: translated}
    add_translation(survey=survey, language="fr")
    answer = author.post(at("translation", survey, "fr"), fields(words))
    if expected is None:
        assert answer.status_code == 302
        assert problems(survey) == []
        return
    assert answer.status_code == 422
    assert f"Murmur’s own answer “{text}” reads “{expected}”" in unescape(answer.text)
    assert translated in answer.text  # what was typed is not lost
    # If such a translation was saved before this check existed, the survey cannot be opened.
    save_translation(survey=survey, language="fr", texts=words)
    [problem] = problems(survey)
    assert f"reads “{expected}”" in problem


def test_murmurs_own_answers_never_take_an_authors_translation(survey: Survey) -> None:
    translate(survey)
    manifest = build_manifest(survey=survey, wave_number=1)
    swapped = json.dumps({**FRENCH, "Yes": "Non", "No": "Oui"})  # as frozen by an older release
    translated = translate_manifest(manifest, "fr", swapped)
    assert [option.text for option in translated.questions[0].options] == ["Oui", "Non"]


def test_a_text_to_read_keeps_its_paragraphs(author: Client, survey: Survey) -> None:
    add_question(survey=survey, text="Take your time.\n\nCall us.", type=Question.Type.INFORMATION)
    add_translation(survey=survey, language="fr")
    paragraphs = "Prenez votre temps.\n\nAppelez-nous."
    words = {**FRENCH, "Take your time.\n\nCall us.": paragraphs.replace("\n", "\r\n")}
    assert author.post(at("translation", survey, "fr"), fields(words)).status_code == 302
    wave = open_survey(survey=survey)
    assert paragraphs in read_words(wave.words["fr"]).values()


def test_a_translation_into_the_surveys_own_language_is_named(
    author: Client, survey: Survey
) -> None:
    translate(survey)
    Survey.objects.filter(pk=survey.pk).update(language="fr")
    [text] = problems(survey)
    assert text.startswith(
        "The survey is written in French, and French is also among its translations."
    )
    assert build_manifest(survey=survey, wave_number=1).translations == {}
    page = author.get(at("languages", survey)).text
    assert "the survey itself is now in this language" in page
    for name in ("edit", "launch", "preview"):
        assert author.get(at(name, survey)).status_code == 200
    author.post(at("translation_remove", survey, "fr"))
    assert problems(survey) == []


def test_opening_freezes_the_translations(author: Client, survey: Survey) -> None:
    translate(survey)
    assert ">English, French</a>" in author.get(at("launch", survey)).text
    wave = open_survey(survey=survey)
    frozen = wave.description
    assert frozen.translations == {"fr": hash_words(wave.words["fr"])}
    words = read_words(wave.words["fr"])
    assert {text: words[text] for text in FRENCH} == FRENCH
    assert "Yes" not in words  # Murmur translates its own answers
    page = author.get(at("languages", survey)).text
    assert "They were frozen" in page
    assert "French" in page
    assert "<form" not in page.split("<main", 1)[1]
    assert ">English, French</a>" in author.get(at("settings", survey)).text


def test_nothing_changes_after_opening(author: Client, survey: Survey) -> None:
    translate(survey)
    translation = survey.translations.get()
    open_survey(survey=survey)
    with pytest.raises(NotDraft):
        save_translation(survey=survey, language="fr", texts={"By bus": "Autrement"})
    with pytest.raises(NotDraft):
        add_translation(survey=survey, language="de")
    with pytest.raises(NotDraft):
        remove_translation(translation=translation)
    answer = author.post(at("translation", survey, "fr"), fields({"By bus": "Autrement"}))
    assert answer.status_code == 409
    assert "Autrement" in answer.text  # what was typed is not lost
    assert author.get(at("translation", survey, "fr")).status_code == 409
    assert author.post(at("translation_remove", survey, "fr")).status_code == 409
    assert author.post(at("languages", survey), {"language": "de"}).status_code == 409
    assert french(survey) == FRENCH


def test_a_copy_has_the_translations_too(survey: Survey) -> None:
    """The title is translated too; in a copy of a copy, it is "Copy of Copy of On the road"."""
    translate(survey)
    copied = copy_survey(survey=copy_survey(survey=survey))
    texts = french(copied)
    assert texts.pop("Copy of Copy of On the road") == "Sur la route"
    assert texts == {text: words for text, words in FRENCH.items() if text != "On the road"}
    assert problems(copied) == []


def test_a_question_with_the_words_of_the_title_keeps_its_translation(survey: Survey) -> None:
    Survey.objects.filter(pk=survey.pk).update(title=QUESTIONS[0])
    survey.refresh_from_db()
    translate(survey)
    copied = copy_survey(survey=survey)
    assert french(copied)[QUESTIONS[0]] == french(copied)[copied.title] == FRENCH[QUESTIONS[0]]
    assert problems(copied) == []


def test_languages_have_english_names() -> None:
    assert name_language("ar") == "Arabic"
    assert name_language("zh-hans") == "Simplified Chinese"


def test_the_summary_names_every_language(survey: Survey) -> None:
    translate(survey)
    add_translation(survey=survey, language="de")
    manifest = build_manifest(survey=survey, wave_number=1)
    summary = summarize_languages(survey=survey, manifest=manifest)
    assert summary == "English; German: 7 texts missing; French: complete"


def test_strangers_find_nothing(client: Client, survey: Survey) -> None:
    translate(survey)
    client.force_login(make_user())
    for path in (
        at("languages", survey),
        at("translation", survey, "fr"),
        at("translation_remove", survey, "fr"),
    ):
        assert client.get(path).status_code == 404
        assert client.post(path, {"language": "de", **fields({"By bus": "!"})}).status_code == 404
    assert french(survey) == FRENCH
    assert survey.translations.count() == 1
