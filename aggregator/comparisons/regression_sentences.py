"""The page of a regression in words: one line for each coefficient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aggregator.comparisons.result import RegressionResult, Term
from aggregator.comparisons.sentences import (
    SIGNIFICANT,
    UNCLEAR,
    write_ends,
    write_number,
    write_p_value,
)
from surveys.comparing.indicators import Indicator, list_indicators
from surveys.manifest.manifest import Manifest

BASE_ODDS = "Base odds (No to all predictors)"


@dataclass(frozen=True, kw_only=True)
class TermLine:
    name: str
    odds_ratio: str
    interval: str
    coefficient: str
    standard_error: str
    p_value: str
    adjusted: str
    sentence: str


def write_terms(result: RegressionResult, manifest: Manifest) -> list[TermLine]:
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    return [_write_term(term, indicators) for term in result.terms]


def _write_term(term: Term, indicators: Mapping[str, Indicator]) -> TermLine:
    name = BASE_ODDS
    if term.indicator:
        indicator = indicators[term.indicator]
        name = indicator.label if indicator.is_known else f"{indicator.label}: Yes"
    adjusted = term.adjusted_p_value
    return TermLine(
        name=name,
        odds_ratio=write_number(term.odds_ratio),
        interval=write_ends(term.odds_ratio_low, term.odds_ratio_high),
        coefficient=write_number(term.coefficient, 3),
        standard_error=write_number(term.standard_error, 3),
        p_value=write_p_value(term.p_value),
        adjusted="–" if adjusted is None else write_p_value(adjusted),
        sentence="" if adjusted is None else _describe_effect(term.coefficient, adjusted),
    )


def _describe_effect(coefficient: float, adjusted_p_value: float) -> str:
    # By the test, adjusted for all predictors; the interval is a different approximation.
    if adjusted_p_value > SIGNIFICANT:
        return UNCLEAR
    return "higher odds" if coefficient > 0 else "lower odds"
