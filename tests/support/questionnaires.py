"""Questionnaires from other programs, with the oddities of real ones, written for tests."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from openpyxl import Workbook

from surveys.exchange.drafting import Drafted, draft
from surveys.exchange.reading.questions import Parsed
from surveys.exchange.reading.reader import read_questionnaire

FIRST_SHEET = "xl/worksheets/sheet1.xml"
Rows = list[list[Any]]
Sheets = dict[str, Rows]

XLSFORM: Sheets = {
    "survey": [
        [
            *("type", "name", "label::English (en)", "label::Deutsch (de)", "hint", "relevant"),
            *("constraint", "required", "calculation", "appearance", "murmur_flips"),
            *(
                "murmur_declared",
                "murmur_same_fact",
                "garbling::rate",
                "choice_filter",
                "media::image",
            ),
        ],
        ["start", "started"],
        ["username", "who"],
        ["note", "hello", "Thank you for coming.", "Danke."],
        ["acknowledge", "agree", "I agree to take part.", "Ich mache mit."],
        ["select_one dept", "dept", "Your department", "Abteilung", *[None] * 7, "yes"],
        ["begin_group", "health", "Your health", "Gesundheit"],
        ["select_one yes_no", "ever", "Have you ever lied?", "Je gelogen?", *[None] * 6, 10],
        [
            *(
                "select_one often",
                "how_often",
                "How often?",
                "Wie oft?",
                "In all",
                "${ever} = 'yes'",
            ),
            *(None, "yes", None, "minimal"),
        ],
        ["select_one agree", "agree_5", "I like it here.", "Mir gefällt es."],
        ["integer", "days", "On how many days?", None, None, None, ". >= 0 and . <= 30"],
        ["end_group"],
        [
            *("select_multiple drugs", "drugs", "Which of these?", "Was davon?", None),
            *(
                "selected(${how_often}, 'often') and not(${ever} != 'yes')",
                "count-selected(.) <= 2",
            ),
        ],
        ["select_one yes_no", "ever2", "Did you lie once?", None, *[None] * 8, "ever", "0.3"],
        ["select_one often or_other", "other", "And then?", None, *[None] * 10, "x = ${ever}"],
        ["text", "why", "Why?"],
        ["geopoint", "where", "Where are you?", None, None, None, None, "yes"],
        ["calculate", "total", *[None] * 6, "${how_often} + ${agree_5}"],
        ["text", "pick", "Pick one", None, None, None, ". = 'red' or . = 'blue'"],
        ["range", "temperature", "How warm?", None, None, "${agree_5} = '1' or ${agree_5} = '5'"],
        ["image", "photo", "A photo", *[None] * 12, "a.png"],
        ["begin_repeat", "kids", "Children"],
        ["integer", "age", "How old is ${photo}?"],
        ["end_repeat"],
        ["select_one felt", "tense", "I felt tense.", "Ich war angespannt.", *[None] * 3, "yes"],
        ["select_one felt", "calm", "I felt\n calm.", "Ich war ruhig.", *[None] * 6, 20],
        ["calculate", "strain", "Strain", "Belastung", *[None] * 4, "${tense} + (4 - ${calm})"],
    ],
    "choices": [
        ["list_name", "name", "label::English (en)", "label::Deutsch (de)", "image"],
        ["yes_no", "yes", "Yes", "Ja"],
        ["yes_no", "no", "No", "Nein"],
        ["often", "never", "Never", "Nie"],
        ["often", "sometimes", "Sometimes", "Manchmal"],
        ["often", "often", "Often", "Oft", "often.png"],
        ["agree", 1, "Not at all", "Gar nicht"],
        *(["agree", point, point, point] for point in (2, 3, 4)),
        ["agree", 5, "Completely", "Völlig"],
        ["drugs", "a", "Coffee", "Kaffee"],
        ["drugs", "b", "Tea", "Tee"],
        ["drugs", "c", "Cocoa", "Kakao"],
        ["drugs", "none", "None of these", "Nichts davon"],
        ["drugs", "refused", "Prefer not to say", "Keine Angabe"],
        ["dept", "x", "Sales"],
        ["dept", "y", "Support"],
        ["unused", "z", "Nobody asks for this"],
        ["felt", 0, "At no time", "Nie"],
        ["felt", 1, "Some of the time", "Teils"],
        ["felt", 4, "All of the time", "Immer"],
    ],
    "settings": [["form_title", "form_id", "default_language"], ["Lies", "lies_1", "English (en)"]],
}

DICTIONARY_HEAD = (
    *("Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label"),
    *("Choices, Calculations, OR Slider Labels", "Field Note"),
    *("Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"),
    *("Identifier?", "Branching Logic (Show field only if...)", "Required Field?"),
    *("Custom Alignment", "Question Number (surveys only)", "Matrix Group Name", "Matrix Ranking?"),
    "Field Annotation",
)
_PHQ = "0, Not at all | 1, Several days | 2, More than half the days | 3, Nearly every day"


def _field(name: str, kind: str, label: str, form: str = "health", **cells: str) -> list[str]:
    places = {
        "header": 2,
        "choices": 5,
        "note": 6,
        "validation": 7,
        "low": 8,
        "high": 9,
        "identifier": 10,
        "logic": 11,
        "required": 12,
        "align": 13,
        "number": 14,
        "matrix": 15,
        "ranking": 16,
        "annotation": 17,
    }
    row = [name, form, "", kind, label, *[""] * 13]
    for cell, text in cells.items():
        row[places[cell]] = text
    return row


DICTIONARY: Rows = [
    list(DICTIONARY_HEAD),
    _field("record_id", "text", "Record"),
    _field("mail", "text", "E-mail", validation="email"),
    _field("birth", "text", "Born", validation="date_dmy", identifier="y"),
    _field("smokes", "yesno", "Do you smoke?", header="Habits", required="y", number="1"),
    _field("true_or", "truefalse", "Is it <b>true</b>?", note="Think"),
    _field("phq_1", "radio", "Little interest", choices=_PHQ, matrix="phq", ranking="y"),
    _field("phq_2", "radio", "Feeling down", choices=_PHQ, matrix="phq", logic="[smokes] = '1'"),
    _field("phq", "calc", "Total", choices="sum([phq_1], [phq_2])"),
    _field("bmi", "calc", "Index", choices="[phq_1] / [phq_2]"),
    _field("days", "text", "Days", "use", validation="integer", low="0", high="30"),
    _field("open", "text", "How many?", "use", validation="integer", low="0"),
    _field("what", "checkbox", "Which?", "use", choices="a, One | b, Two | z, None of the above"),
    _field("then", "radio", "Then?", "use", choices="1, Yes | 0, No", logic="[what(b)] = '1'"),
    _field("why", "notes", "Why?", "use", annotation="@HIDDEN", align="LH"),
    _field("line", "slider", "How strong?", "use", choices="none | | strong", validation="number"),
    _field("text", "descriptive", "That was all.", "use", logic="[days] > 3"),
    _field("scan", "file", "Upload", "use"),
    _field("gad_1", "radio", "Nervous", "gad", choices=_PHQ, matrix="gad", required="y"),
    _field("gad_2", "radio", "Worried", "gad", choices=_PHQ, matrix="gad"),
    _field("gad", "calc", "Anxiety", "gad", choices="sum([gad_1], 2*[gad_2])", note="0 to 9"),
]


def write_workbook(sheets: Mapping[str, Rows], *, hidden: Sequence[str] = ()) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if name in hidden:
            sheet.sheet_state = "hidden"
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def write_csv(rows: Rows, *, encoding: str = "utf-8", delimiter: str = ",") -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(rows)
    return written.getvalue().encode(encoding)


def with_cell(sheets: Sheets, sheet: str, row: int, column: int, value: object) -> Sheets:
    changed = deepcopy(sheets)
    changed[sheet][row][column] = value
    return changed


def add_entry(workbook: bytes, name: str, content: bytes) -> bytes:
    """Add an entry to a workbook, such as macros, or zeros that unpack to far more bytes."""
    written = io.BytesIO(workbook)
    with zipfile.ZipFile(written, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return written.getvalue()


def write_many_rows(rows: int) -> bytes:
    """Write a workbook with this many rows that takes little space."""
    cells = '<c t="inlineStr"><is><t>note</t></is></c>' * 3
    data = "".join(f'<row r="{at}">{cells}</row>' for at in range(1, rows + 1))
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>'
    return replace_entry(write_workbook({"survey": [["type"]]}), FIRST_SHEET, sheet.encode())


def replace_entry(workbook: bytes, name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        entries = {one: archive.read(one) for one in archive.namelist()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, old in entries.items():
            archive.writestr(one, content if one == name else old)
    return packed.getvalue()


def read(content: bytes, *, name: str = "file") -> Drafted:
    """Read a file as a worker does, but without a child process."""
    written = json.dumps(read_questionnaire(content, name=name).write())
    return draft(Parsed.read(json.loads(written)))


def read_sheets(survey: Rows, choices: Rows | None = None) -> Drafted:
    return read(write_workbook({"survey": survey, "choices": choices or []}))


def find_row(drafted: Drafted, row: int, sheet: str = "survey") -> dict[str, Any]:
    [found] = [one for one in drafted.outcomes if (one["sheet"], one["row"]) == (sheet, row)]
    return found
