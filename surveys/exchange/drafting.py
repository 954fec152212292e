"""Turn a file's questions into the definition of a draft, and say what became of each row.

The forms for single questions check every question, so the editor accepts every created question.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from surveys.authoring.answer_options import name_answers
from surveys.authoring.errors import TooManyQuestions
from surveys.authoring.forms import QUESTION_FORMS
from surveys.authoring.forms.question_base import LISTS
from surveys.authoring.pasting.preview import describe_new
from surveys.authoring.rule_text import write_rule
from surveys.authoring.scale_lines import parse_item, parse_option
from surveys.definition.checking import check_definition
from surveys.definition.format import FORMAT, VERSION
from surveys.exchange.names import Names
from surveys.exchange.reading.conditions import Condition
from surveys.exchange.reading.lines import Line, cut, show
from surveys.exchange.reading.questions import Item, Parsed
from surveys.exchange.reading.reasons import NO_RULE
from surveys.exchange.scoring import settle_scores
from surveys.manifest.languages import name_language
from surveys.manifest.names import item_name, rename_question
from surveys.manifest.rules import Rule, rename
from surveys.models import MAX_QUESTIONS, Question

UNUSED = "No question that was taken over uses this answer."
_MOST_ROWS_NAMED = 12
Listed = Literal["taken", "changed", "left"]


@dataclass(kw_only=True)
class Outcome:
    """A row's outcome. A note has a column, the cell's text, a reason, and whether it matters."""

    listed: Listed
    sheet: str = ""
    row: int | None = None
    name: str = ""
    text: str = ""
    became: str = ""
    reason: str = ""
    column: str = ""
    notes: list[tuple[str, str, str, bool]] = field(default_factory=list)
    cells: list[tuple[str, str]] = field(default_factory=list)  # the cells of a left-out row


@dataclass(frozen=True, kw_only=True)
class Drafted:
    definition: dict[str, Any]
    outcomes: list[dict[str, Any]]


def draft(parsed: Parsed, *, singly: bool = False) -> Drafted:
    """Build the definition and the outcomes. Nothing is stored.

    Sums become scores. With `singly`, items stay separate questions.
    """
    settle_scores(parsed, singly=singly)
    return _Drafter(parsed).draft()


class _NoRule(Exception):
    """Says why a condition cannot be a rule."""


class _Drafter:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed, self.lines = parsed, parsed.lines
        self.known: list[Question] = []  # unsaved questions, which have negative keys
        self.found: dict[str, tuple[Item, Question]] = {}  # keyed by names in the file
        self.written: list[dict[str, Any]] = []
        self.names = Names()
        self.became: dict[int, list[str]] = {}  # keyed by line
        self.used: set[int] = set()
        self.repeated = Counter(item.name for item in parsed.items if item.name)
        self.numbers = {True: 0, False: 0}

    def draft(self) -> Drafted:
        for item in self.parsed.items:
            self._add(item)
        for number in self.parsed.answers:
            if number not in self.used:
                self.lines[number].leave(UNUSED)
        definition: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "title": self.parsed.settings["title"],
            "settings": {n: v for n, v in self.parsed.settings.items() if n != "title"},
            "questions": self.written,
        }
        translations = self._list_translations()
        if translations:
            definition["translations"] = translations
        dropped = _drop_invalid(definition)
        outcomes = [self._describe(number, line) for number, line in enumerate(self.lines)]
        outcomes += dropped
        outcomes += [Outcome(listed="left", reason=remark) for remark in self.parsed.remarks]
        outcomes += self._list_missing(translations)
        return Drafted(definition=definition, outcomes=[asdict(one) for one in outcomes])

    def _add(self, item: Item) -> None:
        line = self.lines[item.line]
        if line.left and not item.heading:
            return
        if len(self.known) >= MAX_QUESTIONS:
            self._leave(item, str(TooManyQuestions()))
            return
        question = self._check(item, line)
        if question is None:
            return
        question.pk = -(len(self.known) + 1)
        self.known.append(question)
        self.used |= {item.line, *item.parts}
        if item.name:
            self.found.setdefault(item.name, (item, question))
        if item.second:
            self.found.setdefault(item.second, (item, question))
        answered = question.described.is_answered
        self.numbers[answered] += 1
        says = describe_new(self.numbers[answered], question, self.known)
        self.became.setdefault(item.line, []).append(says)
        for place, member in enumerate(item.members, start=1):
            says = f"Item {place} of Q{self.numbers[True]}"
            self.became.setdefault(member, []).append(says)
        for number, column, said in item.moved:
            self.lines[number].note(column, said, "same")
        self.written.append(self._write(item, question, line))

    def _leave(self, item: Item, reason: str) -> None:
        line = self.lines[item.line]
        if item.heading:
            line.note(item.heading, f"Left out: {reason}")
        else:
            for number in (item.line, *item.members):
                self.lines[number].leave(reason)

    def _check(self, item: Item, line: Line) -> Question | None:
        """Return the question if its form accepts it, perhaps only after leaving out some cells."""
        form_type, content = QUESTION_FORMS[item.content["type"]], dict(item.content)
        if "text" in content and not content["text"]:
            self._leave(item, "It has no text.")
            return None
        usual = dict(form_type().initial)
        rule, same_fact = self._find_rule(item), self._find_fact(item, line)
        columns = {
            "rule": "",
            "limit": next((c for c in line.cells if c.startswith("constraint")), ""),
            "same_fact": item.same_fact_column,
            "unit": "murmur_unit",
            "flips": item.flips_column,
        }
        dropped: dict[str, str] = {}
        while True:
            data = usual | content | {"rule": rule, "same_fact": same_fact, "confirmed": True}
            data |= {name: "\n".join(content.get(name, ())) for name in LISTS}
            data = {
                n: value for n, value in data.items() if value is not None and value is not False
            }
            flips = {"flips": str(content["flips"])} if "flips" in content else {}
            form = form_type(data, questions=self.known, offered=flips)
            if form.is_valid():
                break
            errors = {name: " ".join(map(str, texts)) for name, texts in form.errors.items()}
            if not errors.keys() <= columns.keys() or errors.keys() <= dropped.keys():
                self._leave(item, " ".join(errors.values()))
                return None
            dropped |= errors
            rule = "" if "rule" in dropped else rule
            same_fact = None if "same_fact" in dropped else same_fact
            content = {name: value for name, value in content.items() if name not in dropped}
        for name, error in dropped.items():
            if name == "rule":
                self._note_rule(item, f"Left out: {error}")
            else:
                line.note(columns[name] or name, f"Left out: {error}")
        if same_fact is not None and "same_fact" not in form.fields:
            line.note(item.same_fact_column, "Left out: only scrambled questions can share a fact.")
        return form.candidate()

    def _find_rule(self, item: Item) -> str:
        """Write the rule in authors' notation, or note why this is impossible."""
        if item.rule is None:
            return ""
        try:
            if item.content["type"] == "declared":
                raise _NoRule("Background groups are asked of everyone.")
            return write_rule(self._resolve(item.rule), questions=self.known)
        except _NoRule as problem:
            self._note_rule(item, f"{NO_RULE} {problem}")
            return ""

    def _note_rule(self, item: Item, reason: str) -> None:
        """Note why a rule is left out. For a score, also note this in the rows of its items."""
        elsewhere = "the items’ rule" if item.members else "the group’s rule"
        line, column = self.lines[item.line], item.rule_column
        line.note(column if column in line.cells else elsewhere, reason)
        for line in (self.lines[number] for number in item.members):
            if column in line.cells:
                line.note(column, reason)

    def _resolve(self, condition: Condition) -> Rule:
        word, *parts = condition
        if word == "not":
            return {"not": self._resolve(parts[0])}
        if word in ("all", "any"):
            resolved = [self._resolve(part) for part in parts]
            names = {one.get("name", "") for one in resolved}
            if word == "any" and len(names) == 1 and "" not in names:
                either = {code for one in resolved for code in one["is"]}
                return {"name": names.pop(), "is": sorted(either)}
            return {word: resolved}
        name, value = parts
        item, question = self._refer(name)
        key = str(question.pk)
        answers = item.answers
        if name == item.second:
            answers = {"yes": "yes-yes", "1": "yes-yes", "no": "yes-no", "0": "yes-no"}
        named = name_answers(question)
        codes = [named[called] for called in answers.get(value, "").split() if called in named]
        if not codes:
            raise _NoRule(f"{name} has no answer “{value}”.")
        if not question.described.has_items:
            return {"name": key, "is": sorted(codes)}
        if word == "is":
            raise _NoRule(f"It compares all boxes of {name} at once.")
        return {"name": item_name(key, codes[0]), "is": [1]}

    def _refer(self, name: str) -> tuple[Item, Question]:
        if self.repeated[name] > 1:
            raise _NoRule(f"The name {name} is used in {self.repeated[name]} rows.")
        if name not in self.found:
            raise _NoRule(f"{name} is not an earlier question that was taken over.")
        item, question = self.found[name]
        if not item.answers:
            raise _NoRule(f"{name} has no answers that a rule can name.")
        return item, question

    def _find_fact(self, item: Item, line: Line) -> int | None:
        if not item.same_fact:
            return None
        if item.same_fact not in self.found:
            reason = f"{item.same_fact} is not an earlier question that was taken over."
            line.note(item.same_fact_column, reason)
            return None
        return int(self.found[item.same_fact][1].pk)

    def _write(self, item: Item, question: Question, line: Line) -> dict[str, Any]:
        """Write a question for the definition, and choose its name."""
        written: dict[str, Any] = {}
        if question.described.is_answered:
            written = self.names.choose(str(question.pk), item.name, question.text)
            if item.name and written["name"] != item.name:
                said = f"Becomes {written['name']}."
                if self.repeated[item.name] > 1:
                    said = f"Row {self._first_row(item)} also has this name. {said}"
                line.note(item.name_column, said)
        if question.type == "declared":
            line.note("murmur_declared", "Sent unprotected, as the file says.")
        content = {name: getattr(question, name) for name in Question.CONTENT}
        if content["rule"] is not None:
            content["rule"] = rename(content["rule"], self._name)
        if content["same_fact"] is not None:
            content["same_fact"] = self.names.by_key[str(content["same_fact"])]
        empty = {name: getattr(Question(), name) for name in content}
        kept = ("type", "text", "flips")
        return written | {n: v for n, v in content.items() if n in kept or v != empty[n]}

    def _name(self, name: str) -> str:
        return rename_question(name, self.names.by_key)

    def _first_row(self, item: Item) -> int:
        same = (one for one in self.parsed.items if one.name == item.name and one is not item)
        return self.lines[next(same).line].row

    def _list_texts(self) -> dict[str, int | None]:
        """Map each text to the line where it first occurs. The title has None instead of a line."""
        texts: dict[str, int | None] = {self.parsed.settings["title"]: None}
        if consent := self.parsed.settings.get("consent"):
            texts[consent] = self.parsed.settings_line
        for item in self.parsed.items:
            content = item.content
            if item.line not in self.used:
                continue
            for line, scored in zip(item.members, content.get("scored_items", ()), strict=True):
                texts.setdefault(parse_item(scored).text, line)
            for text in (
                content.get("text", ""),
                content.get("follow_up", ""),
                content.get("low_label", ""),
                content.get("high_label", ""),
                *content.get("options", ()),
                *(parse_option(one).text for one in content.get("scored_options", ())),
            ):
                if text:
                    texts.setdefault(text, item.line)
        return texts

    def _list_translations(self) -> dict[str, dict[str, str]]:
        texts = self._list_texts()
        return {
            language: kept
            for language, words in self.parsed.translations.items()
            if (kept := {text: said for text, said in words.items() if text in texts})
        }

    def _list_missing(self, translations: dict[str, dict[str, str]]) -> list[Outcome]:
        outcomes = []
        for language, words in translations.items():
            missing = [line for text, line in self._list_texts().items() if text not in words]
            if missing:
                rows = sorted({self.lines[line].row for line in missing if line is not None})
                texts = "1 text" if len(missing) == 1 else f"{len(missing)} texts"
                said = "row" if len(rows) == 1 else "rows"
                named = ", ".join(map(str, rows[:_MOST_ROWS_NAMED]))
                more = " and more" if len(rows) > _MOST_ROWS_NAMED else ""
                places = ["the title"] * (None in missing)
                places += [f"{said} {named}{more}"] * bool(rows)
                reason = f"{name_language(language)} lacks {texts}: {' and '.join(places)}."
                outcomes.append(Outcome(listed="changed", reason=reason))
        return outcomes

    def _describe(self, number: int, line: Line) -> Outcome:
        matters = any(kind == "change" for _, _, kind in line.notes)
        listed: Listed = "left" if line.left else "changed" if matters else "taken"
        return Outcome(
            listed=listed,
            sheet=line.sheet,
            row=line.row,
            name=cut(line.name),
            text=cut(line.text),
            became="; ".join(self.became.get(number, ())),
            reason=show(line.left),
            column=line.column,
            notes=[
                (column, cut(line.cells.get(column, "")), show(reason), kind == "change")
                for column, reason, kind in line.notes
            ],
            cells=[(c, cut(t)) for c, t in line.cells.items()] if line.left else [],
        )


def _drop_invalid(definition: dict[str, Any]) -> list[Outcome]:
    """Leave out the settings and translations that a definition cannot have.

    The forms have already checked the questions.
    """
    dropped = []
    while problems := [
        (problem.text, problem.pointer.split("/")[1:])
        for problem in check_definition(definition).problems
        if problem.pointer.startswith(("/settings/", "/translations/"))
    ]:
        for text, path in problems:
            *above, last = [part.replace("~1", "/").replace("~0", "~") for part in path]
            part = definition
            for name in above:
                part = part[name]
            if last in part:
                value = cut(str(part.pop(last)))
                dropped.append(Outcome(listed="left", text=value, reason=f"{text} “{value}”"))
    return dropped
