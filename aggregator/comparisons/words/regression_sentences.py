"""The text on the page of a regression: one line for each coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aggregator.comparisons.reliability import rate_term
from aggregator.comparisons.result import RegressionResult, Term
from aggregator.comparisons.sentences import (
    UNCLEAR,
    adjust_p,
    subtract_shown,
    write_end,
    write_number,
    write_p_value,
    write_points,
    write_range,
)
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import CAUTION_MARK, NOTHING, TOO_FEW
from privacy.associations.latent_regression import AdjustedShare
from surveys.comparing.indicators import list_indicators
from surveys.formatting import join_list, percent, points
from surveys.manifest.manifest import Manifest

NO_EFFECT = "There is not enough data to say that any of these predictors matters."
NOTHING_SHOWN = "Too few people took part to say anything about these predictors."
BASE_ODDS = "Base odds (No to all predictors)"
HIGHER, LOWER = "higher odds", "lower odds"


@dataclass(frozen=True, kw_only=True)
class TermLine:
    """One predictor; shares are those if everybody said Yes, or No, to it."""

    name: str
    sentence: str
    odds_ratio: str
    share: str = NOTHING
    reference: str = NOTHING
    difference: str = NOTHING
    adjusted_p: str = NOTHING

    @property
    def is_clear(self) -> bool:
        return self.sentence in (HIGHER, LOWER)


def write_terms(result: RegressionResult, manifest: Manifest) -> list[TermLine]:
    """List the predictors."""
    return [_write_term(result, term, manifest) for term in result.terms if term.indicator]


def name_term(term: Term, manifest: Manifest) -> str:
    """Yes to Q3, “Work” (Q5), or the base odds."""
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    return indicators[term.indicator].yes_text if term.indicator else BASE_ODDS


def _write_term(result: RegressionResult, term: Term, manifest: Manifest) -> TermLine:
    name, adjusted = name_term(term, manifest), term.adjusted
    if adjusted is None or rate_term(term) is Reliability.NOT_SHOWN:
        return TermLine(name=name, sentence=TOO_FEW, odds_ratio=NOTHING)
    difference = subtract_shown(adjusted.share.estimate, adjusted.reference.estimate)
    ends = write_range(*(write_end(100 * end) for end in _list_ends(adjusted.difference)))
    p_value = adjust_p(term.p_value, result.together)
    return TermLine(
        name=name,
        sentence=_describe_effect(term),
        odds_ratio=write_ratio(term),
        share=_write_share(adjusted.share),
        reference=_write_share(adjusted.reference),
        difference=f"{write_points(difference)} ({ends})",
        adjusted_p=NOTHING if p_value is None else write_p_value(p_value),
    )


def write_ratio(term: Term) -> str:
    """2.31 (1.20–4.44), with a mark of caution; words instead where it is not shown."""
    rating = rate_term(term)
    if rating is Reliability.NOT_SHOWN:
        return TOO_FEW
    mark = CAUTION_MARK if rating is Reliability.CAUTION else ""
    ends = write_range(
        *(write_end(end, digits=2, beside=1) for end in (term.odds_ratio_low, term.odds_ratio_high))
    )
    return f"{write_number(term.odds_ratio)}{mark} ({ends})"


def _list_ends(share: AdjustedShare) -> tuple[float, float]:
    return share.low, share.high


def _write_share(share: AdjustedShare) -> str:
    return f"{percent(share.estimate)} ({points(share.low)}–{points(share.high)})"


def summarize_terms(lines: Sequence[TermLine]) -> str:
    """Say which predictors matter, in one sentence."""
    found = [f"{line.name} ({line.sentence})" for line in lines if line.is_clear]
    if found:
        return f"Related to the outcome, while the other answers stay the same: {join_list(found)}."
    return NOTHING_SHOWN if all(line.sentence == TOO_FEW for line in lines) else NO_EFFECT


def _describe_effect(term: Term) -> str:
    if term.low <= 0 <= term.high:
        return UNCLEAR
    return HIGHER if term.coefficient > 0 else LOWER
