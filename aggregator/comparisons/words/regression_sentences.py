"""The text on the page of a regression: one line for each coefficient and for each factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aggregator.comparisons.reliability import rate_term
from aggregator.comparisons.result import FactorTest, RegressionResult, Term, Together
from aggregator.comparisons.sentences import (
    UNCLEAR,
    adjust_p,
    name_planned,
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
from privacy.level import SIGNIFICANCE
from surveys.comparing.indicators import Factor, Indicator, find_indicators
from surveys.formatting import join_list, percent, points
from surveys.manifest.manifest import Manifest

NO_EFFECT = "None of these predictors is clearly related to the outcome."
NO_EFFECT_OF_ONE = "This predictor is not clearly related to the outcome."
NOTHING_SHOWN = "Too few people took part to say anything about these predictors."
LAST_AND_FIRST = "shares: last and first point"
HIGHER, LOWER, MATTERS = "higher odds", "lower odds", "related"
# No test of several coefficients is known to hold at several looks.
NOT_AT_LOOKS = "not tested: results were watched"


@dataclass(frozen=True, kw_only=True)
class TermLine:
    """One answer to a predictor, or a factor as a whole.

    `share` is the share of the outcome if everybody gave this answer, and `reference` is the share
    if everybody gave the reference answer.
    """

    name: str
    sentence: str
    odds_ratio: str
    detail: str = ""  # the answers that the shares assume, unless the name states them
    share: str = NOTHING
    reference: str = NOTHING
    difference: str = NOTHING
    adjusted_p: str = NOTHING

    @property
    def is_clear(self) -> bool:
        return self.sentence in (HIGHER, LOWER, MATTERS)

    @property
    def finding(self) -> str:
        """The line's part of the summary."""
        return self.name if self.sentence == MATTERS else f"{self.name} ({self.sentence})"


def write_terms(result: RegressionResult, manifest: Manifest) -> list[TermLine]:
    """List the coefficients, and each factor as a whole after its last coefficient."""
    factors = {test.indicator: test for test in result.factors}
    predictors = find_predictors(result, manifest)
    lines: list[TermLine] = []
    for term in result.terms:
        if not term.indicator:
            continue
        predictor = predictors[term.indicator]
        lines.append(_write_term(result, term, predictor))
        of_factor = [one for one in result.terms if one.indicator == term.indicator]
        if term.indicator in factors and term is of_factor[-1]:
            lines.append(_write_factor(factors[term.indicator], result.together, predictor))
    return lines


def find_predictors(result: RegressionResult, manifest: Manifest) -> dict[str, Indicator]:
    """Return the predictors by name."""
    names = list(dict.fromkeys(term.indicator for term in result.terms if term.indicator))
    return dict(zip(names, find_indicators(manifest, names), strict=True))


def name_term(term: Term, indicator: Indicator) -> str:
    """Write "Yes to Q3", "each point of Q4" or "“Work” rather than “School” (Q5)", for example."""
    if not isinstance(indicator, Factor):
        return indicator.yes_text
    if indicator.is_trend:
        return f"each point of Q{indicator.number}"
    answer, reference = map(indicator.quote, term.answers)
    return f"{answer} rather than {reference} (Q{indicator.number})"


def _write_factor(test: FactorTest, together: Together, factor: Indicator) -> TermLine:
    name, p_value = f"Q{factor.number} as a whole", adjust_p(test.p_value, together)
    if p_value is None:
        return TermLine(name=name, sentence=NOT_AT_LOOKS, odds_ratio=NOTHING)
    return TermLine(
        name=name,
        sentence=MATTERS if p_value <= SIGNIFICANCE else UNCLEAR,
        odds_ratio=NOTHING,
        adjusted_p=write_p_value(p_value),
    )


@dataclass(frozen=True, kw_only=True)
class ReferenceMenu:
    """The answers that can be a factor's reference; the first is the current reference."""

    place: int  # the factor's position among the indicators of the comparison
    label: str
    choices: tuple[tuple[str, str], ...]  # the name and the text of each reference


def list_references(
    result: RegressionResult, indicators: Sequence[Indicator]
) -> list[ReferenceMenu]:
    menus = []
    for place, factor in enumerate(indicators):
        contrasts = [term.answers for term in result.terms if term.indicator == factor.name]
        if not isinstance(factor, Factor) or factor.is_trend or not contrasts:
            continue
        answers = [contrasts[0][1], *(answer for answer, _ in contrasts)]
        menus.append(
            ReferenceMenu(
                place=place,
                label=f"Reference for Q{factor.number}",
                choices=tuple(
                    (factor.name_with(answer), factor.question.name_codes(answer))
                    for answer in answers
                ),
            )
        )
    return menus


def list_tests(result: RegressionResult, *, planned: int = 0) -> str:
    """Name what the intervals cover jointly: the predictors, or all tests if there are more.

    `planned` is the number of planned comparisons if this is one of them, otherwise 0.
    """
    if planned:
        return name_planned(result.together, planned)
    return "tests of this regression" if result.factors else "predictors"


def _write_term(result: RegressionResult, term: Term, predictor: Indicator) -> TermLine:
    name, adjusted = name_term(term, predictor), term.adjusted
    if adjusted is None or rate_term(term) is Reliability.NOT_SHOWN:
        return TermLine(name=name, sentence=TOO_FEW, odds_ratio=NOTHING)
    difference = subtract_shown(adjusted.share.estimate, adjusted.reference.estimate)
    ends = write_range(*(write_end(100 * end) for end in _list_ends(adjusted.difference)))
    p_value = adjust_p(term.p_value, result.together)
    return TermLine(
        name=name,
        sentence=_describe_effect(term),
        odds_ratio=write_ratio(term),
        detail=LAST_AND_FIRST if term.is_trend else "",
        share=_write_share(adjusted.share),
        reference=_write_share(adjusted.reference),
        difference=f"{write_points(difference)} ({ends})",
        adjusted_p=NOTHING if p_value is None else write_p_value(p_value),
    )


def write_ratio(term: Term) -> str:
    """Write a ratio such as "2.31 (1.20–4.44)", marked if caution is due, or "too few answers"."""
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
    found = [line.finding for line in lines if line.is_clear]
    if found:
        return f"Related to the outcome, while the other answers stay the same: {join_list(found)}."
    if all(line.sentence == TOO_FEW for line in lines):
        return NOTHING_SHOWN
    return NO_EFFECT if len(lines) > 1 else NO_EFFECT_OF_ONE


def _describe_effect(term: Term) -> str:
    if term.low <= 0 <= term.high:
        return UNCLEAR
    return HIGHER if term.coefficient > 0 else LOWER
