"""Indicators: the yes-or-no variables that a comparison can use.

A yes/no question is one indicator. Every option, and every item of a "select several" question, is
also an indicator, for which Yes means that the person chose the option or item. For a point of a
scale, Yes means this point or a higher one. Codes are grouped into No, Yes and no answer. A gate
records whether a person answered a "select several" question at all, and is analysed with the
question's first indicator. A number rounded to one bit can only be an outcome, because the rounding
is random and therefore does not divide people into groups. The codes of a declared group are true
answers, and Yes means membership of the group.

Together, all answers to a choice, a scale or a declared question form a factor, which only a
regression can use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from privacy.associations.tables import Variable
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, Symbol

NO, YES, NO_ANSWER = 0, 1, 2
FOLLOW_UP = "follow_up"
# The suffixes of factors. The code of the reference may follow, as in q5.all.2.
ALL_ANSWERS, POINTS = "all", "points"
Answer = tuple[int, ...]  # the codes that mean one answer
SHORT = 60  # the most characters of an answer in a sentence or in a menu


@dataclass(frozen=True, kw_only=True)
class Indicator:
    """One yes-or-no variable of a survey, and the codes of reports that determine it."""

    name: str  # such as q3, or q5.2 for the code 2 of q5
    number: int
    question: ManifestQuestion
    symbol: Symbol
    place: int  # the symbol's position in the manifest
    gate: Symbol | None
    gate_place: int | None
    answer: str  # the meaning of Yes, or an empty string for a yes/no question
    yes: Answer
    no: Answer

    @property
    def levels(self) -> tuple[Answer, ...]:
        """The answers, with the reference first."""
        return self.no, self.yes

    @property
    def is_number(self) -> bool:
        """Whether this is a rounded number, so that groups can be compared only by its mean."""
        return self.question.is_rounded

    @property
    def range(self) -> tuple[int, int] | None:
        """The smallest and the largest number that can be answered."""
        if not self.is_number:
            return None
        least, greatest = self.question.minimum, self.question.maximum
        assert least is not None
        assert greatest is not None
        return least, greatest

    @property
    def is_known(self) -> bool:
        """Whether the codes are the true answers."""
        return self.symbol.threshold is None

    @property
    def label(self) -> str:
        """The label, such as "Q3" or "Q5 (Work)"."""
        return f"Q{self.number} ({self.short_answer})" if self.answer else f"Q{self.number}"

    @property
    def short_answer(self) -> str:
        """The meaning of Yes, cut to fit into a sentence, or "" for a yes/no question."""
        return shorten(self.answer, SHORT)

    @property
    def choice_text(self) -> str:
        """The label in menus, without the question's text, such as "Q3 · Yes" or "Q8 · mean"."""
        answer = "mean" if self.is_number else self.short_answer or "Yes"
        return f"Q{self.number} · {answer}"

    @property
    def is_follow_up(self) -> bool:
        """Whether this is the second question of a question with a follow-up."""
        return split_indicator(self.name)[1] == FOLLOW_UP

    @property
    def text(self) -> str:
        return f"{self.question.text} {self.answer}".rstrip()

    @property
    def is_plain(self) -> bool:
        """Whether this is a randomized bit, with no codes other than Yes and No, and no gate."""
        is_bit = self.symbol.k == 2 and self.yes == (YES,) and self.gate is None
        return is_bit and not self.is_number and not self.is_known

    @property
    def codes(self) -> int:
        """The number of codes that reports can have for this indicator and its gate."""
        return self.symbol.k * (1 if self.gate is None else self.gate.k)

    @property
    def quoted(self) -> str:
        """The answer in quotation marks, followed by its question, such as “Work” (Q5)."""
        return f"“{self.short_answer}” (Q{self.number})"

    @property
    def asked(self) -> str:
        """The question that people answer with Yes or No, such as Q3, or "" if there is none."""
        if self.question.described.has_follow_up:
            return f"the {'follow-up' if self.is_follow_up else 'first part'} of Q{self.number}"
        return "" if self.answer else f"Q{self.number}"

    @property
    def yes_text(self) -> str:
        return f"Yes to {self.asked}" if self.asked else self.quoted

    @property
    def no_text(self) -> str:
        if self.asked:
            return f"No to {self.asked}"
        if self.is_known:
            return f"everyone else (Q{self.number})"
        if self.question.has_items:
            return f"not {self.quoted}"
        kind = "lower" if self.question.described.has_points else "other"
        return f"{kind} answers to Q{self.number}"

    @property
    def said_text(self) -> str:
        """Words for what people in the Yes category did or are, such as “said Yes to Q3”."""
        if self.asked:
            return f"said {self.yes_text}"
        return f"{'are in' if self.is_known else 'chose'} {self.quoted}"

    @property
    def category_texts(self) -> tuple[str, str, str]:
        """The names of the categories No, Yes and no answer. The last name may be empty."""
        silent = " or ".join(
            text
            for text, applies in (
                ("no to the first part", self.question.described.has_follow_up and self.no == (2,)),
                ("not asked", self.question.rule is not None),
                ("no answer", self.question.refusal),
            )
            if applies
        )
        no, yes = ("Rounded down", "Rounded up") if self.is_number else ("No", "Yes")
        return no, yes, silent.capitalize()

    @property
    def variable(self) -> Variable:
        if self.gate is not None:
            return Variable.gated(self.symbol.mechanism, gate=self.gate.mechanism)
        rest = set(range(self.symbol.k)).difference(*self.levels)
        return Variable(
            mechanism=_as_it_is(self.symbol.k) if self.is_known else self.symbol.mechanism,
            categories=(*self.levels, *([tuple(sorted(rest))] if rest else [])),
            answered=len(self.levels),
        )


@dataclass(frozen=True, kw_only=True)
class Factor(Indicator):
    """All answers to a question as one predictor. `yes` contains all codes but the reference's.

    A trend has a single coefficient: the change for each additional point. Other factors have a
    coefficient for each answer except the reference.
    """

    answers: tuple[Answer, ...]
    is_trend: bool

    @property
    def levels(self) -> tuple[Answer, ...]:
        return self.answers

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def label(self) -> str:
        """The label, such as "Q5 (all answers)" or "Q3 (per point)"."""
        return f"Q{self.number} ({self.answer})"

    @property
    def choice_text(self) -> str:
        return f"Q{self.number} · {self.answer}"

    def quote(self, answer: Answer) -> str:
        """Quote an answer as in “Work”, or “Work or School” if the file of rows merges the two."""
        return f"“{shorten(self.question.name_codes(answer), SHORT)}”"

    def name_with(self, reference: Answer) -> str:
        """Name the same factor with another reference, as in q5.all.2."""
        return indicator_name(self.question.name, f"{ALL_ANSWERS}.{reference[0]}")

    def with_answers(self, answers: Sequence[Answer], *, reference: int | None = None) -> Factor:
        """Return the factor with these answers, beginning with the reference."""
        code = self.no[0] if reference is None else reference
        first = [answer for answer in answers if code in answer]
        ordered = (*first, *(answer for answer in answers if code not in answer))
        rest = tuple(code for answer in ordered[1:] for code in answer)
        return replace(self, answers=ordered, no=ordered[0], yes=rest)


def _as_it_is(k: int) -> RandomizedResponse:
    """Return a mechanism for an unscrambled answer, which changes about one code in four billion.

    No probability is zero, so the likelihoods need no special case. The first eight digits of every
    result are unaffected.
    """
    return RandomizedResponse(symbols=k, threshold=2**32 - 1)


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def indicator_name(question: str, part: str) -> str:
    """Return a name such as q5.2 for question q5 and suffix 2, or q3 if there is no suffix."""
    return f"{question}.{part}" if part else question


def split_indicator(name: str) -> tuple[str, str]:
    """Split the name of an indicator into the question's name and the suffix, if any."""
    question, _, part = name.partition(".")
    return question, part


def is_factor_name(name: str) -> bool:
    return split_indicator(name)[1].partition(".")[0] in (ALL_ANSWERS, POINTS)


def list_parts(question: ManifestQuestion) -> dict[str, str]:
    """Map the suffixes of a question's indicators and factors to what they mean."""
    if not question.is_answered:
        return {}
    parts = {part: answer for part, _, answer, _, _ in _parts(question)}
    return parts | dict(_list_factor_parts(question))


def list_indicators(manifest: Manifest) -> tuple[Indicator, ...]:
    """List all indicators in the order of the survey."""
    return tuple(
        indicator
        for question in manifest.questions
        if question.is_answered
        for indicator in _indicators_of(question, manifest)
    )


def list_predictors(manifest: Manifest) -> tuple[Indicator, ...]:
    """List possible predictors: all indicators, with each question's factors before them."""
    factors = {
        question.name: list(_list_factors(question, manifest)) for question in manifest.questions
    }
    listed: list[Indicator] = []
    for indicator in list_indicators(manifest):
        listed += factors.pop(indicator.question.name, [])
        listed.append(indicator)
    return tuple(listed)


def list_names(manifest: Manifest) -> frozenset[str]:
    """Return the names of all indicators, and of all factors with every possible reference."""
    predictors = list_predictors(manifest)
    names = {one.name for one in predictors}
    for one in predictors:
        if isinstance(one, Factor) and not one.is_trend:
            names |= {f"{one.name}.{code}" for [code] in one.answers}
    return frozenset(names)


def find_indicators(manifest: Manifest, names: Sequence[str]) -> list[Indicator]:
    """Find indicators to analyse together. Only the first one of each question keeps the gate."""
    by_name = {indicator.name: indicator for indicator in list_predictors(manifest)}
    found: list[Indicator] = []
    for name in names:
        indicator = by_name.get(name) or _find_factor(by_name, name)
        if any(other.gate == indicator.gate for other in found):
            indicator = replace(indicator, gate=None, gate_place=None)
        found.append(indicator)
    return found


def _find_factor(by_name: Mapping[str, Indicator], name: str) -> Factor:
    """Find a factor by a name that ends with the code of its reference."""
    factor_name, _, code = name.rpartition(".")
    factor = by_name[factor_name]
    assert isinstance(factor, Factor)
    return replace(factor.with_answers(factor.answers, reference=int(code)), name=name)


def _indicators_of(question: ManifestQuestion, manifest: Manifest) -> Iterator[Indicator]:
    places = {symbol.name: place for place, symbol in enumerate(manifest.symbols)}
    gate_place = places.get(question.gate_name)
    for part, symbol, answer, yes, no in _parts(question):
        yield Indicator(
            name=indicator_name(question.name, part),
            number=question.number,
            question=question,
            symbol=manifest.symbols[places[symbol]],
            place=places[symbol],
            gate=None if gate_place is None else manifest.symbols[gate_place],
            gate_place=gate_place,
            answer=answer,
            yes=yes,
            no=no,
        )


def _list_factors(question: ManifestQuestion, manifest: Manifest) -> Iterator[Factor]:
    for part, text in _list_factor_parts(question):
        [place] = [place for place, one in enumerate(manifest.symbols) if one.name == question.name]
        codes = range(_count_answers(question))
        yield Factor(
            name=indicator_name(question.name, part),
            number=question.number,
            question=question,
            symbol=manifest.symbols[place],
            place=place,
            gate=None,
            gate_place=None,
            answer=text,
            yes=tuple(codes[1:]),
            no=(0,),
            answers=tuple((code,) for code in codes),
            is_trend=part == POINTS,
        )


def _list_factor_parts(question: ManifestQuestion) -> Iterator[tuple[str, str]]:
    """Yield the suffix and the meaning of each factor: all answers, and points of a scale."""
    described = question.described
    has_one_symbol = not question.has_items and not question.is_rounded
    if (
        has_one_symbol
        and (described.has_points or described.has_options)
        and _count_answers(question) > 2
    ):
        yield ALL_ANSWERS, "all answers"
        if described.has_points:
            yield POINTS, "per point"


def _count_answers(question: ManifestQuestion) -> int:
    # For a declared question, "prefer not to say" counts as an answer, as in its indicators.
    return question.k if question.is_declared else question.answers


def _parts(
    question: ManifestQuestion,
) -> Iterator[tuple[str, str, str, tuple[int, ...], tuple[int, ...]]]:
    """Yield, for each indicator, its suffix, symbol, meaning of Yes, Yes codes and No codes."""
    own = question.name
    answers = tuple(range(question.answers))
    if question.is_yes_or_no or question.is_rounded:
        yield "", own, "", (1,), (0,)
    elif question.described.has_follow_up:
        yield "yes", own, "Yes to the first part", (1, 2), (0,)
        yield FOLLOW_UP, own, question.follow_up, (1,), (2,)
    elif question.has_items:
        for option in question.options:
            yield str(option.code), question.item_name(option.code), option.text, (1,), (0,)
    elif question.described.has_points:
        for option in question.options[1:]:
            at_least, below = answers[option.code :], answers[: option.code]
            yield str(option.code), own, f"{option.text} or more", at_least, below
    else:
        if question.is_declared:
            # People who preferred not to say count as No. If they were a separate category, their
            # number would be shown even if it were small, and could reveal the size of a hidden
            # group.
            answers = tuple(range(question.k))
        for option in question.options:
            others = tuple(code for code in answers if code != option.code)
            yield str(option.code), own, option.text, (option.code,), others
