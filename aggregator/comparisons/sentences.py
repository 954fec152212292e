"""Sentences, number formats and Bonferroni's adjusted p-values that all comparisons share."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf

from aggregator.comparisons.result import Together
from aggregator.comparisons.standing import ComparisonStanding
from aggregator.models import Comparison
from aggregator.results.display import Results
from aggregator.results.sentences import describe_burst
from aggregator.results.snapshots import ended_at_cap
from surveys.comparing.choice import describe_choice
from surveys.comparing.indicators import find_indicators
from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest
from surveys.models import Wave

# Pages say this about a comparison that was not planned.
TRIED = (
    "Exploratory: this was not planned before the survey opened. Its intervals do not allow for "
    "other comparisons. If you try many, some relationships will appear by chance."
)
NEXT_TIME = "In your next survey, plan the comparisons that matter before you open it."
PLANNED = (
    "Planned before opening, so you can take it at face value. Its interval is a large-sample "
    "approximation."
)
PLANNED_BUT_WARNED = (
    "Planned before opening. But the results page warns about some of the reports. That warning "
    "also applies here."
)
PLANNED_STILL_OPEN = "Planned before opening. It will be computed again when the survey has ended."
PLANNED_BEFORE_THE_END = (
    "Planned before opening, but computed before the survey ended. Compute it again with all "
    "reports."
)
AS_A_WHOLE = (
    "If a comparison was planned before opening, you can take it at face value. All others are "
    "exploratory: if you try many, some relationships will appear by chance."
)
WARNED = "The results page warns about some of the reports. That warning also applies here."
AT_CAP = "This assumes that nobody who saw results sent reports."
A_PLACE_TO_START = (
    "Exploratory: use this page to decide where to look. The p-values are adjusted for the number "
    "of pairs."
)
A_SUMMARY = (
    "This is a summary, not a test. The profiles describe the most likely table, and pure chance "
    "would also produce some."
)
IMPOSSIBLE = (
    "Do not use these results. No true answers would plausibly produce these reports through this "
    "survey’s page, so some reports probably came from elsewhere."
)
SELDOM_BY_CHANCE = "Chance alone causes this in fewer than 1 in 100 comparisons."
MINUS = "\N{MINUS SIGN}"
UNCLEAR = "no clear relation"


@dataclass(frozen=True, kw_only=True)
class EstimateLine:
    """One estimate in a table on a page."""

    name: str
    anchor: str  # of its method
    value: str
    interval: str
    note: str = ""


def is_warned_of(results: Results) -> bool:
    """Return whether the results page warns about the reports, so that no result can be trusted."""
    return bool(results.alarms) or (not results.wave.survey.demo and bool(describe_burst(results)))


def name_planned(together: Together, planned: int) -> str:
    """Name what a planned comparison's simultaneous intervals cover.

    A planned regression may have several tests, so there may be more tests than comparisons.
    """
    return "planned comparisons" if together.family == planned else "planned tests"


def describe_together(
    together: Together, *, what: str = "Lines", of: str = "planned comparisons"
) -> str:
    """Say what a comparison's intervals cover jointly; `of` is the noun after the number."""
    number = "both" if together.family == 2 else f"all {together.family}"
    several = [f"{number} {of}"] if together.family > 1 else []
    several += ["all looks"] if together.looks else []
    if not several:
        return f"{what} are 95 % intervals." if what == "Lines" else f"{what} hold at 95 %."
    intervals = "are intervals that hold" if what == "Lines" else "hold"
    return f"{what} {intervals} at 95 % for {' and '.join(several)} together."


def describe_standing(
    wave: Wave, *, is_whole: bool, planned: int = 0, is_warned: bool = False
) -> str:
    """Say what a result may be used for.

    `is_whole` says whether the result counts all reports of an ended wave, and `is_warned` says
    whether the results page warns about the reports. `planned` is the number of planned comparisons
    if this is one of them, otherwise 0.
    """
    if planned and not is_whole:
        return PLANNED_STILL_OPEN if wave.is_open else PLANNED_BEFORE_THE_END
    if planned and is_warned:
        return PLANNED_BUT_WARNED
    said = [PLANNED if planned else TRIED]
    if is_whole and ended_at_cap(wave):
        said.append(AT_CAP)
    if not wave.planned_comparisons:
        said.append(NEXT_TIME)
    return " ".join(said)


def describe_all(results: Results) -> str:
    """Say what comparisons of a survey may be used for, before one is chosen."""
    if is_warned_of(results):
        return WARNED
    return f"{AS_A_WHOLE} {AT_CAP}" if ended_at_cap(results.wave) else AS_A_WHOLE


def describe_impossible(standing: ComparisonStanding) -> str:
    """Say why the results must not be used, or return an empty string if they may be used."""
    if not standing.is_impossible:
        return ""
    if not standing.alarms:
        return f"{IMPOSSIBLE} {SELDOM_BY_CHANCE}"
    questions = standing.manifest.questions
    numbers = [f"Q{one.number}" for one in questions if one.name in standing.alarms]
    return f"{IMPOSSIBLE} The alarm was raised for {join_list(numbers)}."


def describe_title(manifest: Manifest, comparison: Comparison) -> str:
    """Write a title such as "Q1 by Q2", "Q1 explained by Q2" or "2 profiles of Q1 and Q2"."""
    if comparison.kind == Comparison.Kind.SEGMENTS:
        labels = [one.label for one in find_indicators(manifest, comparison.names)]
        return f"{comparison.segments} profiles of {join_list(labels)}"
    if comparison.kind == Comparison.Kind.PAIRS:
        return "All pairs of questions"
    is_table = comparison.kind in (Comparison.Kind.TABLE, Comparison.Kind.CLAIM)
    return describe_choice(manifest, comparison.names, as_table=is_table)


def write_p_value(p: float) -> str:
    """Write a p-value with about two significant digits, but never as zero."""
    if p < 0.0001:
        return "< 0.0001"
    if p < 0.01:
        return f"{p:.4f}"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def adjust_p(p: float, together: Together) -> float | None:
    """Adjust a p-value so that it is at most .05 where the interval excludes the null value.

    This uses Bonferroni's method. If results were watched at looks, the function returns None,
    because only the interval is valid then.
    """
    return None if together.looks else min(1.0, together.family * p)


def subtract_shown(first: float, second: float, *, digits: int = 0) -> float:
    """Subtract two shares as shown, so that readers who subtract them get the same difference."""
    return round(100 * first, digits) - round(100 * second, digits)


def write_points(number: float, digits: int = 0) -> str:
    """Write "10 points" or "1 point"."""
    text = write_number(number, digits)
    return f"{text} point{'' if text in ('1', MINUS + '1') else 's'}"


def write_end(value: float, *, digits: int = 0, beside: float = 0.0) -> str:
    """Write an interval's end, with more digits if it would otherwise round to `beside`.

    `beside` is the value that means no difference: 0, or 1 for a ratio.
    """
    text = write_number(value, digits)
    while value != beside and digits < 6 and float(f"{value:.{digits}f}") == beside:
        digits += 1
        text = write_number(value, digits)
    return text


def write_p(p: float) -> str:
    """Write a p-value such as "p = 0.012", without a line break."""
    text = write_p_value(p)
    phrase = text if text.startswith("<") else f"= {text}"
    return f"p {phrase}".replace(" ", "\N{NO-BREAK SPACE}")


def write_number(value: float | None, digits: int = 2) -> str:
    """Format a number: as digits, as a dash if it is undefined, or in words if it is infinite."""
    if value is None:
        return "–"
    if isinf(value):
        return "no upper limit" if value > 0 else "no lower limit"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")  # never write minus zero
    return text.replace("-", "\N{MINUS SIGN}")


def write_ends(low: float, high: float, *, beside: float = 0.0) -> str:
    return (
        f"{write_end(low, digits=2, beside=beside)} to {write_end(high, digits=2, beside=beside)}"
    )


def write_range(low: str, high: str) -> str:
    """Join two ends as 8–21, or with "to" if one begins with a minus sign or a word."""
    is_plain = low[:1].isdigit() and high[:1].isdigit()
    return f"{low}–{high}" if is_plain else f"{low} to {high}"
