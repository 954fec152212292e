"""Say what each line of a pasted text became, or why it was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surveys.authoring.answer_options import number_all
from surveys.authoring.pasting.details import mentions_routing
from surveys.authoring.pasting.parsing import Pasted, PastedLine, PastedQuestion
from surveys.authoring.rule_text import write_rule
from surveys.form_fields import write_number
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import REFUSED_TEXT
from surveys.models import Question

_HEADS = "Column headings"
NONE_LEFT_OUT = "“None of these” is offered anyway."
ASSUMED = "No answers found: asked as yes or no."
ROUTING = "Respondents would read this routing. Write it as “(if Q1 is yes)” after the question."


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The question made from a pasted question, or the problem that prevents this.

    A note says which part of the question was left out.
    """

    question: Question | None = None
    note: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """The lines of one question, or one other line. `lines` are line numbers, such as "3–6, 8"."""

    lines: str
    text: str
    answers: tuple[str, ...] = ()
    became: str = ""
    note: str = ""
    problem: str = ""
    is_assumed: bool = False


def build_rows(
    pasted: Pasted, *, outcomes: Sequence[Outcome], questions: Sequence[Question]
) -> list[Row]:
    """Build the rows in the order of the text. `questions` are the draft's and the new ones."""
    grouped: dict[tuple[str, int], list[PastedLine]] = {}
    for line in pasted.lines:
        key = ("line", line.number) if line.question is None else ("question", line.question)
        grouped.setdefault(key, []).append(line)
    calls = {
        str(question.pk): _call(number, question) for number, question in number_all(questions)
    }
    rows = []
    for lines in grouped.values():
        first, numbers = lines[0], _join_numbers([line.number for line in lines])
        if first.question is None:
            became = "" if first.problem else _HEADS
            rows.append(Row(lines=numbers, text=first.text, became=became, problem=first.problem))
            continue
        outcome, asked = outcomes[first.question], pasted.questions[first.question]
        became, answers = "", asked.answers
        if outcome.question is not None:
            answers = outcome.question.options  # answers of other types are in the description
            called = calls[str(outcome.question.pk)]
            became = f"{called}{_describe(outcome.question, questions)}"
        rows.append(
            Row(
                lines=numbers,
                text=asked.text or first.text,
                answers=tuple(answers),
                became=became,
                note=_join_notes(outcome, asked),
                problem=outcome.problem,
                is_assumed=outcome.question is not None and asked.is_assumed,
            )
        )
    return rows


def _join_notes(outcome: Outcome, asked: PastedQuestion) -> str:
    if outcome.question is None:
        return ""
    shown = (outcome.question.text, *outcome.question.options)
    notes = {
        outcome.note: True,
        NONE_LEFT_OUT: asked.none_left_out,
        ASSUMED: asked.is_assumed,
        ROUTING: any(map(mentions_routing, shown)),
    }
    return " ".join(note for note, applies in notes.items() if note and applies)


def _call(number: int, question: Question) -> str:
    return (
        f"Q{number}, {QuestionType(question.type).label.lower()}"
        if question.described.is_answered
        else f"Text {number}, to read"
    )


def describe_new(number: int, question: Question, questions: Sequence[Question]) -> str:
    """Describe a new question in one line. `questions` are all questions of the draft."""
    return f"{_call(number, question)}{_describe(question, questions)}"


def _join_numbers(numbers: Sequence[int]) -> str:
    """Write 3, 4, 5, 8 as 3–5, 8."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}–{span[-1]}" for span in spans)


def _describe(question: Question, questions: Sequence[Question]) -> str:
    """Describe the details that were understood, such as the range, the limit and the rule."""
    parts = []
    if question.minimum is not None and question.maximum is not None:
        low, high = (
            f"{write_number(number)}{f' ({label})' if label else ''}"
            for number, label in (
                (question.minimum, question.low_label),
                (question.maximum, question.high_label),
            )
        )
        parts.append(f": {low} to {high}{f' {question.unit}' if question.unit else ''}")
    if question.follow_up:
        parts.append(f": “{question.follow_up}”")
    if question.limit is not None:
        parts.append(f", at most {question.limit}")
    if question.refusal:
        parts.append(f", with “{REFUSED_TEXT}”")
    if question.together:
        parts.append(", asked together with the question before")
    if question.rule is not None:
        parts.append(f", only if {write_rule(question.rule, questions=questions)}")
    return "".join(parts)
