"""Read an XLSForm: its sheets, groups and choices, and what each type of row becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyxform import aliases, constants
from pyxform.parsing.sheet_headers import to_snake_case
from pyxform.xls2json import RE_BEGIN_CONTROL, RE_END_CONTROL, RE_SELECT

from surveys.exchange.reading import reasons as say
from surveys.exchange.reading.conditions import Condition, read_limit
from surveys.exchange.reading.files import File, Sheet, Unreadable
from surveys.exchange.reading.languages import Languages, read_languages
from surveys.exchange.reading.lines import Line
from surveys.exchange.reading.questions import (
    SHARES_PAGES,
    TYPES_IN_GRIDS,
    Choice,
    Item,
    Parsed,
    Words,
    build_closed,
    clean_text,
    describe_closed,
    join_rules,
    merge_follow_ups,
    read_label,
    read_rule,
    read_score,
)
from surveys.exchange.reading.settings import read_bands, read_flips, read_same_fact, say_yes
from surveys.exchange.reading.tables import Table, read_table
from surveys.exchange.reading.xlsform_rows import note_columns, read_free_text, read_number

_READ = (constants.SURVEY, constants.CHOICES, constants.SETTINGS)
_NUMBERS = ("integer", "int", "decimal", "range")
_OURS = (
    *("murmur_flips", "murmur_declared", "murmur_same_fact", "murmur_follow_up"),
    *("murmur_refusal", "murmur_unit", "murmur_bands"),
)
_NO_NAME = "Groups have no name."
_SURVEY_HEADS = {"type", "name", "label", "hint", "choice_filter", "parameters", "trigger", *_OURS}
_CHOICE_HEADS = {"list name", "name", "label"}


@dataclass(kw_only=True)
class _Group:
    rule: Condition | None
    repeats: bool
    line: Line
    is_table: bool  # whether the questions in the group share pages
    has_questions: bool = False


def read_xlsform(file: File, *, name: str) -> Parsed:
    """Read the sheets of a workbook, or raise Unreadable."""
    by_name: dict[str, Sheet] = {}
    others: list[Sheet] = []
    for sheet in file.sheets:
        key = sheet.name.strip().lower()
        if key in _READ and key not in by_name:
            by_name[key] = sheet
        else:
            others.append(sheet)
    if constants.SURVEY not in by_name:
        if len(others) != 1:
            raise Unreadable("The workbook has no sheet “survey”, so it is not an XLSForm.")
        by_name[constants.SURVEY] = others.pop()
    return _Reader(by_name, others).read(name, has_macros=file.has_macros)


class _Reader:
    def __init__(self, sheets: dict[str, Sheet], others: Sequence[Sheet]) -> None:
        self.others = others
        self.survey = read_table(sheets[constants.SURVEY], _SURVEY_HEADS, aliases.survey_header)
        self.sheet = read_table(sheets.get(constants.CHOICES), _CHOICE_HEADS, aliases.list_header)
        self.settings = read_table(
            sheets.get(constants.SETTINGS), {"default_language"}, aliases.settings_header
        )
        if not self.survey.find("type"):
            raise Unreadable("The sheet “survey” has no column “type”, so it is not an XLSForm.")
        self.lines = [*self.survey.lines, *self.sheet.lines, *self.settings.lines]
        self.places = {id(line): place for place, line in enumerate(self.lines)}
        self.items: list[Item] = []
        self.follow_ups: dict[int, str] = {}
        self.translations: dict[str, dict[str, str]] = {}
        self.groups: list[_Group] = []
        self.consent: list[tuple[Line, str, Words]] = []

    def read(self, name: str, *, has_macros: bool) -> Parsed:
        settings = self._read_settings(name)
        default = settings.pop("default_language", "")
        labels = [one.language for one in self.survey.columns if one.language is not None]
        self.languages: Languages = read_languages(labels, default=default)
        settings["language"] = self.languages.own
        self.lists: dict[str, list[Choice]] = self._read_lists()
        for line in self.survey.lines:
            self._read_line(line)
        for group in self.groups:
            group.line.note(self.survey.find("type"), "This group is never closed.", "same")
        if self.consent:
            settings["consent"] = self._join_consent()
        merge_follow_ups(self.items, self.follow_ups, self.lines)
        remarks = list(self.languages.remarks)
        if has_macros:
            remarks.append("Murmur never runs macros.")
        for sheet in self.others:
            self._leave_sheet(sheet)
        for line in self.lines:
            line.finish()
        return Parsed(
            lines=self.lines,
            settings_line=self.places[id(self.consent[0][0])] if self.consent else 0,
            answers=[self.places[id(line)] for line in self.sheet.lines],
            items=self.items,
            settings=settings,
            translations=self.translations,
            remarks=remarks,
        )

    def _leave_sheet(self, sheet: Sheet) -> None:
        hidden = " hidden" if sheet.is_hidden else ""
        for number, row in sheet.rows.items():
            line = Line(
                sheet=sheet.name, row=number, cells={f"column {c}": t for c, t in row.items()}
            )
            line.leave(f"Murmur does not read the{hidden} sheet “{sheet.name}”.")
            self.lines.append(line)

    def _read_settings(self, name: str) -> dict[str, str]:
        settings = {"title": name}
        for number, line in enumerate(self.settings.lines):
            for column in self.settings.columns:
                text = line.cells.get(column.head, "")
                if not text:
                    continue
                if number == 0 and column.tokens == ("title",):
                    title = " ".join(clean_text(line.take(column.head)).split())
                    settings["title"] = title[:200]
                    if title[:200] != text:
                        line.note(column.head, "Shortened, or formatting is left out.")
                elif number == 0 and column.tokens == ("default_language",):
                    settings["default_language"] = line.take(column.head)
                    line.note(column.head, "Sets the survey’s own language.", "same")
                elif column.tokens[0] in ("id_string", "version"):
                    line.note(column.head, "Murmur names surveys and versions.", "same")
                else:
                    line.note(column.head, "Murmur has no such setting.")
        return settings

    def _read_lists(self) -> dict[str, list[Choice]]:
        table = self.sheet
        found: dict[str, list[Choice]] = {}
        list_head = table.find("list name")
        value_head = table.find("name")
        for line in table.lines:
            name = line.take(list_head)
            line.name = line.cells.get(value_head, "")
            text, column, words = self._read_texts(line, table)
            line.text = text
            for one in table.columns:
                if one.tokens[0] == "media" and one.head in line.cells:
                    line.note(one.head, say.LACKING[("media",)])
            if not name:
                line.leave("It names no list.")
            elif not line.name:
                line.leave("The answer has no name.")
            else:
                line.take(value_head)
                found.setdefault(name, []).append(
                    Choice(
                        value=line.name,
                        text=" ".join(text.split()) or line.name,
                        line=line,
                        value_column=value_head,
                        text_column=column or value_head,
                        words=words,
                    )
                )
        return found

    def _read_texts(self, line: Line, table: Table) -> tuple[str, str, Words]:
        """Take the text in the survey's language, with its column, and texts in other languages."""
        own, own_column = "", ""
        words: dict[str, tuple[str, str]] = {}
        for column in table.columns:
            if column.language is None or column.head not in line.cells:
                continue
            language = self.languages.find(column.language)
            if not language:
                reason = f"Murmur’s pages do not exist in {column.language}."
                line.note(column.head, reason)
                continue
            text = read_label(line, column.head)
            is_own = language == self.languages.own
            known = own if is_own else words.get(language, ("", ""))[0]
            if known and known != text:
                line.note(column.head, "Left out: another column has this language.")
            elif not known and is_own:
                own, own_column = text, column.head
            elif not known:
                words[language] = (text, column.head)
        if not own and words:
            own, own_column = next(iter(words.values()))
            line.note(own_column, f"Also used for the missing text in “{self.languages.own}”.")
        return own, own_column, words

    def _read_line(self, line: Line) -> None:
        type_head = self.survey.find("type")
        kind = " ".join(line.take(type_head).split())
        name_head = self.survey.find("name")
        line.name = line.take(name_head)
        if not kind:
            line.leave("It has no type." if line.cells else "")
            return
        if begins := RE_BEGIN_CONTROL.match(kind.lower()):
            self._begin(line, begins["type"], name_head)
            return
        if RE_END_CONTROL.match(kind.lower()):
            if not self.groups:
                line.leave("It closes no group.", type_head)
            else:
                self.groups.pop()
            if line.name:
                line.note(name_head, _NO_NAME, "same")
            return
        line.text, _, words = self._read_texts(line, self.survey)
        if any(group.repeats for group in self.groups):
            line.leave("It is in a repeat. Murmur asks each question once.", type_head)
        content, answers, parts = self._read_type(kind, line, words)
        note_columns(line, self.survey, is_closed=answers is not None)
        own_rule = read_rule(line, self.survey.find("bind", "relevant"))
        if line.left or content is None:
            return
        content["text"] = line.text
        if self.groups and self.groups[-1].is_table:
            if self.groups[-1].has_questions and content["type"] in TYPES_IN_GRIDS:
                content["together"] = True
            self.groups[-1].has_questions |= content["type"] != "score"
        rule = join_rules(*(group.rule for group in self.groups), own_rule)
        if content["type"] == "information":
            if line.name:
                line.note(name_head, say.NO_NAME, "same")
            line.name = ""
        item = Item(
            line=self.places[id(line)],
            name=line.name,
            name_column=name_head,
            content=content,
            parts=parts,
            answers=answers or {},
            moved=content.pop("moved", []),
            terms=content.pop("terms", []),
            steps=content.pop("steps", []),
            terms_column=self.survey.find("bind", "calculate"),
            rule=rule,
            rule_column=self.survey.find("bind", "relevant"),
        )
        self._read_ours(line, item)
        self._translate(line, line.text, words)
        self.items.append(item)

    def _begin(self, line: Line, kind: str, name_head: str) -> None:
        repeats = aliases.control.get(kind, kind) != constants.GROUP
        text, _, words = self._read_texts(line, self.survey)
        line.text = text
        appearance = self.survey.find("control", "appearance")
        is_table = "table-list" in line.cells.get(appearance, "").split()
        if is_table:
            line.take(appearance)
            line.note(appearance, SHARES_PAGES, "same")
        note_columns(line, self.survey, is_closed=False)
        rule = read_rule(line, self.survey.find("bind", "relevant"))
        if line.name:
            line.note(name_head, _NO_NAME, "same")
        outer = any(group.repeats for group in self.groups)
        self.groups.append(_Group(rule=rule, repeats=repeats, line=line, is_table=is_table))
        if repeats or outer:
            line.leave("Murmur asks each question once, so it has no repeats.")
        elif text and not line.left:
            item = Item(
                line=self.places[id(line)],
                name="",
                content={"type": "information", "text": text},
                rule=join_rules(*(group.rule for group in self.groups)),
                rule_column=self.survey.find("bind", "relevant"),
            )
            self._translate(line, text, words)
            self.items.append(item)

    def _read_type(
        self, kind: str, line: Line, words: Words
    ) -> tuple[dict[str, Any] | None, dict[str, str] | None, list[int]]:
        """Return the content, the names of answers in rules, and the lines of the answers."""
        type_head = self.survey.find("type")
        plain = to_snake_case(kind).replace("-", "_")
        if (filtered := self.survey.find("choice_filter")) in line.cells and filtered:
            line.leave("Its answers depend on earlier ones.", filtered)
        if plain in say.PERSONAL:
            line.leave(say.PRIDE, type_head)
        elif found := RE_SELECT.match(kind):
            return self._read_select(found, line)
        elif plain in _NUMBERS:
            return read_number(plain, line, self.survey), None, []
        elif plain in ("note", "add_note_prompt"):
            return {"type": "information"}, None, []
        elif plain in ("acknowledge", "trigger"):
            self._add_consent(line, words)
        elif plain == "calculate":
            return read_score(line, self.survey.find("bind", "calculate")), None, []
        elif plain in ("text", "string") and (found := read_free_text(line, self.survey)):
            return found, {text: str(at) for at, text in enumerate(found["options"], 1)}, []
        else:
            reason = say.REFUSED.get(plain, say.UNKNOWN_TYPE.format(kind[:60]))
            line.leave(reason, type_head)
        return None, None, []

    def _read_select(
        self, found: re.Match[str], line: Line
    ) -> tuple[dict[str, Any] | None, dict[str, str] | None, list[int]]:
        type_head = self.survey.find("type")
        command = aliases.select[found["select_command"]]
        external = command == constants.SELECT_ONE_EXTERNAL
        if external or found["select_command"] in aliases.select_from_file:
            line.leave("Its answers are in another file.", type_head)
        elif command == constants.RANK:
            line.leave(say.REFUSED["rank"], type_head)
        elif found["list_name"] not in self.lists:
            line.leave(f"The sheet “choices” has no list “{found['list_name']}”.", type_head)
        if line.left:
            return None, None, []
        if found["specify_other"]:
            line.note(type_head, say.OTHER_TEXT)
        choices = self.lists[found["list_name"]]
        several = command == constants.SELECT_ALL_THAT_APPLY
        declared = say_yes(line.cells.get("murmur_declared", ""))
        if any(choice.line.left for choice in choices):
            line.leave("One of its answers shows an earlier answer.", type_head)
        closed = build_closed(choices, several=several, declared=declared)
        content = describe_closed(closed)
        content["moved"] = [
            (self.places[id(choice.line)], choice.value_column, said)
            for choice, said in closed.moved
        ]
        constraint = self.survey.find("bind", "constraint")
        limit = read_limit(line.cells.get(constraint, "")) if several else None
        if limit is not None:
            line.take(constraint)
            content["limit"] = limit
        shown = {*closed.options, closed.low_label, closed.high_label}
        for choice in choices:
            if choice.text in shown:
                self._translate(choice.line, choice.text, choice.words)
        return content, closed.answers, [self.places[id(choice.line)] for choice in choices]

    def _translate(self, line: Line, text: str, words: Words) -> None:
        for language, (translated, column) in words.items():
            known = self.translations.setdefault(language, {})
            if text and known.setdefault(text, translated) != translated:
                line.note(column, f"“{known[text]}” stays: a text can have only one translation.")

    def _join_consent(self) -> str:
        """Join the texts that people agree to, with the languages that translate all of them."""
        joined = "\n\n".join(text for _, text, _ in self.consent)
        for language in {language for _, _, words in self.consent for language in words}:
            parts = [words.get(language) for _, _, words in self.consent]
            for (line, _, _), part in zip(self.consent, parts, strict=True):
                if part and None in parts:
                    line.note(part[1], "Left out: other parts of the agreement lack a translation.")
            if None not in parts:
                said = "\n\n".join(part[0] for part in parts if part)
                self.translations.setdefault(language, {})[joined] = said
        return joined

    def _add_consent(self, line: Line, words: Words) -> None:
        type_head = self.survey.find("type")
        if line.text and not line.left:
            self.consent.append((line, line.text, words))
            line.note(type_head, "Becomes what people agree to after “Start”.")
            if line.name:
                line.note(self.survey.find("name"), "The agreement has no name.", "same")
            relevant = self.survey.find("bind", "relevant")
            if relevant in line.cells or any(group.rule for group in self.groups):
                line.note(relevant or type_head, "Everyone is asked to agree.")

    def _read_ours(self, line: Line, item: Item) -> None:
        read_flips(line, "murmur_flips", line.take("murmur_flips"), item)
        read_same_fact("murmur_same_fact", line.take("murmur_same_fact"), item)
        declared = line.take("murmur_declared")
        if declared and item.content["type"] != "declared":
            line.note("murmur_declared", f"“{declared}” has no effect here.")
        if first := line.take("murmur_follow_up"):
            self.follow_ups[item.line] = first
        if refusal := line.take("murmur_refusal"):
            item.content["refusal"] = say_yes(refusal)
            if not say_yes(refusal):
                line.note("murmur_refusal", "Only “yes” offers “prefer not to say”.")
        if unit := line.take("murmur_unit"):
            item.content["unit"] = unit
        if name := line.take("murmur_bands"):
            bands = self.lists.get(name, [])
            texts = {choice.value: choice.text for choice in bands}
            if read_bands(line, "murmur_bands", texts, item):
                item.parts += [self.places[id(choice.line)] for choice in bands]
                for choice in bands:
                    self._translate(choice.line, choice.text, choice.words)
