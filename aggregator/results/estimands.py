"""The shares and means that are estimated for each type of question.

The list is a pure function of the manifest. Estimates, pages, charts and files all follow it, so an
estimand has the same meaning everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ANSWERED, REFUSED_TEXT, ManifestQuestion

YES = 1


class EstimandKind(StrEnum):
    SHARE = "share"
    MEAN = "mean"


class Among(StrEnum):
    """The group that a share or mean describes, as in the column `of` of estimates.csv."""

    EVERYONE = "everyone"  # everyone who was asked, where no rule or refusal applies
    ASKED = "asked"
    ANSWERED = "answered"
    YES = "yes"  # those who said yes to the first part of a follow-up


@dataclass(frozen=True, kw_only=True)
class Estimand:
    """A share or mean that is estimated from the codes of one or two symbols.

    A share is the proportion of the codes `event` among the codes `among`, or among all codes if
    `among` is None. With a `gate`, it is the share of `event` among people whose gate says
    "answered".
    """

    question: ManifestQuestion
    kind: EstimandKind
    name: str  # the last part of its name in files: a code, an item, "refused", "asked", "mean"
    text: str
    symbol: str
    event: tuple[int, ...]
    of: Among
    among: tuple[int, ...] | None = None
    gate: str = ""
    shown: bool = True  # whether pages show it; they omit the share of No to a yes/no question

    @property
    def key(self) -> str:
        """A name that is unique in a survey: "q3 1" is the share of code 1 of q3."""
        return f"{self.question.name} {self.name}"

    @property
    def is_mean(self) -> bool:
        return self.kind is EstimandKind.MEAN

    @property
    def is_scale_mean(self) -> bool:
        """Whether this is a mean of points that are sent as codes, not of a rounded number."""
        return self.is_mean and not self.question.is_rounded

    @property
    def is_asked(self) -> bool:
        """Whether this is the share of people who were asked a question behind a rule."""
        return self.name == "asked"

    @property
    def is_ratio(self) -> bool:
        """Whether this is a share or mean of only some people, or a mean of points."""
        return self.among is not None or bool(self.gate) or self.is_scale_mean

    @property
    def scale(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        if not self.is_mean:
            return 0.0, 1.0
        minimum, maximum = self.question.minimum, self.question.maximum
        assert minimum is not None
        assert maximum is not None
        return float(minimum), float(maximum)

    @property
    def is_complement(self) -> bool:
        """Whether the event is all codes but one; the share of that code is then estimated."""
        return len(self.event) > 1

    def single_code(self, codes: Iterable[int]) -> int:
        """Return the event's only code, or the only one of `codes` that the event leaves out."""
        (code,) = set(codes) - set(self.event) if self.is_complement else self.event
        return code


def list_estimands(manifest: Manifest) -> list[Estimand]:
    """List all estimands of all protected questions, in the order of the survey."""
    return [estimand for question in manifest.questions for estimand in estimands_of(question)]


def estimands_of(question: ManifestQuestion) -> Iterator[Estimand]:
    if not question.is_scrambled:
        return
    if question.has_items:
        yield from _share_of_each_item(question)
    elif question.is_rounded:
        yield _mean(question)
    elif question.described.has_follow_up:
        yield from _shares_of_follow_up(question)
    else:
        yield from _share_of_each_option(question)
    yield from _shares_without_answer(question)


def _answered(question: ManifestQuestion) -> tuple[int, ...] | None:
    """Return the codes that are answers, or None if all codes are."""
    return None if question.k == question.answers else tuple(range(question.answers))


def _group(question: ManifestQuestion) -> Among:
    return Among.ANSWERED if question.has_extra_codes else Among.EVERYONE


def _share_of_each_option(question: ManifestQuestion) -> Iterator[Estimand]:
    for option in question.options:
        yield Estimand(
            question=question,
            kind=EstimandKind.SHARE,
            name=str(option.code),
            text=option.text,
            symbol=question.name,
            event=(option.code,),
            among=_answered(question),
            of=_group(question),
            shown=not question.is_yes_or_no or option.code == YES,
        )
    if question.has_mean:
        yield _mean(question)


def _mean(question: ManifestQuestion) -> Estimand:
    """Describe the mean of a rounded number (from its share of ones) or of a scale's points."""
    return Estimand(
        question=question,
        kind=EstimandKind.MEAN,
        name="mean",
        text="Mean",
        symbol=question.name,
        event=(YES,) if question.is_rounded else tuple(range(question.answers)),
        among=_answered(question),
        of=_group(question),
    )


def _shares_of_follow_up(question: ManifestQuestion) -> Iterator[Estimand]:
    yield Estimand(
        question=question,
        kind=EstimandKind.SHARE,
        name="yes",
        text="Yes",
        symbol=question.name,
        event=(1, 2),
        among=_answered(question),
        of=_group(question),
    )
    yield Estimand(
        question=question,
        kind=EstimandKind.SHARE,
        name="follow_up",
        text=question.follow_up,
        symbol=question.name,
        event=(1,),
        among=(1, 2),
        of=Among.YES,
    )


def _share_of_each_item(question: ManifestQuestion) -> Iterator[Estimand]:
    for option in question.options:
        yield Estimand(
            question=question,
            kind=EstimandKind.SHARE,
            name=str(option.code),
            text=option.text,
            symbol=question.item_name(option.code),
            event=(YES,),
            of=_group(question),
            gate=question.gate_name,
        )


def _shares_without_answer(question: ManifestQuestion) -> Iterator[Estimand]:
    symbol = question.gate_name or question.name
    first = ANSWERED + 1 if question.has_gate else question.answers
    asked = tuple(range(first + question.refusal))
    if question.refused_code is not None:
        yield Estimand(
            question=question,
            kind=EstimandKind.SHARE,
            name="refused",
            text=REFUSED_TEXT,
            symbol=symbol,
            event=(question.refused_code,),
            among=None if question.rule is None else asked,
            of=Among.EVERYONE if question.rule is None else Among.ASKED,
        )
    if question.rule is not None:
        yield Estimand(
            question=question,
            kind=EstimandKind.SHARE,
            name="asked",
            text="Were asked this question",
            symbol=symbol,
            event=asked,
            of=Among.EVERYONE,
        )


def name_answer(question: ManifestQuestion, text: str) -> str:
    """Name an answer; the ends of a scale include their labels, such as "1 (Never)"."""
    if not question.described.has_points:
        return text
    ends = {str(question.minimum): question.low_label, str(question.maximum): question.high_label}
    label = ends.get(text)
    return f"{text} ({label})" if label else text
