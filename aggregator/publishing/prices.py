"""What a release would show and cost, computed before it is paid for.

The price follows from the request, the manifest and the number of people that the researcher
expects, never from reports. A choice of ε that depends on answers would reveal something about the
answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from aggregator.models import Release
from aggregator.publishing.spread import Spread, draw_spread
from aggregator.releases.ledger import Account
from aggregator.releases.readers import reader_epsilons
from aggregator.releases.sentences import (
    ANCHORS,
    describe_mechanism,
    describe_readers,
    describe_took_part,
    promise,
)
from privacy.central.table import SpreadParts, table_standard_error
from surveys.formatting import whole
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from surveys.planning.assumptions import SHARE
from surveys.releasing.choice import check_requested
from surveys.releasing.noise import (
    Mechanism,
    Noise,
    ReleasePlan,
    find_bound,
    plan_release,
)
from surveys.releasing.words import find_group


@dataclass(frozen=True, kw_only=True)
class FigurePrice:
    """The interval of a share of 20 % in one question, for this many people."""

    question: ManifestQuestion
    people: int
    spread: Spread


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a page shows before a release is paid for; amounts of ε are in hundredths."""

    request: ReleaseRequest
    people: int
    left: int  # after the release
    guess: str  # a sentence: how often a guess whether someone took part is right
    took_part: str
    readers: str
    readers_together: str  # with all earlier releases, or "" if they add nothing
    mechanism: str
    why: str
    anchor: str  # where the methods explain this kind of release
    # For a table, one figure of each question, the widest interval first.
    figures: tuple[FigurePrice, ...] = ()
    people_needed: int = 0
    groups: int = 1  # assumed to have equal sizes; each has its own counts
    enough: int = 0  # the least ε that is enough for these people, or 0 if not even this ε is left
    reach: str = ""  # for a choice: what to expect of the published answer
    is_blunt: bool = False  # whether the published answer says next to nothing

    @property
    def typical(self) -> FigurePrice | None:
        return self.figures[0] if self.figures else None

    @property
    def is_too_few(self) -> bool:
        return any(figure.people < self.people_needed for figure in self.figures)


def find_price(*, wave: Wave, account: Account, request: ReleaseRequest, people: int) -> Price:
    """Find the price of a request; raise NotReleasable if the request is not allowed."""
    manifest = wave.description
    request = check_requested(request, manifest)
    plan = plan_release(request, manifest, delta_nanos_left=account.delta_left)
    row = _plan_row(wave, request, plan)
    questions = [one for one in manifest.questions if one.name in request.questions]
    readers = _describe_readers(manifest, [row], questions)
    # Lost releases also count, because readers may have seen them before a backup was restored.
    together = _describe_readers(manifest, [*account.releases, row], questions)
    price = Price(
        request=request,
        people=people,
        left=account.left - plan.epsilon_hundredths,
        guess=promise(row, manifest),
        took_part=describe_took_part(row),
        readers=readers,
        readers_together="" if together == readers else together,
        mechanism=describe_mechanism(row),
        why=_explain_mechanism(plan, account, request, manifest),
        anchor=ANCHORS[request.kind],
    )
    if request.kind == ReleaseKind.TABLE:
        return _price_table(price, plan, manifest, questions, left=account.left)
    return _price_choice(price, plan, manifest, questions[0])


def _plan_row(wave: Wave, request: ReleaseRequest, plan: ReleasePlan) -> Release:
    """Return the row for a request, without storing it."""
    return Release(
        wave=wave,
        kind=request.kind,
        request=request.to_json(),
        mechanism=plan.mechanism,
        scale=str(plan.scale),
        epsilon_hundredths=plan.epsilon_hundredths,
        delta_nanos=plan.delta_nanos,
        rho=plan.rho,
    )


def _describe_readers(
    manifest: Manifest, releases: Sequence[Release], questions: Sequence[ManifestQuestion]
) -> str:
    """Say what readers of these releases can learn about the answers to these questions."""
    names = {question.name for question in questions}
    lines = reader_epsilons(manifest, releases)
    return describe_readers([line for line in lines if line.question.name in names])


def _explain_mechanism(
    plan: ReleasePlan, account: Account, request: ReleaseRequest, manifest: Manifest
) -> str:
    if plan.mechanism == Mechanism.PERMUTE_AND_FLIP:
        return "The better an answer does, the more likely it is to be chosen."
    if plan.mechanism == Mechanism.GAUSSIAN:
        return (
            "It varies less than Laplace noise at this ε, but spends all of this survey’s δ, so "
            "later tables use Laplace noise."
        )
    with_delta = plan_release(request, manifest, delta_nanos_left=account.delta_cap)
    if with_delta.mechanism == Mechanism.GAUSSIAN:
        return "Gaussian noise would vary less, but this survey’s δ is spent."
    if account.delta_left:
        return "It varies less than Gaussian noise at this ε, and needs no δ."
    return "It needs no δ."


def _price_table(
    price: Price,
    plan: ReleasePlan,
    manifest: Manifest,
    questions: Sequence[ManifestQuestion],
    *,
    left: int,
) -> Price:
    noise = Noise.of(plan.mechanism, plan.scale)
    group = find_group(manifest, price.request)
    groups = len(group.options) if group else 1
    in_group = max(1, price.people // groups)
    spreads = [
        (_find_spread(manifest, question, noise.variance, in_group), question)
        for question in questions
    ]
    spreads.sort(key=lambda pair: -pair[0].total)
    figures = tuple(
        FigurePrice(
            question=question,
            people=_count_reports(manifest, question, in_group),
            spread=draw_spread(parts),
        )
        for parts, question in spreads
    )
    # The scale of noise, and with it the number of people needed, falls as ε grows.
    fewest = min(figure.people for figure in figures)
    enough = ceil(plan.epsilon_hundredths * noise.least / fewest)
    return replace(
        price,
        figures=figures,
        groups=groups,
        people_needed=noise.least,
        enough=enough if enough <= left else 0,
    )


def _find_spread(
    manifest: Manifest, question: ManifestQuestion, variance: float, people: int
) -> SpreadParts:
    return table_standard_error(
        share=SHARE,
        people=_count_reports(manifest, question, people),
        noise_variance=variance,
        **_build_channel(_find_symbol(question)),
    )


def _find_symbol(question: ManifestQuestion) -> Symbol:
    """Return a symbol that shows answers, which is an item if there are items."""
    return next(symbol for symbol in question.symbols(block=None) if not symbol.is_gate)


def _build_channel(symbol: Symbol) -> dict[str, Any]:
    if symbol.threshold is None:
        return {"mechanism_k": symbol.k, "other_probability": 0.0, "slope": 1.0}
    mechanism = symbol.mechanism
    return {
        "mechanism_k": symbol.k,
        "other_probability": mechanism.other_probability,
        "slope": mechanism.slope,
    }


def _count_reports(manifest: Manifest, question: ManifestQuestion, people: int) -> int:
    """Return how many of these people are asked the question; random subsets reduce this number."""
    return max(1, round(people * manifest.find_asked_fraction(question.name)))


def _price_choice(
    price: Price, plan: ReleasePlan, manifest: Manifest, question: ManifestQuestion
) -> Price:
    reach = find_bound(price.request, question)
    reports = _count_reports(manifest, question, price.people)
    most, people = whole(ceil(reach)), _write_people(reports, price.people)
    limit = (
        f"is at most {most} of {people} behind the leader."
        if plan.is_monotone
        else f"is the median, or would be if at most {most} of {people} had answered differently."
    )
    return replace(
        price,
        reach=f"With 95 % probability, the published answer {limit}",
        is_blunt=reach > reports / 2,
    )


def _write_people(asked: int, people: int) -> str:
    if asked == people:
        return f"{whole(people)} people"
    return f"{whole(asked)} people (asked of {whole(people)})"
