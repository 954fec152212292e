"""Every type of question, described once.

Code reads properties of a description, such as `has_items` or `is_scrambled`, and never compares
types. A new type needs an enum member, a description below and a form for authors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import TextChoices

from privacy.mechanism.mechanisms import MAX_SYMBOLS

MOST_SEVERAL, MOST_GROUPS = 20, 8  # the most options; other lists have up to MAX_SYMBOLS


class QuestionType(TextChoices):
    """The types. Databases and manifests contain the values, and authors read the labels."""

    YES_NO = "yes_no", "Yes or no"
    CHOICE = "choice", "One answer"
    SCALE = "scale", "Rating scale"
    SEVERAL = "several", "Several answers"
    NUMBER = "number", "Number in a range"
    FOLLOW_UP = "follow_up", "Yes or no, with a follow-up after Yes"
    SCORE = "score", "Score of a scale"
    SECOND = "second", "Second code of a scale"
    DECLARED = "declared", "Background group (sent unprotected)"
    INFORMATION = "information", "Information text"


@dataclass(frozen=True, kw_only=True)
class FixedAnswer:
    """An answer that Murmur provides. `key` is its name in rules."""

    code: int
    text: str
    key: str


@dataclass(frozen=True, kw_only=True)
class TypeDescription:
    """A type of question: what people are asked and shown, and what is sent.

    The answers come from one of three places: fixed answers, options that the author writes, or
    whole numbers in a range.
    """

    explanation: str  # for authors who choose a type
    is_answered: bool = True  # otherwise the question is only text to read
    is_scrambled: bool = True
    # In the order in which people see them.
    fixed_answers: tuple[FixedAnswer, ...] = ()
    # Words that Murmur provides in every language, shown next to the author's words.
    own_words: tuple[str, ...] = ()
    has_options: bool = False
    first_code: int = 0  # the code of the author's first option
    # Each option is an item with its own symbol, and people choose any number of items.
    has_items: bool = False
    has_range: bool = False
    # People choose one of the whole numbers in the range. Without points, they type a number.
    has_points: bool = False
    has_follow_up: bool = False
    # The answers are Yes and No, so the share of Yes is the whole result.
    is_yes_or_no: bool = False

    @property
    def usual_codes(self) -> int | None:
        """The number of codes of an answer, if known before the author types anything."""
        if self.has_items or (self.has_range and not self.has_points):
            return 2
        return len(self.fixed_answers) or None

    @property
    def pages(self) -> int:
        """How many questions a person may see: none for text to read, two with a follow-up."""
        return int(self.is_answered) + int(self.has_follow_up)


def noop(text: str) -> str:
    """Mark text for translation. Django's own noop needs settings, which benchmarks lack."""
    return text


YES, NO = noop("Yes"), noop("No")
YES_YES, YES_NO = noop("Yes, then Yes"), noop("Yes, then No")

TYPES: Mapping[str, TypeDescription] = {
    QuestionType.YES_NO: TypeDescription(
        explanation="One of two answers. This type needs the fewest people of all.",
        fixed_answers=(
            FixedAnswer(code=1, text=YES, key="yes"),
            FixedAnswer(code=0, text=NO, key="no"),
        ),
        own_words=(YES, NO),
        is_yes_or_no=True,
    ),
    QuestionType.CHOICE: TypeDescription(
        explanation=f"One of 2 to {MAX_SYMBOLS} answers. Each extra option makes all results less "
        "precise.",
        has_options=True,
    ),
    QuestionType.SCALE: TypeDescription(
        explanation="From one end to the other, such as 1 “never” to 5 “always”. With up to 7 "
        "points, you learn the mean and how many people chose each point. With 8 to 11 points, you "
        "learn only the mean.",
        has_range=True,
        has_points=True,
    ),
    QuestionType.SEVERAL: TypeDescription(
        explanation=f"None, one or several of 2 to {MOST_SEVERAL} answers. Each answer costs as "
        "much protection as a separate yes/no question.",
        has_options=True,
        first_code=1,
        has_items=True,
    ),
    QuestionType.NUMBER: TypeDescription(
        explanation="Hours, euros or years, in whole numbers. You learn the mean and nothing else.",
        has_range=True,
    ),
    QuestionType.FOLLOW_UP: TypeDescription(
        explanation="Two yes/no questions. People see the second only after Yes. The follow-up is "
        "much more precise than with a rule, but still takes many people.",
        fixed_answers=(
            FixedAnswer(code=0, text=NO, key="no"),
            FixedAnswer(code=1, text=YES_YES, key="yes-yes"),
            FixedAnswer(code=2, text=YES_NO, key="yes-no"),
        ),
        own_words=(YES, NO, YES_YES, YES_NO),
        has_follow_up=True,
    ),
    # Manifests never contain this type. A launched score has its items and the type that carries it
    # (surveys/manifest/scores.py).
    QuestionType.SCORE: TypeDescription(
        explanation="Items with the same answers, which the device adds up. Only the total, or "
        "where it lies, is sent. A score needs far fewer people than a question for each item, "
        "but gives no results for items.",
    ),
    QuestionType.SECOND: TypeDescription(
        explanation="A second code for a scale that people answer once: its total, a band or a "
        "cut-off. Both codes are about one fact, so their ε add up.",
    ),
    QuestionType.DECLARED: TypeDescription(
        explanation=f"A group such as a department, chosen from 2 to {MOST_GROUPS} texts and sent "
        "as it is. Anyone who sees a report sees the group.",
        is_scrambled=False,
        has_options=True,
    ),
    QuestionType.INFORMATION: TypeDescription(
        explanation="A page without a question, to explain something. Nothing about it is sent.",
        is_answered=False,
        is_scrambled=False,
    ),
}


def own_words(types: Iterable[str]) -> tuple[str, ...]:
    """List the words that Murmur provides for questions of these types, without duplicates."""
    used = {word for name in types for word in TYPES[name].own_words}
    return tuple(word for word in (YES, NO, YES_YES, YES_NO) if word in used)
