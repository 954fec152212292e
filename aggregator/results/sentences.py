"""Findings in sentences: what an estimate says, how sure it is, and why that may be trusted.

Pages, charts and API use the same words. Shares are clipped to 0–100 % here and nowhere earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from aggregator.results.display import Results
from aggregator.results.estimands import Among, Estimand
from aggregator.results.estimate import FAKE_SHARE, Estimate, Interval, QuestionResult
from aggregator.results.people import People, find_effective_size, find_people
from aggregator.results.reliability import Reliability
from aggregator.results.snapshots import ended_as_frozen, ended_at_cap
from privacy.mechanism.fake_reports import Band
from surveys.formatting import join_list, percent, points, whole

CONTRADICTION = (
    "The codes contradict the design: no share between 0 and 100 % would plausibly produce them."
)
CONTRADICTION_CAUSES = (
    "Chance alone does this to fewer than 5 of 100 questions; reports that did not come from this "
    "survey's page, such as a flood of invented ones, do it too. Treat this question's figures as "
    "a warning, not as a finding."
)
_GUARANTEED = (
    "This interval is the guaranteed kind: with so few reports, a shorter one would miss the truth "
    "too often."
)
_COUNTED = "This share is counted: the answers that decide who is asked are not scrambled."
EXACT = "exact"
COUNTED = "counted"
# Valid at every look, or at every number of reports.
_ALWAYS_VALID = ("clopper_pearson", "betting_sequence_share", "betting_sequence_mean")
# Where the methods page explains each kind of interval.
ANCHORS: Mapping[str, str] = {
    "confidence_sequence": "valid-while-you-watch",
    "likelihood_ratio": "likelihood-ratio-interval",
    "clopper_pearson": "guaranteed-interval",
    "betting_sequence_share": "conditional-shares",
    "likelihood_ratio_conditional": "conditional-shares",
    "likelihood_ratio_joint": "questions-behind-rules",
    "betting_sequence_mean": "mean-of-a-rating-scale",
    "likelihood_ratio_mean": "mean-of-a-rating-scale",
    EXACT: "declared-groups",
}
GROUPS = {
    Among.EVERYONE: "",
    Among.ASKED: "of those who were asked",
    Among.ANSWERED: "of those who were asked and answered",
    Among.YES: "of those who said Yes",
}
TOO_FEW_ANSWERS = "Too few answers to say."
TOO_FEW = "too few answers"
CAUTION_MARK = "†"
WITH_CAUTION = "Use with caution"
CAUTION = f"{CAUTION_MARK} {WITH_CAUTION}: few people, or a wide interval."
WATCHED = (
    "These intervals are valid while you watch: they hold at every look, so you may look as often "
    "as you like and close the survey whenever you like."
)
FIXED_END = (
    "These intervals are valid because the end was fixed before opening and the survey ended by it."
)
# People who may submit and see the results can choose when a number of reports is reached.
AT_CAP = (
    "These intervals hold if nobody who saw results added reports: the survey ended at the number "
    "of reports that was fixed before it opened."
)
_WIDE = "These are the wider intervals, which hold at every look"
CLOSED_EARLY = f"{_WIDE}, because the survey was closed before the end that had been fixed."
CLOSED_WITHOUT_END = f"{_WIDE}, because no end was fixed before the survey opened."
STILL_COUNTING = f"{_WIDE}, until the last reports are counted."
INNER_INTERVALS = (
    "The thin outer line is the 95 % interval; the thicker ones inside are 80 % and 50 % intervals "
    "of the same kind, as guides."
)
SMALLEST_SAMPLE_SHOWN = 10
EMPTY: Mapping[str, float] = MappingProxyType({})


def describe_intervals(results: Results) -> list[str]:
    """Say why all intervals of a survey are valid; once, below or in the chart."""
    if results.fixed_end:
        return [AT_CAP if ended_at_cap(results.wave) else FIXED_END, INNER_INTERVALS]
    if results.wave.is_open:
        return [WATCHED]
    if ended_as_frozen(results.wave):
        return [STILL_COUNTING]
    return [CLOSED_EARLY if results.manifest.has_fixed_end else CLOSED_WITHOUT_END]


def describe_caution(estimates: Iterable[Estimate]) -> str:
    """Explain the mark of caution; empty if none of these estimates has it."""
    ratings = {estimate.reliability for estimate in estimates}
    return CAUTION if Reliability.CAUTION in ratings else ""


def describe_alarm(results: Results) -> str:
    """Name the questions whose codes the design could not have produced; empty if none."""
    numbers = [f"Q{question.number}" for question in results.alarms]
    if not numbers:
        return ""
    looks = "" if results.fixed_end else ", however often you check"
    return (
        f"The reports to {join_list(numbers)} probably did not all come from this survey’s page. "
        f"Chance alone makes a pattern like this in fewer than 1 of 100 surveys{looks}. Invented "
        "reports are a likely cause."
    )


def describe_burst(results: Results) -> str:
    """Say how many reports came in bursts; empty if none did, or if all answers are invented."""
    count = 0 if results.wave.survey.rehearsal else results.burst_reports
    if not count:
        return ""
    return (
        f"At least {count:,} of these {results.snapshot.total:,} reports came within seconds of "
        "many others. A widely shared link can cause this. So can a program that sends made-up "
        "reports, or a server that was down for a while."
    )


def digits_for(estimate: Estimate) -> int:
    """Use whole points, unless the interval is so narrow that its ends would look equal."""
    if estimate.is_mean:
        least, greatest = estimate.estimand.scale
        width = estimate.high - estimate.low
        return 2 if width < 0.3 else 0 if greatest - least > 300 and width > 30 else 1
    return 0 if estimate.high - estimate.low >= 0.03 else 1


def write_value(estimate: Estimate, value: float | None, digits: int, *, unit: str = "") -> str:
    """Write 20 %, or 3.4 hours for a mean; a dash if there is no value."""
    if value is None:
        return "–"
    if not estimate.is_mean:
        return percent(value, digits)
    return f"{value:,.{digits}f} {unit}".rstrip()


def write_displayed(estimate: Estimate) -> str:
    """Write 20 %, or 20 %† if the value must be used with caution; a dash if it is not shown."""
    if not estimate.is_shown:
        return "–"
    value = write_value(estimate, estimate.displayed, digits_for(estimate), unit=estimate.unit)
    return value + _mark(estimate)


def _mark(estimate: Estimate) -> str:
    return CAUTION_MARK if estimate.reliability is Reliability.CAUTION else ""


def _write_bare(estimate: Estimate, value: float, digits: int) -> str:
    """Write a number without sign or unit."""
    return f"{value:,.{digits}f}" if estimate.is_mean else points(value, digits)


def _write_ends(estimate: Estimate, low: float, high: float, digits: int) -> str:
    """Write an interval, such as 15 to 25 %."""
    return f"{_write_bare(estimate, low, digits)} to {write_value(estimate, high, digits)}"


def summarize(estimate: Estimate) -> str:
    """Write 20 % (15–25), short enough for a chart."""
    if estimate.contradiction:
        return "contradiction"
    if not estimate.is_shown:
        return TOO_FEW
    if estimate.method == EXACT:
        return f"{write_displayed(estimate)} ({COUNTED})"
    return f"{write_displayed(estimate)} ({write_ends(estimate)})"


def write_ends(estimate: Estimate) -> str:
    """Write the interval without sign or unit: 15–25."""
    digits = digits_for(estimate)
    low, high = (_write_bare(estimate, end, digits) for end in (estimate.low, estimate.high))
    return f"{low}–{high}"


def describe_estimate(estimate: Estimate) -> str:
    """Write 20 % (95 %: 15 to 25 %)."""
    if estimate.contradiction:
        return CONTRADICTION
    if not estimate.is_shown:
        return TOO_FEW_ANSWERS
    if estimate.method == EXACT:
        return f"{write_displayed(estimate)} ({COUNTED})."
    ends = _write_ends(estimate, estimate.low, estimate.high, digits_for(estimate))
    return f"{write_displayed(estimate)} ({percent(estimate.intervals.main.level)}: {ends})."


def describe_group(estimate: Estimate) -> str:
    """Name the group, such as "of those who were asked and answered"; empty for everyone."""
    return GROUPS[estimate.estimand.of]


def name_estimand(estimand: Estimand) -> str:
    """Name what is estimated; the ends of a scale with their labels, such as 1 (Never)."""
    question = estimand.question
    if question.described.has_points and not estimand.is_mean:
        ends = {
            str(question.minimum): question.low_label,
            str(question.maximum): question.high_label,
        }
        label = ends.get(estimand.text)
        return f"{estimand.text} ({label})" if label else estimand.text
    return estimand.text


def write_interval(estimate: Estimate, interval: Interval | Band) -> str:
    """Write an interval as precisely as the estimate, such as 15 to 25 %."""
    return _write_ends(estimate, interval.low, interval.high, digits_for(estimate))


def describe_fakes(estimate: Estimate) -> str:
    """Suppose 2 % of the reports were invented: the interval would be 13 to 28 %."""
    band = estimate.fake_band
    if band is None or not estimate.is_shown:
        return ""
    return (
        f"Suppose {percent(FAKE_SHARE)} of the reports were invented, which nobody can know: "
        f"whatever they say, the interval would be {write_interval(estimate, band)}."
    )


def describe_information(estimate: Estimate) -> str:
    """Compare the reports with direct answers that would be as precise."""
    if not estimate.is_shown or estimate.effective_sample_size is None:
        return ""
    if estimate.effective_sample_size < SMALLEST_SAMPLE_SHOWN:
        return ""  # near 0 and 1 a direct question is almost exact: no fair comparison
    codes, direct = whole(estimate.total), whole(round(estimate.effective_sample_size))
    return f"{codes} scrambled answers carry as much information as about {direct} direct ones."


@dataclass(frozen=True, kw_only=True)
class EstimateText:
    """Everything that a page says about one estimate."""

    question: QuestionResult
    estimate: Estimate
    true_value: float | None
    fixed_end: bool  # whether the survey ended as it had been fixed
    is_first: bool  # of its question
    says_method: bool  # its kind of interval differs from that of the next estimate

    @property
    def name(self) -> str:
        return name_estimand(self.estimate.estimand)

    @cached_property
    def people(self) -> People | None:
        return find_people(self.question, self.estimate)

    @property
    def group(self) -> str:
        return describe_group(self.estimate)

    @property
    def is_left_out(self) -> bool:
        """Whether too little is known to show a value; a contradiction has a warning instead."""
        return not self.estimate.is_shown and not self.estimate.contradiction

    @property
    def head(self) -> str:
        """The value alone, which pages set larger than the rest of its sentence; empty if none."""
        return self.value.removesuffix(self.mark) if self.estimate.is_shown else ""

    @property
    def mark(self) -> str:
        return _mark(self.estimate)

    @property
    def tail(self) -> str:
        if self.people and self.is_left_out:
            return self.people.too_few
        return describe_estimate(self.estimate).removeprefix(self.head + self.mark)

    @property
    def information(self) -> str:
        return describe_information(self.estimate)

    @property
    def fakes(self) -> str:
        return describe_fakes(self.estimate)

    @property
    def method(self) -> str:
        """What is said of this kind of interval alone; empty if it is one as most."""
        if self.estimate.method == EXACT:
            return _COUNTED
        is_guaranteed = self.fixed_end and self.estimate.method in _ALWAYS_VALID
        return _GUARANTEED if is_guaranteed else ""

    @property
    def method_anchor(self) -> str:
        return ANCHORS[self.estimate.method]

    @property
    def value(self) -> str:
        return write_displayed(self.estimate)

    @property
    def truth(self) -> str:
        if self.true_value is None:
            return ""
        digits = 2 if self.estimate.is_mean else 1
        return write_value(self.estimate, self.true_value, digits, unit=self.estimate.unit)

    @property
    def standard_error(self) -> str:
        error = self.estimate.standard_error
        if error is None or not self.estimate.is_shown:
            return "–"
        if self.estimate.is_mean:
            return f"{error:,.2f} {self.estimate.unit}".rstrip()
        return f"{points(error, 1)} points"

    @property
    def interval(self) -> str:
        return self._write_interval(self.estimate.intervals.main)

    @property
    def inner_intervals(self) -> tuple[str, ...]:
        return tuple(map(self._write_interval, self.estimate.intervals.inner))

    @property
    def simultaneous_interval(self) -> str:
        return self._write_interval(self.estimate.intervals.simultaneous)

    @property
    def effective_sample_size(self) -> str:
        size = find_effective_size(self.estimate)
        return "–" if size is None else whole(round(size))

    def _write_interval(self, interval: Interval) -> str:
        if not self.estimate.is_shown:
            return "–"
        return COUNTED if interval.method == EXACT else write_interval(self.estimate, interval)


def write_texts(results: Results, *, truth: Mapping[str, float] = EMPTY) -> list[EstimateText]:
    """Put every estimate that pages show into words.

    `truth` is known for a demo only; its keys are `Estimand.key`.
    """
    return [
        EstimateText(
            question=question,
            estimate=estimate,
            true_value=truth.get(estimate.estimand.key),
            fixed_end=results.fixed_end,
            is_first=place == 0,
            says_method=_says_method(question, place),
        )
        for question in results.questions
        for place, estimate in enumerate(question.shown)
    ]


def gather_left_out(texts: Iterable[EstimateText]) -> dict[str, list[str]]:
    """Name the estimates of a question that are not shown, under the sentence that says why."""
    found: dict[str, list[str]] = {}
    for text in texts:
        if text.is_left_out:
            found.setdefault(text.tail, []).append(text.name)
    return found


def _says_method(question: QuestionResult, place: int) -> bool:
    """Whether the next interval that is shown is of another kind, or there is none."""
    estimate, *after = question.shown[place:]
    other = next((one for one in after if one.is_shown), None)
    return estimate.is_shown and (other is None or other.method != estimate.method)
