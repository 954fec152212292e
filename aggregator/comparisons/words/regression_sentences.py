"""The text on the page of a regression: one line for each coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aggregator.comparisons.result import RegressionResult, Term
from aggregator.comparisons.sentences import (
    SIGNIFICANT,
    UNCLEAR,
    write_ends,
    write_number,
    write_p_value,
)
from surveys.comparing.indicators import list_indicators
from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest

NO_EFFECT = "There is not enough data to say that any of these predictors matters."
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

    @property
    def is_clear(self) -> bool:
        return self.sentence not in ("", UNCLEAR)


def write_terms(result: RegressionResult, manifest: Manifest) -> list[TermLine]:
    return [_write_term(term, manifest) for term in result.terms]


def name_term(term: Term, manifest: Manifest) -> str:
    """Yes to Q3, “Work” (Q5), or the base odds."""
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    return indicators[term.indicator].yes_text if term.indicator else BASE_ODDS


def _write_term(term: Term, manifest: Manifest) -> TermLine:
    adjusted = term.adjusted_p_value
    return TermLine(
        name=name_term(term, manifest),
        odds_ratio=write_number(term.odds_ratio),
        interval=write_ends(term.odds_ratio_low, term.odds_ratio_high),
        coefficient=write_number(term.coefficient, 3),
        standard_error=write_number(term.standard_error, 3),
        p_value=write_p_value(term.p_value),
        adjusted="–" if adjusted is None else write_p_value(adjusted),
        sentence="" if adjusted is None else _describe_effect(term.coefficient, adjusted),
    )


def summarize_terms(lines: Sequence[TermLine]) -> str:
    """Say which predictors matter, in one sentence."""
    found = [f"{line.name} ({line.sentence})" for line in lines if line.is_clear]
    if not found:
        return NO_EFFECT
    return f"Related to the outcome, while the other answers stay the same: {join_list(found)}."


def _describe_effect(coefficient: float, adjusted_p_value: float) -> str:
    # The test decides, adjusted for all predictors; the interval is a different approximation.
    if adjusted_p_value > SIGNIFICANT:
        return UNCLEAR
    return "higher odds" if coefficient > 0 else "lower odds"
