"""The parts of the label, for the page to lay out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce

from django.utils.translation import pgettext


def join_sentences(sentences: Iterable[str]) -> str:
    """Join sentences into one paragraph. Not every language puts spaces between sentences."""

    def add(first: str, second: str) -> str:
        return pgettext("between two sentences", "%(first)s %(second)s") % {
            "first": first,
            "second": second,
        }

    return reduce(add, tuple(sentences) or ("",))


class Level(StrEnum):
    """How far a fear is justified. Each level has a mark with its own shape and colour."""

    NO = "no"
    PARTLY = "partly"
    MOSTLY = "mostly"
    YES = "yes"
    BUT = "but"


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """What scrambling means for a person: a question, a short answer, and sentences about it."""

    question: str
    level: Level
    answer: str
    sentences: tuple[str, ...]
    exception: str = ""  # to the sentences
    of_page: bool = False  # does not apply to a person who answers on paper

    @property
    def sentence(self) -> str:
        return join_sentences(self.sentences)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Ten people with another answer, of whom some send the same code."""

    same: int | None  # rounded down; None if ten people are too few to show any
    sentence: str

    @property
    def length(self) -> int:
        """The length of a dashed line with a dash for each of these people."""
        return 10 * (self.same or 0) - 9


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How one group of equally protected questions is scrambled."""

    names: tuple[str, ...]  # the names of the questions in the manifest
    scope: str  # "Questions 1 and 3", or "" if one statement covers all
    sentence: str  # stands alone, without the scope


@dataclass(frozen=True, kw_only=True)
class Group:
    """The questions of one strength."""

    strength: str  # the same key in every language; pages show `protection`
    protection: str
    odds: tuple[Odds, ...]


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The label as authors see it, in the words and the language of respondents."""

    label: PrivacyLabel
    by_coins: PrivacyLabel | None  # the label for people who toss coins, if coins reveal more
    tag: str
    direction: str


@dataclass(frozen=True, kw_only=True)
class PrivacyLabel:
    """The label. Fields up to `length` are shown before the first question, the others below."""

    lead: str
    consequences: tuple[Consequence, ...]
    picture: Picture | None
    warnings: tuple[Consequence, ...]
    length: str  # how many questions there are, and how many minutes they take
    groups: tuple[Group, ...]
    together: tuple[str, ...]
    unscrambled: str  # names the questions whose answers are sent as they are
    finding: tuple[str, ...]
    shows: tuple[str, ...]  # what is visible although answers are scrambled
    crowd: tuple[str, ...]
    process: tuple[str, ...]
    formulas: tuple[str, ...]  # on the page for checking only

    @property
    def on_paper(self) -> PrivacyLabel:
        """The label for a person who answers on paper."""
        lines, warnings = (
            tuple(one for one in told if not one.of_page)
            for told in (self.consequences, self.warnings)
        )
        return replace(self, consequences=lines, warnings=warnings)

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
