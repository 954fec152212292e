"""The parts of the label, for the page to lay out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce

from django.utils.translation import pgettext


def join_sentences(sentences: Iterable[str]) -> str:
    """Join sentences into one paragraph: not every language puts spaces between sentences."""

    def add(first: str, second: str) -> str:
        return pgettext("between two sentences", "%(first)s %(second)s") % {
            "first": first,
            "second": second,
        }

    return reduce(add, tuple(sentences) or ("",))


class Level(StrEnum):
    """How far a fear comes true. Marks differ by level in shape and colour."""

    NO = "no"
    PARTLY = "partly"
    MOSTLY = "mostly"
    YES = "yes"
    BUT = "but"


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """What scrambling means for a person, the answer first."""

    level: Level
    answer: str
    sentences: tuple[str, ...]
    exception: str = ""  # to the sentences
    counted: int = 0  # codes of 100 that a sentence counts, for the picture
    of_page: bool = False  # not true of a person who answers on paper

    @property
    def sentence(self) -> str:
        return join_sentences(self.sentences)

    @property
    def dots(self) -> Dots | None:
        return Dots(counted=self.counted) if self.counted else None


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How one group of equally protected questions is scrambled."""

    names: tuple[str, ...]  # of the questions, as in the manifest
    scope: str  # "Questions 1 and 3"; empty where one statement covers all
    sentence: str  # stands alone, without the scope
    counted: int  # codes of 100 that the sentence counts, for the picture

    @property
    def dots(self) -> Dots | None:
        return Dots(counted=self.counted) if self.counted else None


@dataclass(frozen=True, kw_only=True)
class Group:
    """The questions of one strength."""

    strength: str  # the key of the word in every language; `protection` is shown
    protection: str
    odds: tuple[Odds, ...]


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What authors read of the label, in the words and the language of its readers."""

    label: PrivacyLabel
    by_coins: PrivacyLabel | None  # the same for people who toss coins, if that reveals more
    tag: str
    direction: str


@dataclass(frozen=True, kw_only=True)
class PrivacyLabel:
    """`lead`, `consequences` and `length` stand before the first question, the rest below."""

    lead: str
    consequences: tuple[Consequence, ...]
    groups: tuple[Group, ...]
    together: tuple[str, ...]
    unscrambled: str  # names what is sent as it is
    finding: tuple[str, ...]
    shows: tuple[str, ...]  # although answers are scrambled
    crowd: tuple[str, ...]
    process: tuple[str, ...]
    length: str  # how many questions there are, and how many minutes they take

    @property
    def on_paper(self) -> tuple[Consequence, ...]:
        """The consequences for a person who opens no page."""
        return tuple(one for one in self.consequences if not one.of_page)

    @property
    def told_together(self) -> str:
        return join_sentences(self.together)

    @property
    def told_finding(self) -> str:
        return join_sentences(self.finding)

    @property
    def told_crowd(self) -> str:
        return join_sentences(self.crowd)

    @property
    def told_process(self) -> str:
        return join_sentences(self.process)


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Ten rows of ten dots as two SVG paths of dashed lines, each dash a dot."""

    counted: int

    @property
    def all(self) -> str:
        return "".join(f"M5 {10 * row + 5}h91" for row in range(10))

    @property
    def marked(self) -> str:
        rows, rest = divmod(self.counted, 10)
        lines = [f"M5 {10 * row + 5}h91" for row in range(rows)]
        if rest:
            lines.append(f"M5 {10 * rows + 5}h{10 * rest - 9}")
        return "".join(lines)
