"""Estimate how many people were asked a question behind a rule, for all pages and files alike.

Earlier answers decide who is asked, so the share is estimated from these answers. The question's
own "not asked" code is used only if this is impossible.
"""

from __future__ import annotations

from collections.abc import Iterator

from aggregator.results.estimands import Estimand, estimands_of
from aggregator.results.estimate import Estimate, Levels
from aggregator.results.estimators.counted import Counted, Event
from aggregator.results.estimators.joint_cells import build_asked_cells, count_who_may_be_asked
from aggregator.results.estimators.marginal_shares import MarginalShares
from aggregator.results.estimators.ratios import (
    Found,
    Method,
    build_estimate,
    find_jointly,
    list_mechanisms,
)
from privacy.shares.joint.fallback import joint_share_covers
from surveys.manifest.manifest import Manifest


def list_sums(counted: Counted) -> Iterator[Event]:
    """For each rule that reads one scrambled symbol, list the codes that lead to its question."""
    for question in counted.manifest.questions:
        event = counted.find_event(question) if question.is_scrambled else None
        if event is not None and event.symbol in counted.scrambled:
            yield event


def estimate_asked(
    estimand: Estimand, counted: Counted, marginal: MarginalShares, levels: Levels
) -> Estimate:
    event = counted.find_event(estimand.question)
    if event is not None and event.symbol in counted.scrambled:
        return marginal.estimate(estimand, event)
    method = _count_groups(estimand, counted) or _find_by_likelihood(estimand, counted)
    if method is None:
        return marginal.estimate(estimand, _find_own_codes(estimand, counted.manifest))
    counts = counted.symbols[estimand.symbol]
    return build_estimate(estimand, counts, method, levels)


def _count_groups(estimand: Estimand, counted: Counted) -> Method | None:
    """Count the people for whom a rule holds, if it reads one answer that is sent as it is.

    Returns None if that answer's groups are not shown, or if the rule reads several symbols.
    """
    event = counted.find_event(estimand.question)
    if event is None or not counted.may_tell(event):
        return None
    counts = counted.symbols[event.symbol]
    return _state(counts.count(event.codes) / counts.total, symbols=(event.symbol,))


def _state(share: float, *, symbols: tuple[str, ...]) -> Method:
    found = Found(
        value=share,
        standard_error=0.0,
        design_error=0.0,
        low=share,
        high=share,
    )
    return Method(name="exact", find=lambda _: found, symbols=symbols)


def _find_by_likelihood(estimand: Estimand, counted: Counted) -> Method | None:
    """Estimate the share from the several symbols that the rule reads."""
    found = counted.find_parents(estimand.question)
    if found is None or not counted.may_use(found):
        return None
    mechanisms = list_mechanisms(found.table.parents)
    total = count_who_may_be_asked(found)
    if not mechanisms or not joint_share_covers(total=total, mechanisms=mechanisms):
        return None
    return find_jointly(build_asked_cells(found), symbols=found.table.parent_names)


def _find_own_codes(estimand: Estimand, manifest: Manifest) -> Event:
    """Return the codes that mean "asked" in the first question with the same rule.

    The same people were asked that question.
    """
    own = estimand.question
    for question in manifest.questions:
        if not question.is_scrambled or question.rule != own.rule:
            continue
        if manifest.drawn is None or manifest.blocks[question.name] == manifest.blocks[own.name]:
            first = next(each for each in estimands_of(question) if each.is_asked)
            return Event(symbol=first.symbol, codes=first.event)
    raise AssertionError(f"{own.name} is not among its own survey's questions")
