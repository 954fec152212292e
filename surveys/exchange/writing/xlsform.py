"""Write a definition as an XLSForm, for programs that do not scramble answers.

Columns named `murmur_…` contain what XLSForm cannot express. Other programs ignore these columns.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext, override

from surveys.exchange.writing.rows import Answer, Row, Rows, build_rows, write_rule
from surveys.manifest.languages import NAMES
from surveys.manifest.question_types import NO, YES, QuestionType
from surveys.manifest.questions import REFUSED_TEXT

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_OWN = {"yes": YES, "no": NO, "refused": REFUSED_TEXT}
_CODES = {"zh-hans": "zh"}
_TYPES = {
    QuestionType.NUMBER: "integer",
    QuestionType.INFORMATION: "note",
    QuestionType.SEVERAL: "select_multiple",
}
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")  # XML does not allow these characters
_HEADS = ("relevant", "constraint", "calculation", "appearance")
_OURS = (
    *("murmur_flips", "murmur_declared", "murmur_same_fact", "murmur_follow_up"),
    *("murmur_refusal", "murmur_unit", "murmur_bands"),
)


def write_xlsform(definition: Mapping[str, Any], *, form_id: str) -> bytes:
    """Return the bytes of the workbook. All cells are text, and never formulas."""
    from openpyxl import Workbook  # importing it takes as long as importing all of Django

    rows = build_rows(definition)
    translations: Mapping[str, Mapping[str, str]] = definition.get("translations", {})
    languages = [rows.language, *(code for code in translations if code != rows.language)]
    labels = [f"label::{_name_language(code)}" for code in languages]
    lists = _Lists(languages, translations)
    survey: list[dict[str, str]] = []
    if consent := definition.get("settings", {}).get("consent"):
        words = _translate(consent, languages, translations)
        survey.append(
            {"type": "acknowledge", "name": "consent", **dict(zip(labels, words, strict=True))}
        )
    for grid, together in groupby(rows.rows, key=lambda row: row.grid):
        if grid:
            survey.append({"type": "begin_group", "name": grid, "appearance": "table-list"})
        for row in together:
            words = _translate(row.text, languages, translations)
            cells = {"name": row.name, **dict(zip(labels, words, strict=True))}
            survey.append({"type": _write_type(row, lists), **cells, **_describe(row, rows)})
            if row.bands:
                survey[-1]["murmur_bands"] = lists.name(row.name, row.bands)
        if grid:
            survey.append({"type": "end_group"})
    book = Workbook()
    book.remove(book.active)
    _write_sheet(book.create_sheet("survey"), ("type", "name", *labels, *_HEADS, *_OURS), survey)
    choices = [
        {"list_name": name, "name": answer.value, **dict(zip(labels, words, strict=True))}
        for name, answer, words in lists.rows
    ]
    _write_sheet(book.create_sheet("choices"), ("list_name", "name", *labels), choices)
    settings = {
        "form_title": definition["title"],
        "form_id": form_id,
        "default_language": _name_language(rows.language),
    }
    _write_sheet(book.create_sheet("settings"), tuple(settings), [settings])
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _name_language(code: str) -> str:
    return f"{NAMES[code]} ({_CODES.get(code, code)})"


def _translate(
    text: str, languages: Sequence[str], translations: Mapping[str, Mapping[str, str]]
) -> list[str]:
    return [text, *(translations[code].get(text, "") for code in languages[1:])]


class _Lists:
    """The lists of answers. Questions with the same answers share a list."""

    def __init__(
        self, languages: Sequence[str], translations: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.languages, self.translations = languages, translations
        self.rows: list[tuple[str, Answer, list[str]]] = []
        self._names: dict[tuple[Answer, ...], str] = {}

    def name(self, question: str, answers: Sequence[Answer]) -> str:
        key = tuple(answers)
        if key not in self._names:
            self._names[key] = name = f"{question}_answers"
            self.rows += [(name, answer, self._find_words(answer)) for answer in answers]
        return self._names[key]

    def _find_words(self, answer: Answer) -> list[str]:
        if not answer.is_own:
            if answer.text == answer.value:  # a point of a scale
                return [answer.text] * len(self.languages)
            return _translate(answer.text, self.languages, self.translations)
        words = []
        for language in self.languages:
            with override(language):
                words.append(gettext(_OWN[answer.value]))
        return words


def _write_type(row: Row, lists: _Lists) -> str:
    if row.formula:
        return "calculate"
    kind = _TYPES.get(row.type, "select_one")
    return f"{kind} {lists.name(row.name, row.answers)}" if kind.startswith("select") else kind


def _describe(row: Row, rows: Rows) -> dict[str, str]:
    if row.follows:
        return {"relevant": _equals(row.follows, "yes"), "murmur_follow_up": row.follows}
    question, cells = row.question, {}
    if rule := question.get("rule"):
        cells["relevant"] = write_rule(rule, rows, equals=_equals, has=_has)
    if row.formula:
        cells["calculation"] = row.formula
    if row.is_unsent:
        return cells
    if row.type == QuestionType.NUMBER:
        cells["constraint"] = f". >= {question['minimum']} and . <= {question['maximum']}"
    if limit := question.get("limit"):
        cells["constraint"] = f"count-selected(.) <= {limit}"
    if row.type == QuestionType.DECLARED:
        cells["murmur_declared"] = "yes"
    elif row.type != QuestionType.INFORMATION:
        cells["murmur_flips"] = str(question["flips"])
    if same := question.get("same_fact"):
        cells["murmur_same_fact"] = rows.names[same]
    if question.get("refusal") and not row.answers:
        cells["murmur_refusal"] = "yes"
    if unit := question.get("unit"):
        cells["murmur_unit"] = unit
    return cells


def _equals(name: str, value: str) -> str:
    return f"${{{name}}} = '{value}'"


def _has(name: str, value: str) -> str:
    return f"selected(${{{name}}}, '{value}')"


def _write_sheet(sheet: Worksheet, heads: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    # Columns that no row uses are left out.
    heads = [head for head in heads if not rows or any(row.get(head) for row in rows)]
    for at, row in enumerate([dict(zip(heads, heads, strict=True)), *rows], start=1):
        for place, head in enumerate(heads, start=1):
            if text := row.get(head):
                is_ours = head in ("relevant", "type", "calculation")
                cell = sheet.cell(row=at, column=place)
                cell.value = _CONTROL.sub("", text if is_ours else text.replace("${", "$ {"))
                cell.data_type = "s"  # text, even if it begins with "="
