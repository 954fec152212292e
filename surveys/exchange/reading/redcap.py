"""Read a REDCap data dictionary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from surveys.exchange.heads import HEADS
from surveys.exchange.reading import reasons as say
from surveys.exchange.reading.files import Sheet, Unreadable
from surveys.exchange.reading.lines import Line, cut
from surveys.exchange.reading.questions import (
    SHARES_PAGES,
    TYPES_IN_GRIDS,
    Choice,
    Item,
    Parsed,
    build_closed,
    clean_text,
    describe_closed,
    merge_follow_ups,
    read_label,
    read_rule,
    read_score,
)
from surveys.exchange.reading.settings import read_bands, read_flips, read_same_fact, say_yes

_BY_HEAD = {re.sub(r"\W+", "", head).lower(): name for name, head in HEADS.items()}
_BY_HEAD |= {name.replace("_", ""): name for name in HEADS} | {"branchinglogic": "branching_logic"}
_NEEDED = ("field_name", "field_type", "field_label")
_PIPE = re.compile(r"\[[a-z][a-z0-9_]*(?:\([^)]*\))?(?::[\w-]+)?\]")
_WITHOUT_EFFECT = {
    "required_field": say.NO_EFFECT,
    "custom_alignment": "Without effect: Murmur’s pages have one layout.",
    "question_number": "Without effect: Murmur numbers questions.",
}
_CHANGED = {
    "field_note": say.NO_HINTS,
    "matrix_ranking": "Murmur has no ranking. One answer may be chosen in several rows.",
    "field_annotation": "Murmur reads no annotations.",
}
_REFUSED = {
    "notes": say.FREE_TEXT,
    "file": say.NO_FILES,
    "signature": say.NO_FILES,
    "sql": "Its answers are in another database.",
}
_PERSONAL = ("email", "phone", "zipcode", "postalcode", "ssn", "mrn", "vmrn")
_TAG = re.compile(
    r"murmur_(?:(flips|limit)=(\d{1,2})|(declared|refusal)=(yes)"
    r"|(same_fact|follow_up|unit|bands)=(\S+))(?!\S)"
)


def is_dictionary(sheet: Sheet) -> bool:
    return set(_NEEDED) <= set(_read_heads(sheet).values())


def _read_heads(sheet: Sheet) -> dict[str, str]:
    """Map column letters to column names. An unknown column keeps its header.

    If no column is recognized as the field names, column A is used, unless its header is known.
    """
    first = next(iter(sheet.rows.values()), {})
    heads: dict[str, str] = {}
    for letter, head in first.items():
        name = _find_name(head)
        heads[letter] = name if name not in heads.values() else f"{head} (column {letter})"
    if "field_name" not in heads.values() and heads.get("A") not in HEADS:
        heads["A"] = "field_name"
    return heads


def _find_name(head: str) -> str:
    return _BY_HEAD.get(re.sub(r"[\W_]+", "", head).lower(), head)


def read_dictionary(sheet: Sheet, *, name: str) -> Parsed:
    """Read the fields of a dictionary, or raise Unreadable."""
    if not is_dictionary(sheet):
        raise Unreadable(
            "This is neither a workbook (.xlsx, .xls) nor a REDCap data dictionary: a CSV file "
            "with the columns “Variable / Field Name”, “Field Type” and “Field Label”."
        )
    return _Reader(sheet).read(name)


class _Reader:
    def __init__(self, sheet: Sheet) -> None:
        heads = _read_heads(sheet)
        head = next(iter(sheet.rows.values())).get("A", "")
        self.remarks = []
        if heads.get("A") == "field_name" and _find_name(head) != "field_name":
            self.remarks = [f"This column, “{cut(head)}”, is read as the names of the fields."]
        self.lines = [
            Line(
                sheet="",
                row=number,
                cells={heads.get(letter, f"column {letter}"): text for letter, text in row.items()},
            )
            for number, row in list(sheet.rows.items())[1:]
        ]
        self.items: list[Item] = []
        self.follow_ups: dict[int, str] = {}
        self.matrix = ""  # the matrix of the previous line
        self.forms = {line.cells.get("form_name", "") for line in self.lines} - {""}
        self.form = ""

    def read(self, name: str) -> Parsed:
        for number, line in enumerate(self.lines):
            self._read_line(number, line)
        title = name
        if len(self.forms) == 1:
            title = _say_form(next(iter(self.forms)))
        merge_follow_ups(self.items, self.follow_ups, self.lines)
        for line in self.lines:
            line.finish()
        return Parsed(
            lines=self.lines,
            items=self.items,
            settings={"title": title[:200]},
            remarks=self.remarks,
        )

    def _read_line(self, number: int, line: Line) -> None:
        line.name = line.take("field_name")
        self._read_form(number, line)
        header = read_label(line, "section_header", pipes=_PIPE)
        if header and not line.left:
            self._add_text(number, header, "section_header")
        line.text = read_label(line, "field_label", pipes=_PIPE)
        for column, reason in _WITHOUT_EFFECT.items():
            if column in line.cells:
                line.note(column, reason, "same")
        tags = _read_tags(line)
        if tags and not _TAG.sub("", line.cells["field_annotation"]).strip():
            line.take("field_annotation")
        for column, reason in _CHANGED.items():
            if column in line.cells and column not in line.taken:
                line.note(column, reason)
        kind = line.take("field_type").lower()
        if say_yes(line.take("identifier")):
            line.leave(say.PRIDE, "identifier")
        elif "identifier" in line.cells:
            line.note("identifier", say.NO_EFFECT, "same")
        content, choices = self._read_type(kind, line, declared=say_yes(tags.get("declared", "")))
        is_in_matrix = self._read_matrix(line, content or {})
        rule = read_rule(line, "branching_logic")
        if line.left or content is None:
            return
        content["text"] = line.text
        if is_in_matrix and content["type"] in TYPES_IN_GRIDS:
            content["together"] = True
        item = Item(line=number, name=line.name, name_column="field_name", content=content)
        item.moved = [(number, *one) for one in content.pop("moved", ())]
        item.terms, item.steps = content.pop("terms", []), content.pop("steps", [])
        item.terms_column = "select_choices_or_calculations"
        item.rule, item.rule_column = rule, "branching_logic"
        if choices is not None:
            item.answers = choices
        if say_yes(tags.get("refusal", "")):
            content["refusal"] = True
        read_flips(line, "field_annotation", tags.get("flips", ""), item)
        read_same_fact("field_annotation", tags.get("same_fact", ""), item)
        if first := tags.get("follow_up"):
            self.follow_ups[number] = first
        if unit := tags.get("unit"):
            content["unit"] = unquote(unit.replace("_", " "))
        if bands := tags.get("bands"):
            texts = {str(at): unquote(one) for at, one in enumerate(bands.split("|"), start=1)}
            read_bands(line, "field_annotation", texts, item)
        self.items.append(item)

    def _read_matrix(self, line: Line, content: Mapping[str, Any]) -> bool:
        """Return whether the question is in the same matrix as the question before it."""
        before, self.matrix = self.matrix, line.take("matrix_group_name")
        if self.matrix:
            shares = content.get("type") in TYPES_IN_GRIDS
            said = SHARES_PAGES if shares else "Without effect: each question has its own page."
            line.note("matrix_group_name", said, "same")
        return self.matrix != "" and self.matrix == before

    def _read_form(self, number: int, line: Line) -> None:
        form = line.take("form_name")
        if form and form != self.form and len(self.forms) > 1:
            self._add_text(number, _say_form(form), "form_name")
        self.form = form or self.form

    def _add_text(self, number: int, text: str, column: str) -> None:
        content = {"type": "information", "text": text}
        self.items.append(Item(line=number, name="", content=content, heading=column))

    def _read_type(
        self, kind: str, line: Line, *, declared: bool
    ) -> tuple[dict[str, Any] | None, dict[str, str] | None]:
        """Return the question's content, and the names that rules use for its answers."""
        choices = "select_choices_or_calculations"
        if kind in ("yesno", "truefalse"):
            if kind == "truefalse":
                line.note("field_type", "True and False become Yes and No.")
            return {"type": "yes_no"}, {"1": "yes", "0": "no"}
        if kind in ("radio", "dropdown", "checkbox"):
            self._drop_bounds(line, say.CLOSED_ALREADY)
            closed = build_closed(
                self._split_choices(line), several=kind == "checkbox", declared=declared
            )
            content = describe_closed(closed)
            content["moved"] = [(choice.value_column, said) for choice, said in closed.moved]
            if limit := _read_tags(line).get("limit"):
                content["limit"] = int(limit)
            return content, closed.answers
        if kind == "descriptive":
            if line.name:
                line.note("field_name", say.NO_NAME, "same")
            return {"type": "information"}, None
        if kind == "slider" or (kind == "text" and self._is_number(line)):
            return self._read_number(kind, line), None
        if kind == "calc":
            return read_score(line, choices), None
        if kind == "text":
            self._refuse_text(line)
        else:
            reason = _REFUSED.get(kind, say.UNKNOWN_TYPE.format(kind))
            line.leave(reason, "field_type")
        return None, None

    def _split_choices(self, line: Line) -> list[Choice]:
        column = "select_choices_or_calculations"
        written = line.take(column)
        found = []
        for part in re.split(r"\s*[|\n]\s*", written):
            value, comma, text = part.partition(",")
            if not part.strip():
                continue
            if not comma:
                line.note(column, f"“{part}” has no value.")
                text = value
            label = " ".join(clean_text(text).split())
            if label != " ".join(text.split()):
                line.note(column, say.NO_FORMATTING)
            if _PIPE.search(text):
                line.leave(say.PIPED, column)
            found.append(
                Choice(
                    value=value.strip(),
                    text=label or value.strip(),
                    line=line,
                    value_column=column,
                    text_column=column,
                )
            )
        if not found:
            line.leave("It has no answers to choose from.", "field_type")
        return found

    def _is_number(self, line: Line) -> bool:
        kind = line.cells.get("text_validation_type_or_show_slider_number", "").lower()
        return kind.startswith(("integer", "number", "float"))

    def _read_number(self, kind: str, line: Line) -> dict[str, Any] | None:
        bounds = [line.take("text_validation_min"), line.take("text_validation_max")]
        validation = line.take("text_validation_type_or_show_slider_number")
        if kind == "slider":
            bounds = [bounds[0] or "0", bounds[1] or "100"]
            if validation:
                line.note(
                    "text_validation_type_or_show_slider_number", "People type the number.", "same"
                )
            line.note("field_type", "Becomes a number that people type.")
            if "select_choices_or_calculations" in line.cells:
                line.note("select_choices_or_calculations", "Numbers have no labels.")
        elif not validation.lower().startswith("integer"):
            line.note("text_validation_type_or_show_slider_number", say.WHOLE)
        found = [read_whole(text) for text in bounds]
        if None in found:
            missing = "text_validation_min" if found[0] is None else "text_validation_max"
            line.leave(say.NO_BOUNDS, missing)
            return None
        return {"type": "number", "minimum": found[0], "maximum": found[1]}

    def _refuse_text(self, line: Line) -> None:
        column = "text_validation_type_or_show_slider_number"
        validation = line.cells.get(column, "").lower()
        if line is self.lines[0]:
            line.leave(f"A number for each person. {say.PRIDE}", "field_name")
        elif validation.startswith(_PERSONAL):
            line.leave(say.PRIDE, column)
        elif validation.startswith(("date", "time")):
            line.leave(say.NO_DATES, column)
        else:
            line.leave(say.FREE_TEXT, "field_type")

    def _drop_bounds(self, line: Line, reason: str) -> None:
        for column in (
            "text_validation_type_or_show_slider_number",
            "text_validation_min",
            "text_validation_max",
        ):
            if column in line.cells:
                line.note(column, reason, "same")


def _read_tags(line: Line) -> dict[str, str]:
    """Read the annotations that an export of Murmur adds."""
    found = (match.groups() for match in _TAG.finditer(line.cells.get("field_annotation", "")))
    return dict([part for part in groups if part is not None] for groups in found)


def read_whole(text: str) -> int | None:
    found = re.fullmatch(r"(-?\d{1,10})(?:[.,]0+)?", text.strip())
    return int(found[1]) if found else None


def _say_form(name: str) -> str:
    spaced = name.replace("_", " ").strip()
    return spaced[:1].upper() + spaced[1:]
