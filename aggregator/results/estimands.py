"""What is estimated for each type of question: shares of some group, and means.

A pure function of the manifest. Estimates, pages, charts and files all follow this list, so an
estimand has the same meaning everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ANSWERED, REFUSED_TEXT, ManifestQuestion

YES = 1


class Kind(StrEnum):
    SHARE = "share"
    MEAN = "mean"


class Among(StrEnum):
    """Of whom a share is: a column of estimates.csv."""

    EVERYONE = "everyone"  # who was asked, where no rule and no refusal set anybody apart
    ASKED = "asked"
    ANSWERED = "answered"
    YES = "yes"  # who said yes to the first part of a follow-up


@dataclass(frozen=True, kw_only=True)
class Estimand:
    """What is estimated from the codes of one symbol, or as a ratio to another one's.

    The share of the codes `event` among the codes `among`; `among` is None where it is all. With
    a `gate` it is the share of `event` among those whose gate says "answered".
    """

    question: str
    kind: Kind
    name: str  # the last part of its name in files: a code, an item, "refused", "asked", "mean"
    text: str
    symbol: str
    event: tuple[int, ...]
    of: Among
    among: tuple[int, ...] | None = None
    gate: str = ""
    shown: bool = True  # on pages; of yes and no only the yes

    @property
    def key(self) -> str:
        """Unique in a survey: "q3 1" is the share of code 1 of q3."""
        return f"{self.question} {self.name}"


def list_estimands(manifest: Manifest) -> list[Estimand]:
    """Every estimand of every protected question, in the order of the survey."""
    return [estimand for question in manifest.questions for estimand in estimands_of(question)]


def estimands_of(question: ManifestQuestion) -> Iterator[Estimand]:
    if not question.is_protected:
        return
    if question.has_items:
        yield from _of_items(question)
    elif question.is_rounded:
        yield _mean(question)
    elif question.described.has_follow_up:
        yield from _of_follow_up(question)
    else:
        yield from _of_options(question)
    yield from _of_those_who_do_not_answer(question)


def _answered(question: ManifestQuestion) -> tuple[int, ...] | None:
    """The codes that are answers; None if all are."""
    return None if question.k == question.answers else tuple(range(question.answers))


def _whom(question: ManifestQuestion) -> Among:
    return Among.ANSWERED if question.has_extra_codes else Among.EVERYONE


def _of_options(question: ManifestQuestion) -> Iterator[Estimand]:
    for option in question.options:
        yield Estimand(
            question=question.name,
            kind=Kind.SHARE,
            name=str(option.code),
            text=option.text,
            symbol=question.name,
            event=(option.code,),
            among=_answered(question),
            of=_whom(question),
            shown=not question.is_yes_or_no or option.code == YES,
        )
    if question.has_mean:
        yield _mean(question)


def _mean(question: ManifestQuestion) -> Estimand:
    """Of a rounded number from the share of ones; of a scale's points from all their shares."""
    return Estimand(
        question=question.name,
        kind=Kind.MEAN,
        name="mean",
        text="Mean",
        symbol=question.name,
        event=(YES,) if question.is_rounded else tuple(range(question.answers)),
        among=_answered(question),
        of=_whom(question),
    )


def _of_follow_up(question: ManifestQuestion) -> Iterator[Estimand]:
    yield Estimand(
        question=question.name,
        kind=Kind.SHARE,
        name="yes",
        text="Yes",
        symbol=question.name,
        event=(1, 2),
        among=_answered(question),
        of=_whom(question),
    )
    yield Estimand(
        question=question.name,
        kind=Kind.SHARE,
        name="follow_up",
        text=question.follow_up,
        symbol=question.name,
        event=(1,),
        among=(1, 2),
        of=Among.YES,
    )


def _of_items(question: ManifestQuestion) -> Iterator[Estimand]:
    for option in question.options:
        yield Estimand(
            question=question.name,
            kind=Kind.SHARE,
            name=str(option.code),
            text=option.text,
            symbol=question.item_name(option.code),
            event=(YES,),
            of=_whom(question),
            gate=question.gate_name,
        )


def _of_those_who_do_not_answer(question: ManifestQuestion) -> Iterator[Estimand]:
    symbol = question.gate_name or question.name
    first = ANSWERED + 1 if question.has_gate else question.answers
    asked = tuple(range(first + question.refusal))
    if question.refused_code is not None:
        yield Estimand(
            question=question.name,
            kind=Kind.SHARE,
            name="refused",
            text=REFUSED_TEXT,
            symbol=symbol,
            event=(question.refused_code,),
            among=None if question.rule is None else asked,
            of=Among.EVERYONE if question.rule is None else Among.ASKED,
        )
    if question.rule is not None:
        yield Estimand(
            question=question.name,
            kind=Kind.SHARE,
            name="asked",
            text="Were asked this question",
            symbol=symbol,
            event=asked,
            of=Among.EVERYONE,
        )
