"""Read pasted text as questions of a draft, with the checks of the forms for single questions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from surveys.authoring.answer_options import call_all, name_answers, number_answered
from surveys.authoring.errors import TooManyQuestions
from surveys.authoring.forms import QUESTION_FORMS
from surveys.authoring.pasting.lines import name_label
from surveys.authoring.pasting.parsing import PastedQuestion, parse_pasted
from surveys.authoring.pasting.preview import Outcome, Row, build_rows
from surveys.authoring.pasting.wordings import read_yes_or_no
from surveys.authoring.stamps import stamp_paste
from surveys.manifest.plain_text import fold
from surveys.models import MAX_QUESTIONS, Question, QuestionContent, Survey

# Questions that agree in these fields are identical, whatever their strength.
_COMPARED = sorted(set(Question.CONTENT) - {"flips", "refusal", "same_fact", "together", "name"})
_REFERENCE = re.compile(r"\bQ(\d{1,3}[a-z]?)\b", re.IGNORECASE)
_ONE_ANSWER = re.compile(r"Q(\d{1,3}[a-z]?) (is not|is|=|has) (.+)", re.IGNORECASE)
_LINE_OF_LIST = re.compile(r"\b([Ll])ine (?=\d)")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The result of reading a pasted text. `contents` maps keys to the questions to create."""

    contents: Mapping[str, QuestionContent]
    rows: Sequence[Row]
    stamp: str

    @property
    def left_out(self) -> int:
        return sum(row.problem != "" for row in self.rows)

    @property
    def assumed(self) -> int:
        """The number of questions that are yes/no questions only because no answers are listed."""
        return sum(row.is_assumed for row in self.rows)


def read_paste(text: str, *, survey: Survey) -> Reading:
    """Read pasted text as new questions for the end of a draft. Nothing is stored."""
    pasted, stored = parse_pasted(text), list(survey.questions.all())
    reader = _Reader(pasted.questions, stored=stored, may_decline=survey.may_decline)
    outcomes = [reader.read(place) for place in range(len(pasted.questions))]
    return Reading(
        contents=reader.contents,
        rows=build_rows(pasted, outcomes=outcomes, questions=reader.known),
        stamp=stamp_paste(text, questions=stored, contents=reader.contents.values()),
    )


class _RuleLeftOut(Exception):
    """Says why a rule cannot be created."""


class _Reader:
    """Turns pasted questions into unsaved `Question` objects, in order, with negative keys."""

    def __init__(
        self, pasted: Sequence[PastedQuestion], *, stored: Sequence[Question], may_decline: bool
    ) -> None:
        self.pasted, self.known, self.may_decline = pasted, list(stored), may_decline
        self.contents: dict[str, QuestionContent] = {}
        self._found: dict[int, Question] = {}  # maps positions in the text to questions
        self._stored = len(self.known)
        self._by_words = {_fold_all(question): question for question in reversed(self.known)}
        self._usual: dict[str, dict[str, Any]] = {}
        self._labels = self._list_labels()

    def _list_labels(self) -> dict[str, list[int]]:
        """Map question numbers in the text to places. If it has none, count questions from 1."""
        asked = [place for place, one in enumerate(self.pasted) if not one.is_text]
        has_labels = any(one.label is not None for one in self.pasted)
        labels: dict[str, list[int]] = {}
        for number, place in enumerate(asked, start=1):
            label = self.pasted[place].label if has_labels else str(number)
            if label is not None:
                labels.setdefault(label, []).append(place)
        return labels

    def read(self, place: int) -> Outcome:
        pasted = self.pasted[place]
        if pasted.problem:
            return Outcome(problem=pasted.problem)
        if len(self.known) >= MAX_QUESTIONS:
            return Outcome(problem=str(TooManyQuestions()))
        note = ""
        try:
            rule = self._translate_rule(pasted.condition, place) if pasted.condition else ""
        except _RuleLeftOut as error:
            rule, note = "", f"The rule is left out: {error}"
        question, errors = self._check(pasted, rule)
        if errors.keys() == {"rule"}:
            note = f"The rule is left out: {' '.join(errors['rule'])}"
            question, errors = self._check(pasted, "")
        if question is None:
            found = " ".join(text for texts in errors.values() for text in texts)
            return Outcome(problem=_LINE_OF_LIST.sub(_say_answer, found))
        return self._add(place, question, note)

    def _check(
        self, pasted: PastedQuestion, rule: str
    ) -> tuple[Question | None, dict[str, list[str]]]:
        """Return the question if its form is valid, or the form's errors."""
        form_type = QUESTION_FORMS[pasted.type]
        if pasted.type not in self._usual:
            form = form_type(questions=self.known[: self._stored], may_decline=self.may_decline)
            self._usual[pasted.type] = dict(form.initial)
        usual, span = self._usual[pasted.type], pasted.found_range
        data = {
            "text": pasted.text,
            "options": "\n".join(pasted.options),
            "flips": usual.get("flips"),
            "refusal": usual.get("refusal") or pasted.refusal,
            "limit": pasted.several and pasted.several.limit,
            "rule": rule,
            "together": pasted.together,
        }
        if span is not None:
            data |= {"minimum": span.low, "maximum": span.high, "unit": span.unit}
            data |= {"low_label": span.low_label, "high_label": span.high_label}
        form = form_type(data, questions=self.known)
        if form.is_valid():
            return form.candidate(), {}
        return None, {name: list(map(str, texts)) for name, texts in form.errors.items()}

    def _add(self, place: int, question: Question, note: str) -> Outcome:
        words = _fold_all(question)
        if words in self._by_words:
            known = self._found[place] = self._by_words[words]
            where = "The draft" if known in self.known[: self._stored] else "The text"
            return Outcome(
                problem=f"{where} already has this, as {call_all(self.known)[str(known.pk)]}."
            )
        content = {name: getattr(question, name) for name in Question.CONTENT}
        question.pk = -(place + 1)
        self.contents[str(question.pk)] = cast(QuestionContent, content)
        self.known.append(question)
        self._found[place] = question
        if question.described.is_answered:  # a heading may appear several times
            self._by_words[words] = question
        return Outcome(question=question, note=note)

    def _translate_rule(self, condition: str, place: int) -> str:
        """Write a pasted rule with the draft's question numbers and names of answers."""
        labels = [name_label(match[1]) for match in _REFERENCE.finditer(condition)]
        if len(labels) > 1:  # a hundred such rules could keep a server busy for a minute
            raise _RuleLeftOut(
                "a pasted rule can have only one condition. Edit the question to add the rule."
            )
        found = {label: self._refer(label, place) for label in labels}
        if one := _ONE_ANSWER.fullmatch(condition):
            words = _name_answer(one[3], found[name_label(one[1])])
            condition = f"Q{one[1]} {one[2]} {words}"
        numbers = {str(question.pk): number for number, question in number_answered(self.known)}
        return _REFERENCE.sub(
            lambda match: f"Q{numbers[str(found[name_label(match[1])].pk)]}", condition
        )

    def _refer(self, label: str, place: int) -> Question:
        places = self._labels.get(label, [])
        earlier = [one for one in places if one < place]
        if not places:
            raise _RuleLeftOut(f"the text has no question {label}.")
        if not earlier:
            raise _RuleLeftOut(f"question {label} of the text does not come before this question.")
        if len(earlier) > 1:
            raise _RuleLeftOut(f"several questions in the text are numbered {label}.")
        if earlier[0] not in self._found:
            raise _RuleLeftOut(f"question {label} of the text is left out.")
        return self._found[earlier[0]]


def _name_answer(words: str, question: Question) -> str:
    """Return the name that rules use for the answer with these words, or the words themselves."""
    if question.options:
        names = list(name_answers(question))
        by_words = dict(zip(map(fold, question.options), names, strict=True))
        return by_words.get(fold(words.strip("“”\"'")), words)
    return read_yes_or_no(words) or words


def _fold_all(question: Question) -> str:
    """Reduce a question to a string that is equal for identical questions."""
    return repr([_fold(getattr(question, name)) for name in _COMPARED])


def _fold(value: object) -> object:
    if isinstance(value, list):
        return [fold(text) for text in value]
    return fold(value) if isinstance(value, str) else value


def _say_answer(found: re.Match[str]) -> str:
    """Replace "line", the form's word for an option, with "answer"."""
    return "Answer " if found[1] == "L" else "answer "
