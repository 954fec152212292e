"""Translations are exported and read back: the text is the same, whatever a spreadsheet changes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from html import unescape
from random import Random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import PreviewOutdated
from surveys.authoring.services import (
    add_question,
    add_translation,
    edit_question,
    save_translation,
)
from surveys.authoring.translating.cells import defuse, restore
from surveys.authoring.translating.reading import FileReading, read_file
from surveys.authoring.translating.storing import store_file
from surveys.authoring.translating.tables import MAX_BYTES, Unreadable, decode, read_table
from surveys.authoring.translating.writing import write_file
from surveys.downloads import FORMULA_STARTS
from surveys.manifest.languages import list_texts
from surveys.models import HistoryRow, Kind, Question, Survey
from tests.support.factories import QUESTIONS, make_survey
from tests.support.fielding import at
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FIRST, SECOND = QUESTIONS
NASTY = (
    *(
        "=1+1",
        "'=1+1",
        "''-2",
        "-20 %",
        "@SUM(A1)",
        "\uff1d1",
        "cmd|' /C calc'!A0",
        "a;=1",
        "b;'-2",
        "'",
    ),
    *('say "x", y', "<script>", "\u200f\u05d0\u200e (1)", "a\u00a0b", "01.02", "{{ x }}"),
)


@pytest.fixture
def survey(owner: User) -> Survey:
    survey = make_survey(owner=owner, introduction="We ask\neverybody.")
    save_translation(survey=survey, language="fr", texts={FIRST: "Déjà ?", SECOND: "Enfants ?"})
    return survey


def export(survey: Survey) -> bytes:
    return write_file(survey=survey, manifest=build_manifest(survey=survey, wave_number=1))


def rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def write(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    output = io.StringIO()
    csv.writer(output, delimiter=separator).writerows(rows)
    return output.getvalue()


def read(survey: Survey, *rows: Sequence[str]) -> FileReading:
    return read_file(write(rows), survey=survey)


def stored(survey: Survey, language: str) -> dict[str, str]:
    found = survey.translations.filter(language=language).first()
    return found.texts if found else {}


def post(author: Client, survey: Survey, content: str | bytes) -> object:
    data = content.encode() if isinstance(content, str) else content
    return author.post(at("translation_file", survey), {"file": SimpleUploadedFile("a.csv", data)})


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
def test_every_encoding_and_separator_gives_the_same_texts_back(
    survey: Survey, separator: str, encoding: str
) -> None:
    """This also holds if the columns are in a different order, or if there is an extra column."""
    rows = [["x", *reversed(row)] for row in rows_of(export(survey))]
    content = write(rows, separator).encode(encoding)
    reading = read_file(decode(content), survey=survey)
    assert reading.columns == ["x"]
    assert (reading.added, reading.changed, reading.problems) == ([], [], [])
    assert (reading.outdated, reading.unknown) == ([], [])
    assert reading.unchanged == [4, 5]


def test_texts_that_look_like_formulas_come_back_and_never_run(owner: User) -> None:
    random = Random(39)
    survey = make_survey(owner=owner, questions=())
    for text in NASTY:
        add_question(survey=survey, text=f"{text}", flips=25)
    sources = [one.text for one in list_texts(build_manifest(survey=survey, wave_number=1))]
    for language in ("fr", "ar", "zh-hans"):
        texts = {text: f"{random.choice(NASTY)}{text}" for text in sources}
        save_translation(survey=survey, language=language, texts=texts)
    content = export(survey)
    for separator in (",", ";", "\t"):  # the wrong separator tears cells apart
        torn = csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=separator)
        assert not any(cell.startswith(FORMULA_STARTS) for row in torn for cell in row)
    reading = read_file(decode(content), survey=survey)
    assert len(reading.unchanged) == 3 * len(sources)
    assert (reading.added, reading.changed, reading.problems) == ([], [], [])
    assert (reading.outdated, reading.unknown, reading.missing) == ([], [], [])


@pytest.mark.parametrize(
    "text", [*NASTY, "", "'", "''", "'a", "''=", "plain", "a\n- b\n'- c\n;-d;;=e"]
)
def test_defused_cells_are_restored_exactly(text: str) -> None:
    assert restore(defuse(text)) == text


def test_the_preview_names_every_row(author: Client, survey: Survey) -> None:
    edit_question(question=survey.questions.get(text=SECOND), text="Any children?", flips=25)
    answer = post(
        author,
        survey,
        write(
            [
                ["where", "original", "fr", "German", "notes"],
                ["Title", "On the road", "Sur la route", "Unterwegs", "ok"],
                ["Question 1", FIRST, "Jamais ?", ""],
                ["Question 2", SECOND, "Des enfants ?"],
                [],
                ["Question 9", "Gone?", "Parti ?"],
            ],
            ";",
        ),
    )
    text = words_of(answer)
    assert "2 added, 1 changed, 0 unchanged." in text
    assert "Columns left out: notes ." in text
    assert f"Row 4 {SECOND} Outdated. Question 2 is now: Any children?" in text
    assert "Row 6 Gone? Not in the survey." in text
    assert f"Row 3 {FIRST} French: Jamais ? instead of Déjà ?" in text
    assert "Row 2 On the road German: Unterwegs" in text
    assert "French lacks 2 texts: Introduction; Question 2." in text
    assert "German lacks 3 texts" in text
    assert stored(survey, "fr") == {FIRST: "Déjà ?", SECOND: "Enfants ?"}  # nothing is saved yet
    fields = {
        name: unescape(value)
        for name, value in re.findall(
            r'type="hidden" name="(stamp|text)" value="([^"]*)"',
            answer.content.decode(),  # type: ignore[attr-defined]
        )
    }
    # Browsers send every line break of a form as two characters.
    sent = {**fields, "text": fields["text"].replace("\n", "\r\n"), "save": "1"}
    answer = author.post(at("translation_file", survey), sent)
    assert answer["Location"] == at("languages", survey)
    assert stored(survey, "de") == {"On the road": "Unterwegs"}
    assert stored(survey, "fr") == {
        FIRST: "Jamais ?",
        SECOND: "Enfants ?",  # the old translation may still help to translate the new text
        "On the road": "Sur la route",
    }
    assert HistoryRow.objects.order_by("number").last().kind == Kind.TRANSLATION  # type: ignore[union-attr]
    again = author.post(at("translation_file", survey), sent)
    assert again.status_code == 422
    assert "nothing was saved" in again.text


@pytest.mark.parametrize("change", ["a translation", "a text", "a language", "the file"])
def test_work_of_a_colleague_is_never_overwritten(survey: Survey, change: str) -> None:
    text = write([["original", "fr"], [FIRST, "Jamais ?"]])
    stamp = read_file(text, survey=survey).stamp
    if change == "a translation":
        save_translation(survey=survey, language="fr", texts={FIRST: "Avez-vous … ?"})
    elif change == "a text":
        edit_question(question=survey.questions.get(text=SECOND), text="Any?", flips=25)
    elif change == "a language":
        add_translation(survey=survey, language="de")
    else:
        text = text.replace("Jamais", "Toujours")
    before = stored(survey, "fr")
    with pytest.raises(PreviewOutdated):
        store_file(survey=Survey.objects.get(pk=survey.pk), text=text, stamp=stamp)
    assert stored(survey, "fr") == before


def test_one_wrong_cell_stops_all(author: Client, survey: Survey) -> None:
    question = survey.questions.get(text=FIRST)
    choice = Question.Type.CHOICE
    edit_question(question=question, text=FIRST, type=choice, options=["Yes", "Once"])
    reading = read(
        survey,
        ["original", "fr"],
        ["On the road", "x" * 201],
        [SECOND, "a\u202eb"],
        ["We ask\neverybody.", "Nous"],
        ["Once", "Une fois"],
        ["Once", "Un jour"],
        ["Yes", "Ja"],
    )
    assert [one.split(":")[0] for one in reading.problems] == [
        "Rows 5 and 6, French",
        "Row 2, French",
        "Row 3, French",
        "Row 7, French",
    ]
    assert not reading.can_save
    answer = words_of(post(author, survey, reading.text))
    assert "Correct this first: 4 Rows 5 and 6" in answer
    assert "Save all" not in answer
    with pytest.raises(PreviewOutdated):
        store_file(survey=survey, text=reading.text, stamp=reading.stamp)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "The file is empty"),
        (b"\r\n \n", "The file is empty"),
        (b"x" * 2_000_000, f"is 2,000 kB, but at most {MAX_BYTES // 1000} kB"),
        (b"PK\x03\x04rest", "is a workbook"),
        ("original,fr\n".encode("utf-16-le"), "characters of the file cannot be read"),
        (b"original,fr\n\x81\x8d", "characters of the file cannot be read"),
        (b"a,b\n1,2\n", "No column is called “original”"),
        (b"original,notes\n1,2\n", "No column is named after a language"),
        (b"original,fr,French\n1,2,3\n", "Two columns are called “French”"),
        (b'original,fr\nA,"B\n', "Row 2 cannot be read"),
        (b'original,fr\nA,B\nA,"B"x\n', "Row 3 cannot be read"),
        (b"original,fr\n" + b"a,b\n" * 10_000, "more than 10,000 rows"),
        (b"x" * 500_000, "No column is called “original”"),
        ("original,ar,fr\nA,????,é\n".encode("windows-1252"), "lost the characters of Arabic"),
    ],
)
def test_files_that_cannot_be_read_are_explained(
    author: Client, survey: Survey, content: bytes, problem: str
) -> None:
    answer = post(author, survey, content)
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert problem in words_of(answer)


def test_a_form_without_a_file_is_explained(author: Client, survey: Survey) -> None:
    assert "Choose a CSV file." in author.post(at("translation_file", survey)).text


def test_markup_in_a_file_is_shown_as_text(author: Client, survey: Survey) -> None:
    evil = "<img src=x onerror=alert(1)>"
    answer = post(author, survey, write([["original", "fr", evil], [FIRST, evil], [evil, evil]]))
    assert evil not in answer.content.decode()  # type: ignore[attr-defined]
    assert words_of(answer).count(evil) >= 3


def test_spreadsheets_may_trim_lines_and_recompose_accents(owner: User) -> None:
    survey = make_survey(owner=owner, questions=("Caf\u00e9 ?\nOften?",))
    reading = read(survey, ["original", "fr"], ["Cafe\u0301 ? \nOften? ", "Café ?"])
    assert [one.words for one in reading.added] == ["Café ?"]


def test_the_language_of_the_survey_is_no_translation(survey: Survey) -> None:
    reading = read(survey, ["original", "en"], [FIRST, "Ever?"])
    assert list(reading.columns) == ["English"]
    assert not reading.can_save


def test_unreadable_says_why() -> None:
    with pytest.raises(Unreadable, match="original"):
        read_table("")
