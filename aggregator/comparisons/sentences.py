"""Sentences and number formats that all comparisons share."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf

from aggregator.comparisons.standing import ComparisonStanding
from aggregator.models import Comparison
from surveys.comparing.indicators import find_indicators
from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest

EXPLORATORY = (
    "Exploratory: these intervals and p-values are not guaranteed if you look more than once. "
    "Comparisons have no interval that stays valid while you watch."
)
UNTIL_THE_END = (
    "Once the survey ends on the schedule you fixed, you can take a comparison planned in advance "
    "at face value."
)
NEXT_TIME = (
    "In your next survey, fix the end before you open it, and decide in advance which comparisons "
    "matter."
)
A_PLACE_TO_START = (
    "Use this page to decide where to look. The p-values are adjusted for the number of pairs. A "
    "pair that you pick here was not planned in advance, even if its own page calls planned "
    "comparisons valid."
)
_MANY = "If you try many comparisons, some will stand out by chance."
CONFIRMED = (
    "The survey ended as fixed before it opened. Each 95 % interval and p-value here is therefore "
    f"approximately valid for a comparison that you planned in advance. {_MANY}"
)
CONFIRMED_AT_CAP = (
    "The survey ended at the number of reports that was fixed before it opened. If nobody who saw "
    "results added reports, each 95 % interval and p-value here is approximately valid for a "
    f"comparison that you planned in advance. {_MANY}"
)
IMPOSSIBLE = (
    "Do not use these results. No true answers would plausibly produce these reports through this "
    "survey’s page, so some reports probably came from elsewhere."
)
SELDOM_BY_CHANCE = "Chance alone does this to fewer than 1 of 100 comparisons."
UNCLEAR = "not enough data"
SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class EstimateLine:
    """One estimate in a table of a page."""

    name: str
    anchor: str  # of its method
    value: str
    interval: str
    note: str = ""


def describe_standing(*, fixed_end: bool, at_cap: bool, end_was_frozen: bool, is_over: bool) -> str:
    """Say what these results may be used for, and what would make them valid."""
    if fixed_end:
        return CONFIRMED_AT_CAP if at_cap else CONFIRMED
    return f"{EXPLORATORY} {UNTIL_THE_END if end_was_frozen and not is_over else NEXT_TIME}"


def describe_impossible(standing: ComparisonStanding) -> str:
    """Say why the results must not be used; empty if they may be."""
    if not standing.is_impossible:
        return ""
    if not standing.alarms:
        return f"{IMPOSSIBLE} {SELDOM_BY_CHANCE}"
    numbers = [f"Q{name.removeprefix('q')}" for name in standing.alarms]
    return f"{IMPOSSIBLE} The alarm was raised for {join_list(numbers)}."


def describe_title(manifest: Manifest, comparison: Comparison) -> str:
    """Q1 by Q2; Q1 explained by Q2, Q3 and Q4; All pairs of questions."""
    labels = [indicator.label for indicator in find_indicators(manifest, comparison.names)]
    if comparison.kind == Comparison.Kind.PAIRS:
        return "All pairs of questions"
    if comparison.kind == Comparison.Kind.TABLE:
        return f"{labels[0]} by {labels[1]}"
    return f"{labels[0]} explained by {join_list(labels[1:])}"


def write_p_value(p: float) -> str:
    """About two significant digits; a small p-value is never written as zero."""
    if p < 0.0001:
        return "< 0.0001"
    if p < 0.01:
        return f"{p:.4f}"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def write_number(value: float | None, digits: int = 2) -> str:
    """Digits, a dash for what is not defined, words for what has no limit."""
    if value is None:
        return "–"
    if isinf(value):
        return "no upper limit" if value > 0 else "no lower limit"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")  # never write minus zero
    return text.replace("-", "\N{MINUS SIGN}")


def write_ends(low: float | None, high: float | None, digits: int = 2) -> str:
    return f"{write_number(low, digits)} to {write_number(high, digits)}"
