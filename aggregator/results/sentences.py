"""Findings in sentences: what an estimate says, how sure it is, and why that may be trusted.

Pages, charts and API use the same words. Shares are cut to 0–100 % here and nowhere before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from aggregator.results.estimands import Among
from aggregator.results.results import Estimate, QuestionResult, Results
from surveys.formatting import join_list, percent, points, whole

CONTRADICTION = (
    "The codes contradict the design: no share between 0 and 100 % would plausibly produce them."
)
CONTRADICTION_CAUSES = (
    "Chance alone does this to fewer than 5 of 100 questions; reports that did not come from this "
    "survey's page, such as a flood of invented ones, do it too. Treat this question's figures as "
    "a warning, not as a finding."
)
_FIXED = (
    "This interval is valid because the end was fixed before the survey opened and the survey "
    "ended by it."
)
_WATCHED = (
    "This interval is valid while you watch: it holds at every look, so you may look as often as "
    "you like and close the survey whenever you like."
)
_GUARANTEED = (
    " It is the guaranteed kind: with this many codes a shorter one would miss the truth too often."
)
_RATIO = " It is a ratio of two shares, each with its own interval, and wider than it need be."
# What each kind of interval says, and where the methods page explains it.
INTERVALS: dict[str, tuple[str, str]] = {
    "confidence_sequence": (_WATCHED, "valid-while-you-watch"),
    "likelihood_ratio": (_FIXED, "likelihood-ratio-interval"),
    "clopper_pearson": (_FIXED + _GUARANTEED, "guaranteed-interval"),
    "dirichlet_sequence": (_WATCHED, "conditional-shares"),
    "likelihood_ratio_conditional": (_FIXED, "conditional-shares"),
    "confidence_sequence_ratio": (_WATCHED + _RATIO, "select-several-behind-a-gate"),
    "likelihood_ratio_ratio": (_FIXED + _RATIO, "select-several-behind-a-gate"),
    "clopper_pearson_ratio": (_FIXED + _RATIO, "select-several-behind-a-gate"),
    "betting_sequence_mean": (_WATCHED, "mean-of-a-rating-scale"),
    "likelihood_ratio_mean": (_FIXED, "mean-of-a-rating-scale"),
}
OF_WHOM = {
    Among.EVERYONE: "",
    Among.ASKED: "of those who were asked",
    Among.ANSWERED: "of those who were asked and answered",
    Among.YES: "of those who said Yes",
}
CANNOT_TELL = "Cannot tell yet: with these codes every value is plausible."
WATCHED_SHORT = "Valid while you watch: these intervals hold at every look, however often you look."
FIXED_END_SHORT = "Valid because the end was fixed before opening and the survey ended by it."
INNER_INTERVALS = (
    "The thin outer line is the 95 % interval; the thicker ones inside are 80 % and 50 % intervals "
    "of the same kind, as guides."
)
# Of the reports, for the statement about invented ones.
FAKE_SHARE = 0.02
FEWEST_WORTH = 10
EMPTY: Mapping[str, float] = MappingProxyType({})


def describe_intervals(fixed_end: bool) -> str:
    """The same for all intervals of a survey, as short as a chart needs it."""
    return FIXED_END_SHORT if fixed_end else WATCHED_SHORT


def describe_alarm(results: Results) -> str:
    """Name the questions whose codes the design could not have produced; empty if none."""
    numbers = [f"Q{question.number}" for question in results.alarms]
    if not numbers:
        return ""
    return (
        f"The codes of {join_list(numbers)} hardly come from this survey's page alone: under its "
        "design a pattern like this turns up in fewer than 1 of 100 surveys, however often one "
        "looks. Invented reports are a likely cause."
    )


def digits_for(found: Estimate) -> int:
    """Whole points, unless the interval is so narrow that its ends would fall together."""
    if found.is_mean:
        least, greatest = found.scale
        width = found.high - found.low
        return 2 if width < 0.3 else 0 if greatest - least > 300 and width > 30 else 1
    return 0 if found.high - found.low >= 0.03 else 1


def write_value(found: Estimate, value: float | None, digits: int, *, unit: str = "") -> str:
    """20 %, or for a mean 3.4 hours; a dash where there is none."""
    if value is None:
        return "–"
    if not found.is_mean:
        return percent(value, digits)
    return f"{value:,.{digits}f} {unit}".rstrip()


def _write_bare(found: Estimate, value: float, digits: int) -> str:
    """Without sign or unit."""
    return f"{value:,.{digits}f}" if found.is_mean else points(value, digits)


def _write_ends(found: Estimate, low: float, high: float, digits: int) -> str:
    """15 to 25 %"""
    return f"{_write_bare(found, low, digits)} to {write_value(found, high, digits)}"


def summarize(question: QuestionResult, found: Estimate) -> str:
    """20 % (15–25), as short as a chart needs it."""
    if found.contradiction:
        return "contradiction"
    if found.tells_nothing:
        return "cannot tell"
    digits = digits_for(found)
    value = write_value(found, found.shown, digits, unit=question.question.unit)
    low, high = (_write_bare(found, end, digits) for end in (found.low, found.high))
    return f"{value} ({low}–{high})"


def describe_estimate(question: QuestionResult, found: Estimate) -> str:
    """20 % (95 %: 15 to 25 %)."""
    if found.contradiction:
        return CONTRADICTION
    if found.tells_nothing:
        return CANNOT_TELL
    digits = digits_for(found)
    ends = _write_ends(found, found.low, found.high, digits)
    value = write_value(found, found.shown, digits, unit=question.question.unit)
    return f"{value} ({percent(question.level)}: {ends})."


def describe_whom(found: Estimate) -> str:
    """Of those who were asked and answered; empty where it is everyone."""
    return OF_WHOM[found.estimand.of]


def write_interval(found: Estimate, low: float, high: float) -> str:
    """15.0 to 25.3 %"""
    return _write_ends(found, low, high, 2 if found.is_mean else 1)


def describe_fakes(question: QuestionResult, found: Estimate) -> str:
    """Suppose 2 % of the reports were invented: the interval would be 13 to 28 %."""
    band = question.band(found, fake_share=FAKE_SHARE)
    if band is None or found.contradiction:
        return ""
    return (
        f"Suppose {percent(FAKE_SHARE)} of the reports were invented, which nobody can know: "
        f"whatever they say, the interval would be {write_interval(found, band.low, band.high)}."
    )


def describe_worth(question: QuestionResult, found: Estimate) -> str:
    """1,400 codes inform like about 246 direct answers."""
    if found.contradiction or found.effective_sample_size is None:
        return ""
    if found.effective_sample_size < FEWEST_WORTH:
        return ""  # near 0 and 1 a direct question would be all but exact: no fair measure
    codes, direct = whole(question.total), whole(round(found.effective_sample_size))
    return f"{codes} codes inform like about {direct} direct answers."


def describe_clipping(found: Estimate) -> str:
    """Why the value shown differs from the estimate; empty where it does not."""
    if not found.is_clipped or found.estimate is None:
        return ""
    if found.is_mean:
        least, greatest = found.scale
        return (
            f"The unclipped estimate is {found.estimate:,.2f}. Chance in the randomized codes can "
            f"put it outside {least:,.0f} to {greatest:,.0f}; no mean can be, so "
            f"{found.shown:,.0f} is shown. Exports keep the unclipped estimate."
        )
    side = "below 0" if found.estimate < 0 else "above 100 %"
    return (
        f"The unclipped estimate is {percent(found.estimate, 1)}. Chance in the randomized codes "
        f"can put it {side}; no share of people can be, so {percent(found.shown or 0.0)} is shown. "
        "Exports keep the unclipped estimate."
    )


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Everything a page says about one estimate."""

    question: QuestionResult
    found: Estimate
    text: str
    whom: str
    sentence: str
    worth: str
    clipping: str
    fakes: str
    kind: str
    kind_anchor: str
    estimate: str
    error: str
    interval: str
    inner_intervals: tuple[str, ...]
    simultaneous: str
    truth: str
    is_first: bool  # of its question
    says_kind: bool  # its kind of interval is not that of the estimate after it

    @property
    def head(self) -> str:
        """The value alone, which pages set larger than the rest of its sentence."""
        return self.sentence.partition(" (")[0]

    @property
    def tail(self) -> str:
        return "".join(self.sentence.partition(" (")[1:])

    @property
    def effective(self) -> str:
        worth = self.found.effective_sample_size
        return "–" if worth is None or self.found.contradiction else whole(round(worth))


def write_findings(results: Results, *, truth: Mapping[str, float] = EMPTY) -> list[Finding]:
    """Put every estimate that pages show into sentences.

    `truth` is known for a demo only; its keys are `Estimand.key`.
    """
    return [
        _write_finding(
            question,
            found,
            truth=truth.get(found.estimand.key),
            is_first=place == 0,
            says_kind=_kind_after(question, place) != INTERVALS[found.method],
        )
        for question in results.questions
        for place, found in enumerate(question.interest)
    ]


def _kind_after(question: QuestionResult, place: int) -> tuple[str, str] | None:
    after = question.interest[place + 1 : place + 2]
    return INTERVALS[after[0].method] if after else None


def _write_finding(
    question: QuestionResult,
    found: Estimate,
    *,
    truth: float | None,
    is_first: bool,
    says_kind: bool,
) -> Finding:
    def ends(low: float, high: float) -> str:
        return "–" if found.contradiction else write_interval(found, low, high)

    unit = question.question.unit
    kind, anchor = INTERVALS[found.method]
    digits = 2 if found.is_mean else 1
    error = found.standard_error
    written = "–"
    if error is not None:
        written = f"{error:,.2f} {unit}".rstrip() if found.is_mean else f"{points(error, 1)} points"
    return Finding(
        question=question,
        found=found,
        text=found.estimand.text,
        whom=describe_whom(found),
        sentence=describe_estimate(question, found),
        worth=describe_worth(question, found),
        clipping="" if found.contradiction else describe_clipping(found),
        fakes=describe_fakes(question, found),
        kind=kind,
        kind_anchor=anchor,
        estimate=write_value(found, found.estimate, digits, unit=unit),
        error=written,
        interval=ends(found.low, found.high),
        inner_intervals=tuple(ends(inner.low, inner.high) for inner in found.inner_intervals),
        simultaneous=ends(found.simultaneous_low, found.simultaneous_high),
        truth="" if truth is None else write_value(found, truth, digits, unit=unit),
        is_first=is_first,
        says_kind=says_kind,
    )
