"""Write a definition as a REDCap data dictionary."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from surveys.downloads import FORMULA
from surveys.exchange.heads import HEADS
from surveys.exchange.writing.rows import Answer, Row, Rows, build_rows, write_rule
from surveys.manifest.question_types import QuestionType

_TYPES = {
    QuestionType.NUMBER: "text",
    QuestionType.INFORMATION: "descriptive",
    QuestionType.SEVERAL: "checkbox",
}
_YES_NO = {"yes": "1", "no": "0"}
_RESERVED = re.compile(r"[%|;\s]")
_RESERVED_IN_UNITS = re.compile(r"(?! )[%;\s]")
_REFERENCE = re.compile(r"\$\{(\w+)\}")


def write_dictionary(definition: Mapping[str, Any]) -> bytes:
    """Return the CSV file with the byte order mark that spreadsheet programs need."""
    rows = build_rows(definition, in_small_letters=True)
    form = re.sub(r"[^a-z0-9]+", "_", definition["title"].lower()).strip("_")[:50] or "survey"
    fields: list[dict[str, str]] = [
        {
            "field_name": "record_id",
            "form_name": form,
            "field_type": "text",
            "field_label": "Record",
        }
    ]
    for row in rows.rows:
        cells = {"field_name": row.name, "form_name": form, "field_label": row.text}
        fields.append(cells | _describe(row, rows))
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(HEADS.values())
    for cells in fields:
        writer.writerow([_as_text(cells.get(head, "")) for head in HEADS])
    return written.getvalue().encode("utf-8-sig")


def _as_text(text: str) -> str:
    """Put a space before text that spreadsheets would run as a formula.

    REDCap drops a leading space.
    """
    return FORMULA.sub(" ", text)


def _describe(row: Row, rows: Rows) -> dict[str, str]:
    question, cells, tags = row.question, dict[str, str](), dict[str, str]()
    if row.grid:
        cells["matrix_group_name"] = row.grid
    # A matrix has no fields of the type yesno.
    if row.type == QuestionType.YES_NO and len(row.answers) == 2 and not row.grid:
        cells["field_type"] = "yesno"
    else:
        cells["field_type"] = _TYPES.get(row.type, "radio")
        cells["select_choices_or_calculations"] = " | ".join(map(_write_answer, row.answers))
    if row.follows:
        cells["branching_logic"] = f"[{row.follows}] = '1'"
        return cells | {"field_annotation": f"murmur_follow_up={row.follows}"}
    if rule := question.get("rule"):
        cells["branching_logic"] = write_rule(rule, rows, equals=_equals, has=_has)
    if row.formula:
        cells["field_type"] = "calc"
        cells["select_choices_or_calculations"] = _REFERENCE.sub(r"[\1]", row.formula)
        if row.bands:
            tags["bands"] = "|".join(_RESERVED.sub(_escape, one.text) for one in row.bands)
    if row.is_unsent:
        return cells
    if row.type == QuestionType.NUMBER:
        cells["text_validation_type_or_show_slider_number"] = "integer"
        cells["text_validation_min"] = str(question["minimum"])
        cells["text_validation_max"] = str(question["maximum"])
    if row.type == QuestionType.DECLARED:
        tags["declared"] = "yes"
    elif row.type != QuestionType.INFORMATION:
        tags["flips"] = str(question["flips"])
    if limit := question.get("limit"):
        tags["limit"] = str(limit)
    if same := question.get("same_fact"):
        tags["same_fact"] = rows.names[same]
    if question.get("refusal") and not row.answers:
        tags["refusal"] = "yes"
    if unit := question.get("unit"):
        # “_” stands for a space, and “quote” does not escape “_”.
        escaped = _RESERVED_IN_UNITS.sub(_escape, unit).replace("_", "%5F")
        tags["unit"] = escaped.replace(" ", "_")
    annotation = " ".join(f"murmur_{name}={value}" for name, value in tags.items())
    return cells | {"field_annotation": annotation}


def _escape(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


def _write_answer(answer: Answer) -> str:
    value = _YES_NO.get(answer.value, answer.value)
    return f"{value}, {' '.join(answer.text.replace('|', '/').split())}"


def _equals(name: str, value: str) -> str:
    return f"[{name}] = '{_YES_NO.get(value, value)}'"


def _has(name: str, value: str) -> str:
    return f"[{name}({value})] = '1'"
