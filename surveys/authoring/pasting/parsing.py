"""Parse pasted text as questions. Every line that is not empty is accounted for exactly once.

A line starts a question if it has a number or ends with a question mark, or if it is a row of a
spreadsheet. Lines that begin with a bullet, a letter or a tab are answers to the question above.
Other lines are text to read, unless the question above still lacks answers. Nothing else is
guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from surveys.authoring.pasting.details import (
    Condition,
    Detail,
    Range,
    Several,
    Together,
    asks,
    find_detail,
    find_range,
    mentions_a_question,
    split_details,
)
from surveys.authoring.pasting.lines import (
    Mark,
    join_rows,
    split_cells,
    split_lines,
    split_mark,
)
from surveys.authoring.pasting.wordings import (
    is_none,
    is_refusal,
    is_yes_or_no,
    read_yes_or_no,
)
from surveys.manifest.plain_text import fold

Type = Literal["yes_no", "choice", "several", "scale", "number", "information"]
Role = Literal["question", "answer", "detail", "heads", "unclear"]
_HEADS = {
    "question",
    "questions",
    "text",
    "item",
    "frage",
    "pregunta",
    "سؤال",
    "السؤال",
    "问题",
    "id",
    "no",
    "no.",
    "nr",
    "nr.",
    "#",
}
# The header of a column of answers: a letter, a number, or a word such as "answers".
_HEAD_OF_ANSWERS = re.compile(
    r"[^\W\d_]|\d{1,3}|(?:answers?|options?|choices?|responses?|antwort(?:en)?|optionen|réponses?"
    r"|respuestas?|opci(?:ón|ones)|الإجابات|答案|选项)(?: ?(?:[^\W\d_]|\d{1,3}))?"
)

UNMARKED = "Start each answer with “- ”, and a text to read with “#”."
NO_QUESTION = "There is no question above."
NOT_ASKED = "Start the line above with a number, or end it with “?”."
NO_MARK = "It has answers below, but neither a number nor “?”."
NOT_LAST = "A question ends in “?”. Start a text to read with “#”."
NO_ANSWERS = "It has no answers. Write them below, each after “- ”, or end it with “?”."
NO_TEXT = "It has no text."
ONE_ANSWER = "It has only one answer."
TWO_RANGES = "It has both a range and other answers. Keep only one."
TWICE = "It has this instruction twice."
COLUMNS = "Keep only the question and its answers."


@dataclass(frozen=True, kw_only=True)
class PastedLine:
    """The role of one line. `question` is the position of its question in the list, from 0."""

    number: int
    text: str
    role: Role
    question: int | None = None
    problem: str = ""


@dataclass(kw_only=True)
class PastedQuestion:
    """A question, or text to read, as far as it was understood.

    `problem` says what is missing. `label` is the number of the question in the pasted text.
    """

    line: int
    text: str
    label: str | None = None
    style: str = ""
    is_text: bool = False
    is_row: bool = False
    has_unmarked: bool = False  # whether unmarked lines, perhaps answers, follow directly
    answers: list[str] = field(default_factory=list)
    last_mark: Mark = field(default_factory=Mark)  # the mark of the last answer
    range: Range | None = None
    several: Several | None = None
    condition: str = ""
    together: bool = False
    problem: str = ""

    @property
    def refusal(self) -> bool:
        return any(map(is_refusal, self.answers))

    @property
    def none_left_out(self) -> bool:
        """Whether "none of these" is left out of the answers, because the page offers it."""
        return self.several is not None and any(map(is_none, self.answers))

    @property
    def options(self) -> list[str]:
        """The answers, without those that the page provides."""
        offered = [answer for answer in self.answers if not is_refusal(answer)]
        return [one for one in offered if not (self.several and is_none(one))]

    @property
    def found_range(self) -> Range | None:
        [sole] = self.options if len(self.options) == 1 else [""]
        return self.range or find_range(sole)

    @property
    def type(self) -> Type:
        if self.is_text:
            return "information"
        if self.several:
            return "several"
        if self.found_range:
            return "scale" if self.found_range.is_scale else "number"
        return "choice" if self.options and not is_yes_or_no(self.options) else "yes_no"

    @property
    def lacks_answers(self) -> bool:
        return not (self.is_text or self.answers or self.range)

    @property
    def is_assumed(self) -> bool:
        """Whether this is a yes/no question only because the text lists no answers to it."""
        return self.type == "yes_no" and not self.options


@dataclass(frozen=True, kw_only=True)
class Pasted:
    questions: list[PastedQuestion]
    lines: list[PastedLine]


def parse_pasted(text: str) -> Pasted:
    parser, lines = _Parser(), split_lines(text)
    rows = list(join_rows(lines))
    following = [row for _, row in rows[1:]] + [""]
    for (numbers, row), after in zip(rows, following, strict=True):
        if not row.strip():
            parser.is_below = False
            continue
        parser.read(numbers[0], row, after)
        for number in numbers[1:]:  # the other lines of a spreadsheet's cell
            same = replace(parser.lines[-1], number=number, text=lines[number - 1])
            parser.lines.append(same)
    for question in parser.questions:
        question.problem = question.problem or _find_problem(question)
    for question, below in pairwise(parser.questions):
        # The questions below may be answers to this question, numbered like questions.
        if question.is_assumed and not question.problem and _lacks_all(below):
            question.problem = UNMARKED
    return Pasted(questions=parser.questions, lines=parser.lines)


def _find_problem(question: PastedQuestion) -> str:
    options, has_range = len(question.options), question.found_range is not None
    if not question.text:
        return NO_TEXT
    if question.is_text:
        return ""
    if question.range and (options or question.several):
        return TWO_RANGES
    if question.has_unmarked and options < 2:
        return UNMARKED
    if has_range and not question.several:
        return ""
    if options == 1:
        return ONE_ANSWER
    if options == 0 and (question.several or not asks(question.text)):
        return NO_ANSWERS
    return ""


def _lacks_all(question: PastedQuestion) -> bool:
    """Return whether a question has neither answers nor a question mark."""
    return question.problem in (NO_ANSWERS, UNMARKED) and not asks(question.text)


class _Parser:
    """Reads line by line. `is_below` says whether the line above has any text."""

    def __init__(self) -> None:
        self.questions: list[PastedQuestion] = []
        self.lines: list[PastedLine] = []
        self.is_below = False
        self.has_columns = False  # whether there are columns besides questions and answers

    @property
    def _question(self) -> PastedQuestion | None:
        """The question above, to which answers and details belong."""
        last = self._last
        return None if last is None or last.is_text else last

    @property
    def _last(self) -> PastedQuestion | None:
        return self.questions[-1] if self.questions else None

    def read(self, number: int, line: str, after: str) -> None:
        """Read a line. `after` is the next line."""
        mark, rest = split_mark(line)
        cells = split_cells(rest)
        if self._is_heads(split_cells(line)):
            self._read_heads(number, line)
        elif self.has_columns and "\t" in line:
            self._note(number, line, "unclear", COLUMNS)
        elif line.startswith("#") and len(cells) == 1:
            self._start(number, line, PastedQuestion(line=number, text=rest.lstrip("# ")))
            self.questions[-1].is_text = True
        elif mark.label is not None and not self._is_numbered_answer(mark, rest):
            self._ask(number, line, mark, cells)
        elif mark.is_item or mark.label is not None or self._is_row_of_answers(cells):
            self._read_item(number, line, mark, cells)
        elif len(cells) > 1 or asks(split_details(rest)[0]):
            self._continue_or_ask(number, line, cells)
        else:
            self._read_plain(number, line, mark, rest, after)
        self.is_below = True

    def _is_heads(self, cells: list[str]) -> bool:
        return len(cells) > 1 and not self.lines and fold(cells[0]) in _HEADS

    def _read_heads(self, number: int, line: str) -> None:
        heads = map(fold, split_cells(line)[1:])
        if all(head in _HEADS or _HEAD_OF_ANSWERS.fullmatch(head) for head in heads):
            self._note(number, line, "heads")
        else:
            self.has_columns = True
            self._note(number, line, "unclear", COLUMNS)

    def _is_numbered_answer(self, mark: Mark, rest: str) -> bool:
        """Return whether the line is an answer, numbered in another style than the questions."""
        above = self._question
        return (
            above is not None
            and above.label is not None
            and mark.style != above.style
            and mark.label == str(len(above.answers) + 1)
            and (not above.answers or mark.style == above.last_mark.style)
            and not asks(split_details(rest)[0])
        )

    def _is_heading_or_note(self, mark: Mark, above: PastedQuestion) -> bool:
        """Return whether a lettered or starred line may be a heading or note, not an answer."""
        if not (mark.letter or mark.style == "*"):
            return False
        follows = mark.continues(above.last_mark) if above.answers else mark.begins
        return not follows and (not self.is_below or self.lines[-1].role == "unclear")

    def _is_row_of_answers(self, cells: list[str]) -> bool:
        above = self._question
        return (
            self.is_below
            and above is not None
            and len(cells) > 1
            and not (above.is_row or above.answers or above.range or asks(cells[0]))
        )

    def _note(self, number: int, line: str, role: Role, problem: str = "") -> None:
        place = len(self.questions) - 1 if role not in ("heads", "unclear") else None
        text = " ".join(line.split())
        self.lines.append(
            PastedLine(number=number, text=text, role=role, question=place, problem=problem)
        )

    def _start(self, number: int, line: str, question: PastedQuestion) -> None:
        self.questions.append(question)
        self._note(number, line, "question")

    def _ask(self, number: int, line: str, mark: Mark, cells: list[str]) -> None:
        text, details = split_details(cells[0] if cells else "")
        question = PastedQuestion(line=number, text=text, label=mark.label, style=mark.style)
        question.is_row = len(cells) > 1
        self._start(number, line, question)
        for detail in details:
            _add_detail(question, detail)
        _add_cells(question, cells[1:])

    def _read_item(self, number: int, line: str, mark: Mark, cells: list[str]) -> None:
        above = self._question
        if cells and mark.label is None and asks(split_details(cells[0])[0]):
            self._ask(number, line, Mark(), cells)
        elif above is not None and cells and self._is_heading_or_note(mark, above):
            above.has_unmarked = True
            self._note(number, line, "unclear", UNMARKED)
        elif above is not None and cells:
            self._note(number, line, "answer")
            _add_cells(above, cells)
            above.last_mark = mark
        elif self._last is not None and self._last.is_text and self.is_below and cells:
            self._last.problem = NO_MARK
            self._note(number, line, "unclear", NOT_ASKED)
        else:
            self._note(number, line, "unclear", NO_QUESTION if cells else NO_TEXT)

    def _continue_or_ask(self, number: int, line: str, cells: list[str]) -> None:
        """Add the line to the numbered question that it continues, or begin a new question."""
        above = self._question
        if (
            self.is_below
            and above is not None
            and above.label is not None
            and above.line == self.lines[-1].number
            and not (asks(above.text) or above.answers or len(cells) > 1)
            and (cells[0][:1].islower() or not above.text)
        ):
            text, details = split_details(cells[0])
            above.text = f"{above.text} {text}".strip()
            self._note(number, line, "detail")
            for detail in details:
                _add_detail(above, detail)
        else:
            self._ask(number, line, Mark(), cells)

    def _read_plain(self, number: int, line: str, mark: Mark, rest: str, after: str) -> None:
        above, last = self._question, self._last
        detail = find_detail(rest) if above is not None else None
        if above is not None and detail is not None:
            self._note(number, line, "detail")
            _add_detail(above, detail)
        elif above is not None and self.is_below and read_yes_or_no(rest):
            self._note(number, line, "answer")
            above.answers.append(rest)
            above.last_mark = mark
        elif above is not None and self._may_be_answer(rest, after, above):
            above.has_unmarked = True
            self._note(number, line, "unclear", UNMARKED)
        elif mentions_a_question(rest):
            self._note(number, line, "unclear", NOT_LAST)
        elif last is not None and last.is_text and self.is_below and not last.problem:
            last.text = f"{last.text}\n{rest}"
            self._note(number, line, "question")
        else:
            text = PastedQuestion(line=number, text=rest, is_text=True)
            self._start(number, line, text)

    def _may_be_answer(self, rest: str, after: str, above: PastedQuestion) -> bool:
        """Return whether an unmarked line may be an answer rather than a heading."""
        if above.lacks_answers:
            return self.is_below or not mentions_a_question(rest)
        return self.is_below and (above.has_unmarked or not _is_heading(rest, after))


def _is_heading(line: str, after: str) -> bool:
    """Return whether a line right below an answer is a heading and not an unmarked answer."""
    mark, text = split_mark(after)
    starts = mark.label is not None or asks(split_details(text)[0]) or "\t" in text
    return not line[:1].islower() and (not after or starts)


def _add_cells(question: PastedQuestion, cells: list[str]) -> None:
    """Add answers. A rule may follow the answers, as may a limit on choices in a row of cells."""
    kinds = Condition | Several if len(cells) > 1 else Condition
    while cells and isinstance(detail := find_detail(cells[-1]), kinds):
        _add_detail(question, detail)
        cells = cells[:-1]
    question.answers += cells  # a single answer may later be read as a range


def _add_detail(question: PastedQuestion, detail: Detail) -> None:
    match detail:
        case Condition():
            question.problem = TWICE if question.condition else question.problem
            question.condition = detail.text
        case Several():
            question.problem = TWICE if question.several else question.problem
            question.several = detail
        case Together():
            question.together = True
        case Range():
            question.problem = TWO_RANGES if question.range else question.problem
            question.range = detail
