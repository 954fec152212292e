"""One question as a launched survey freezes it, and the symbols it contributes to a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.utils.translation import gettext

from privacy.mechanism.accounting import round_up_sum
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.names import call_question, gate_name, item_name, rename_in_files
from surveys.manifest.question_types import TYPES, QuestionType, TypeDescription
from surveys.manifest.rules import Rule
from surveys.manifest.scores import CARRIERS, Output, Score, find_output, write_total

# For a longer scale, only the mean is estimated, because with k-ary response, the distribution of
# that many points needs several times as many people (docs/methods/other-kinds.md, rating scales).
MOST_POINTS_WITH_SHARES = 7
REFUSED_TEXT = "Prefer not to say"
NOT_ASKED_TEXT = "Not asked"
NONE_TEXT = "None of these"  # a choice that the page adds to "select several"
ANSWERED = 0  # the gate's code for a question that was answered
# In files, this code and lower codes say why an answer is missing. Points of scales must be higher.
FIRST_RESERVED = -90


@dataclass(frozen=True, kw_only=True)
class Option:
    code: int
    text: str


def fixed_options(type_: str) -> tuple[Option, ...]:
    """Return the answers that Murmur provides, in English and in the order on the page."""
    return tuple(Option(code=one.code, text=one.text) for one in TYPES[type_].fixed_answers)


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """One position in every report, for the code of a question, an item or a gate.

    `threshold` is None if the answer is sent as it is. `block` is the number of the question's
    block, or None for unscrambled questions, which are in no block. `item` is the code of the
    option that a symbol of a "select several" question stands for.
    """

    name: str
    question: str
    item: int | None = None
    is_gate: bool = False
    k: int
    threshold: int | None
    block: int | None

    @cached_property
    def mechanism(self) -> RandomizedResponse:
        if self.threshold is None:
            raise ValueError(f"{self.name} is not randomized")
        return RandomizedResponse(symbols=self.k, threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class ManifestQuestion:
    """One question of a manifest. `options` are the answers to choose from, each with its code.

    The codes of the answers come first, then the code for "prefer not to say" if that is offered,
    and the code for "not asked" if there is a rule. A question with items has a symbol for each
    item, and the last two codes are sent in a separate symbol, the gate.
    """

    name: str
    type: QuestionType
    text: str
    # The number among the questions that people answer, or among the information texts, from 1. The
    # manifest that contains the question sets it.
    number: int = field(default=0, compare=False)
    flips: int = 0
    threshold: int | None = None
    options: tuple[Option, ...] = ()
    refusal: bool = False
    rule: Rule | None = None
    minimum: int | None = None
    maximum: int | None = None
    unit: str = ""
    low_label: str = ""
    high_label: str = ""
    limit: int | None = None
    gate_threshold: int | None = None
    follow_up: str = ""
    # How the device computes a score from items, or None for other questions. For a score, `type`
    # is the type that carries the score. Items are never sent, so they are not answers to the
    # question.
    score: Score | None = None
    # The earlier question, if any, that asks for the same fact in other words or with different
    # answers.
    same_fact: str = ""
    # Whether the question shares a page with the previous question (surveys.manifest.grids).
    together: bool = False
    # The variable in files. It is empty for texts, and in manifests that are older than this key,
    # whose files use the name. The key is short because every respondent's page contains it.
    var: str = ""

    def __post_init__(self) -> None:
        if self.score is not None and (problem := self._find_score_problem(self.score)):
            raise ValueError(f"score of {self.name}: {problem}")

    def _find_score_problem(self, score: Score) -> str:
        """Say how the score contradicts the rest of the question, or return "" if it does not."""
        if self.type not in CARRIERS.values():
            return f"a {self.type} question cannot carry it"
        codes = {
            Output.TOTAL: 1,
            Output.BANDS: len(self.options),
            Output.CUT_OFF: 2,
        }[find_output(self.type)]
        if len(score.bounds) + 1 != codes:
            return f"{len(score.bounds)} bounds do not fit {codes} answers"
        ends = (score.minimum, score.maximum) if self.is_rounded else (None, None)
        if (self.minimum, self.maximum) != ends:
            return f"the range must be {ends}, got {(self.minimum, self.maximum)}"
        return score.find_problem()

    @property
    def type_name(self) -> str:
        """The name of the question's type for authors."""
        of_score = QuestionType.SECOND if self.is_second else QuestionType.SCORE
        return (self.type if self.score is None else of_score).label

    @property
    def scale(self) -> str:
        """The name of the question with the items of the score, or "" if there is no score."""
        return "" if self.score is None else self.score.of or self.name

    @property
    def is_second(self) -> bool:
        """Whether this is a second code of a scale, which has no page."""
        return self.score is not None and bool(self.score.of)

    @property
    def computed(self) -> str:
        """A description of what the device computes, or "" if people choose the answer."""
        if self.score is None:
            return ""
        words = {
            Output.TOTAL: gettext("total, from %(low)s to %(high)s"),
            Output.BANDS: gettext("band of the total, from %(low)s to %(high)s"),
            # Translators: what Yes stands for; "bound" is a total.
            Output.CUT_OFF: gettext("total of %(bound)s or more, from %(low)s to %(high)s"),
        }
        totals = {"low": self.score.minimum, "high": self.score.maximum}
        totals["bound"] = next(iter(self.score.bounds), self.score.minimum)
        written = {name: write_total(total) for name, total in totals.items()}
        return words[find_output(self.type)] % written

    @property
    def full_text(self) -> str:
        """The text, followed by what the device computes from the items."""
        return f"{self.text} [{self.computed}]" if self.computed else self.text

    @property
    def described(self) -> TypeDescription:
        return TYPES[self.type]

    @property
    def is_scrambled(self) -> bool:
        return self.described.is_scrambled

    @property
    def is_answered(self) -> bool:
        """Whether people answer the question rather than only read it."""
        return self.described.is_answered

    @property
    def variable(self) -> str:
        """The name in files, such as used_cannabis, or q3 in manifests without variables."""
        return self.var or self.name

    def name_in_files(self, name: str) -> str:
        """Write the name of one of the question's symbols with the variable: q3_2 as used_2."""
        return rename_in_files(name, {self.name: self.var})

    @property
    def called(self) -> str:
        """The name in sentences for authors, such as question 3 or text 1."""
        return call_question(self.number, is_answered=self.is_answered)

    @property
    def is_declared(self) -> bool:
        """Whether the answer is sent as it is."""
        return self.is_answered and not self.is_scrambled

    @property
    def has_items(self) -> bool:
        return self.described.has_items

    @property
    def is_yes_or_no(self) -> bool:
        return self.described.is_yes_or_no

    @property
    def has_only_yes_and_no(self) -> bool:
        """Whether Yes and No are the only codes."""
        return self.is_yes_or_no and self.k == 2

    @property
    def is_answered_yes_or_no(self) -> bool:
        """Whether people themselves choose Yes or No, and these are the only codes.

        A score is computed, not chosen. Sentences about people who say Yes do not fit a score, and
        people cannot be relied on to add up a score and toss coins.
        """
        return self.has_only_yes_and_no and self.score is None

    @property
    def is_rounded(self) -> bool:
        """Whether the answer is a number that is rounded at random to one bit."""
        return self.described.has_range and not has_point_shares(
            self.type, minimum=self.minimum, maximum=self.maximum
        )

    @property
    def has_mean(self) -> bool:
        return self.described.has_range

    @property
    def points(self) -> int:
        """The number of whole numbers in the range."""
        assert self.minimum is not None
        assert self.maximum is not None
        return self.maximum - self.minimum + 1

    @property
    def answers(self) -> int:
        """The number of codes that are answers. These codes come first."""
        return 2 if self.has_items or self.is_rounded else len(self.options)

    @property
    def refused_code(self) -> int | None:
        """The code for "prefer not to say" in the question's symbol, or in its gate."""
        return self._first_extra if self.refusal else None

    @property
    def not_asked_code(self) -> int | None:
        return None if self.rule is None else self._first_extra + self.refusal

    def name_code(self, code: int) -> str:
        """Name a code of a question with one symbol, by the answer's text if there is one."""
        texts = {option.code: option.text for option in self.options}
        if code == self.not_asked_code:
            return NOT_ASKED_TEXT
        return texts.get(code, REFUSED_TEXT)

    def name_codes(self, codes: Iterable[int]) -> str:
        """Name codes that count as one answer, as in "Work or School"."""
        return " or ".join(self.name_code(code) for code in codes)

    @property
    def _first_extra(self) -> int:
        return ANSWERED + 1 if self.has_items else self.answers

    @property
    def _extras(self) -> int:
        return int(self.refusal) + int(self.rule is not None)

    @property
    def has_gate(self) -> bool:
        return self.has_items and self.has_extra_codes

    @property
    def has_extra_codes(self) -> bool:
        """Whether a person can take part without answering this question."""
        return self._extras > 0

    @property
    def k(self) -> int:
        """The number of codes of the question's symbol, or of each item's symbol."""
        return 2 if self.has_items else self.answers + self._extras

    @property
    def gate_k(self) -> int:
        return 1 + self._extras

    @cached_property
    def mechanism(self) -> RandomizedResponse:
        """The mechanism of the question's symbol, or of each item's symbol."""
        assert self.threshold is not None
        return RandomizedResponse(symbols=self.k, threshold=self.threshold)

    @cached_property
    def gate_mechanism(self) -> RandomizedResponse:
        assert self.gate_threshold is not None
        return RandomizedResponse(symbols=self.gate_k, threshold=self.gate_threshold)

    @property
    def gate_name(self) -> str:
        """The name of the gate's symbol, or "" if there is no gate."""
        return gate_name(self.name) if self.has_gate else ""

    def item_name(self, item: int) -> str:
        return item_name(self.name, item)

    @property
    def differing_items(self) -> int:
        """The most items that two people can answer differently: 2r if each may choose up to r."""
        items = len(self.options)
        return items if self.limit is None else min(items, 2 * self.limit)

    @property
    def answer_names(self) -> tuple[str, ...]:
        """The names that rules use for this question's answers."""
        if not self.has_items:
            return (self.name,)
        return tuple(self.item_name(option.code) for option in self.options)

    def find_answer_name(self, option: Option) -> tuple[str, int]:
        """Return the name and code by which a rule refers to this answer."""
        return (self.item_name(option.code), 1) if self.has_items else (self.name, option.code)

    @property
    def statements(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each text that people answer, with its possible answers. A follow-up is a second text."""
        answers = [option.text for option in self.options]
        if self.score is not None:
            shared = tuple(option.text for option in self.score.options)
            return tuple((item.text, shared) for item in self.score.items)
        two_points = self.described.has_range and self.points == 2
        if self.is_yes_or_no or self.described.has_follow_up or two_points:
            answers = ["yes", "no"]  # in every language
        if two_points:
            return ((self.text, tuple(answers)),)
        ends = [str(end) for end in (self.minimum, self.maximum) if end is not None]
        words = [word for word in (self.unit, self.low_label, self.high_label) if word]
        return tuple(
            (text, (*answers, *ends, *words)) for text in (self.text, self.follow_up) if text
        )

    @property
    def epsilon(self) -> float:
        """The ε of the question alone, in nats."""
        if not self.is_scrambled:
            return 0.0
        if not self.has_items:
            return self.mechanism.epsilon
        return round_up_sum("epsilons", self.list_differing(lambda code: code.mechanism.epsilon))

    @property
    def differing_codes(self) -> int:
        """The number of codes in which the reports of two people can differ."""
        return len(self.list_differing(lambda _: 0.0))

    def list_differing(self, measure: Callable[[Symbol], float]) -> list[float]:
        """Return a measure's largest values, one for each code in which two reports can differ."""
        symbols = list(self.symbols(block=None))
        gates = [measure(symbol) for symbol in symbols if symbol.is_gate]
        others = sorted((measure(one) for one in symbols if not one.is_gate), reverse=True)
        return [*(others[: self.differing_items] if self.has_items else others), *gates]

    def symbols(self, *, block: int | None) -> Iterator[Symbol]:
        """Yield the question's symbols, in the order in which they are sent."""
        if not self.is_answered:
            return
        if not self.has_items:
            yield Symbol(
                name=self.name, question=self.name, k=self.k, threshold=self.threshold, block=block
            )
            return
        if self.has_gate:
            yield Symbol(
                name=self.gate_name,
                question=self.name,
                is_gate=True,
                k=self.gate_k,
                threshold=self.gate_threshold,
                block=block,
            )
        for option in self.options:
            yield Symbol(
                name=self.item_name(option.code),
                question=self.name,
                item=option.code,
                k=self.k,
                threshold=self.threshold,
                block=block,
            )


def has_point_shares(type_: str, *, minimum: int | None, maximum: int | None) -> bool:
    """Return whether a scale is short enough for estimates of the share of each point."""
    if not TYPES[type_].has_points:
        return False
    assert minimum is not None
    assert maximum is not None
    return maximum - minimum < MOST_POINTS_WITH_SHARES


def with_strength(question: ManifestQuestion, *, flips: int) -> ManifestQuestion:
    """Return the question with the thresholds that follow from this strength."""
    if not question.is_scrambled:
        return question

    def threshold(symbols: int) -> int:
        return RandomizedResponse.from_flips(symbols=symbols, flips=flips).threshold

    return replace(
        question,
        flips=flips,
        threshold=threshold(question.k),
        gate_threshold=threshold(question.gate_k) if question.has_gate else None,
    )
