"""The wording and rounding of findings: what an estimate says, and when its interval is valid.

Pages, charts and the API use the same sentences, with values as `Estimate.displayed` clips them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from aggregator.results.display import Results
from aggregator.results.estimands import Among, Estimand, name_answer
from aggregator.results.estimate import FAKE_SHARE, Estimate, Interval, QuestionResult
from aggregator.results.people import find_effective_size, find_people
from aggregator.results.reliability import Reliability
from aggregator.results.snapshots import ended_as_frozen, ended_at_cap
from privacy.level import Z_95
from privacy.mechanism.fake_reports import Band
from surveys.formatting import join_list, moment, percent, points, whole
from surveys.manifest.manifest import Manifest

CONTRADICTION = (
    "The codes contradict the design: no share between 0 and 100 % would plausibly produce them."
)
CONTRADICTION_CAUSES = (
    "Chance alone causes this in fewer than 5 in 100 questions. Reports that did not come from "
    "this survey's page, such as a flood of invented ones, also cause it. Treat this question's "
    "figures as a warning, not as a finding."
)
_GUARANTEED = (
    "With so few reports, this interval is the guaranteed kind: a shorter one would miss the truth "
    "too often."
)
_COUNTED = (
    "The number of people asked is counted, because the answers that decide it are not scrambled."
)
EXACT = "exact"
COUNTED = "counted"
EARLIER = "confidence_sequence"  # in snapshots of earlier versions
# A number of standard errors. A larger number means that the level was raised because there are few
# reports.
_USUAL = round(Z_95 + 0.01, 2)
# The sections of the methods that explain each kind of interval.
ANCHORS: Mapping[str, str] = {
    EARLIER: "intervals-at-looks",
    "likelihood_ratio": "likelihood-ratio-interval",
    "clopper_pearson": "guaranteed-interval",
    "likelihood_ratio_conditional": "conditional-shares",
    "likelihood_ratio_joint": "questions-behind-rules",
    "likelihood_ratio_mean": "mean-of-a-rating-scale",
    EXACT: "declared-groups",
}
INTERVALS = {
    "intervals-at-looks": "the interval at looks",
    "likelihood-ratio-interval": "a share’s interval",
    "guaranteed-interval": "the guaranteed interval",
    "conditional-shares": "the interval among some people",
    "questions-behind-rules": "the interval behind a rule",
    "mean-of-a-rating-scale": "the mean’s interval",
    "declared-groups": "a counted share’s interval",
}
GROUPS = {
    Among.EVERYONE: "",
    Among.ASKED: "of those who were asked",
    Among.ANSWERED: "of those who were asked and answered",
    Among.YES: "of those who said Yes",
}
TOO_FEW_ANSWERS = "Too few answers to say."
TOO_FEW = "too few answers"
NOTHING = "–"
OF_CODES = ("Codes", "Raw share")  # the columns that count codes
OWN_CODES = (
    "This question’s rule depends on too many answers to use here, so these figures come from the "
    "question’s own reports alone."
)
CAUTION_MARK = "†"
MAY_BE_ZERO = "The difference may be zero."
WITH_CAUTION = "Use with caution"
CAUTION = f"{CAUTION_MARK} {WITH_CAUTION}: few people, or a wide interval."
WATCHED = (
    "These intervals hold at 95 % for all looks together, so you may look as often as you like and "
    "close the survey whenever you like."
)
ONE_LOOK = "These intervals are valid because no results were shown before the survey closed."
FIXED_END = (
    "These intervals are valid because the end was fixed before opening and the survey kept to it."
)
# People who may both see results and send reports can choose when the cap is reached.
AT_CAP = (
    "These intervals hold if nobody who saw results sent reports: the survey ended at the number "
    "of reports that was fixed before it opened."
)
_WIDE = "These are the wider intervals, which hold at 95 % for all looks together"
CLOSED_EARLY = f"{_WIDE}, because the survey was closed before its fixed end"
CLOSED_WITHOUT_END = f"{_WIDE}, because no end was fixed before the survey opened."
KEPT = f"{_WIDE}. They come from an earlier look, because too few reports had arrived by the close."
OPEN_HALF = (
    "These intervals describe the open half of the reports. Test what you find on the other half: "
    "after a search, an interval may miss the true value more often."
)
STILL_COUNTING = f"{_WIDE}, until the last reports are counted."
SMALLEST_SAMPLE_SHOWN = 10
EMPTY: Mapping[str, float] = MappingProxyType({})


def describe_intervals(results: Results) -> str:
    """Say once, above or below the figures, why all intervals of a survey are valid."""
    if results.snapshot.is_half:
        return OPEN_HALF
    if results.fixed_end:
        return AT_CAP if ended_at_cap(results.wave) else FIXED_END
    if results.wave.is_open:
        return WATCHED
    if results.is_settled and not results.is_final:
        return KEPT
    if ended_as_frozen(results.wave):
        return STILL_COUNTING
    if results.is_one_look:
        return ONE_LOOK
    if not results.manifest.has_fixed_end:
        return CLOSED_WITHOUT_END
    end, count = _describe_end(results.manifest), whole(results.snapshot.total)
    return f"{CLOSED_EARLY}: {end}. It was closed at {count} reports."


def _describe_end(manifest: Manifest) -> str:
    """Write the end, such as "1,000 people or 31 March 2027, 18:00 UTC"."""
    people = f"{whole(manifest.cap)} people" if manifest.cap else ""
    date = moment(manifest.closes) if manifest.closes else ""
    return " or ".join(end for end in (people, date) if end)


def describe_caution(estimates: Iterable[Estimate]) -> str:
    """Explain the mark of caution, or return an empty string if no estimate has the mark."""
    ratings = {estimate.reliability for estimate in estimates}
    return CAUTION if Reliability.CAUTION in ratings else ""


def describe_alarm(results: Results, *, is_public: bool = False) -> str:
    """Name the questions in alarm, whose codes the design could not plausibly have produced.

    Returns an empty string if there are none. The public page says nothing about a question that
    only a declared group was asked.
    """
    numbers = [
        f"Q{result.number}"
        for result in results.alarms
        if not is_public or results.manifest.is_for_everyone(result.question)
    ]
    if not numbers:
        return ""
    looks = "" if results.fixed_end else ", at all looks together"
    return (
        f"The codes of {join_list(numbers)} probably did not all come from this survey’s page. "
        f"Chance alone produces such a pattern in fewer than 1 in 100 surveys{looks}. Invented "
        "reports are a likely cause."
    )


def describe_burst(results: Results) -> str:
    """Say how many reports came in bursts; return "" if none did or all answers are invented."""
    count = 0 if results.wave.survey.rehearsal else results.count_burst_reports()
    if not count:
        return ""
    return (
        f"At least {count:,} of these {results.snapshot.total:,} reports came within seconds of "
        "many others. A widely shared link can cause this. So can a program that sends made-up "
        "reports, or a server that was down for a while."
    )


def digits_for(estimate: Estimate) -> int:
    """Return the number of decimals: more if an interval's ends would otherwise look equal."""
    if estimate.is_mean:
        least, greatest = estimate.estimand.scale
        width = estimate.high - estimate.low
        return 2 if width < 0.3 else 0 if greatest - least > 300 and width > 30 else 1
    return 0 if estimate.high - estimate.low >= 0.03 else 1


def write_value(estimate: Estimate, value: float | None, digits: int, *, unit: str = "") -> str:
    """Write "20 %", or "3.4 hours" for a mean, or a dash if there is no value."""
    if value is None:
        return "–"
    if not estimate.is_mean:
        return percent(value, digits)
    return f"{value:,.{digits}f} {unit}".rstrip()


def write_displayed(estimate: Estimate) -> str:
    """Write "20 %", or "20 %†" if caution is due, or a dash if the value is not shown."""
    if not estimate.is_shown:
        return "–"
    value = write_value(estimate, estimate.displayed, digits_for(estimate), unit=estimate.unit)
    return value + _mark(estimate)


def _mark(estimate: Estimate) -> str:
    return CAUTION_MARK if estimate.reliability is Reliability.CAUTION else ""


def _write_bare(estimate: Estimate, value: float, digits: int) -> str:
    """Write a number without a percent sign or a unit."""
    return f"{value:,.{digits}f}" if estimate.is_mean else points(value, digits)


def _write_ends(estimate: Estimate, low: float, high: float, digits: int) -> str:
    """Write an interval, such as "15 to 25 %"."""
    return f"{_write_bare(estimate, low, digits)} to {write_value(estimate, high, digits)}"


def summarize(estimate: Estimate) -> str:
    """Write a summary that is short enough for a chart, such as "20 % (15–25)"."""
    if estimate.contradiction:
        return "contradiction"
    if not estimate.is_shown:
        return TOO_FEW
    if estimate.method == EXACT:
        return f"{write_displayed(estimate)} ({COUNTED})"
    return f"{write_displayed(estimate)} ({write_ends(estimate)})"


def write_ends(estimate: Estimate) -> str:
    """Write the interval without a percent sign or a unit, such as "15–25"."""
    digits = digits_for(estimate)
    low, high = (_write_bare(estimate, end, digits) for end in (estimate.low, estimate.high))
    return f"{low}–{high}"


def describe_estimate(estimate: Estimate) -> str:
    """Write an estimate with its interval, such as "20 % (95 %: 15 to 25 %)."."""
    if estimate.contradiction:
        return CONTRADICTION
    if not estimate.is_shown:
        return TOO_FEW_ANSWERS
    if estimate.method == EXACT:
        return f"{write_displayed(estimate)} ({COUNTED})."
    ends = _write_ends(estimate, estimate.low, estimate.high, digits_for(estimate))
    return f"{write_displayed(estimate)} ({percent(estimate.intervals.main.level)}: {ends})."


def describe_group(estimand: Estimand) -> str:
    """Name the group, such as "of those who were asked and answered", or return "" for everyone."""
    if estimand.of is Among.ANSWERED and estimand.question.rule is None:
        return "of those who answered"
    return GROUPS[estimand.of]


def name_estimand(estimand: Estimand) -> str:
    """Name what is estimated; the ends of a scale include their labels, such as "1 (Never)"."""
    return estimand.text if estimand.is_mean else name_answer(estimand.question, estimand.text)


def describe_information(estimate: Estimate) -> str:
    """Compare the reports with direct answers that would be as precise."""
    if not estimate.is_shown or estimate.effective_sample_size is None:
        return ""
    if estimate.effective_sample_size < SMALLEST_SAMPLE_SHOWN:
        return ""  # near 0 and 1, a direct question is almost exact, so comparing is unfair
    direct = whole(round(estimate.effective_sample_size))
    return f"As informative as about {direct} direct answers."


def is_in_survey_language(estimand: Estimand) -> bool:
    """Return whether the name is in the survey's language; Murmur's names are English."""
    return not estimand.is_mean and estimand.name not in ("refused", "asked")


def describe_people(result: QuestionResult, estimate: Estimate) -> str:
    """Say roughly how many people a figure describes; return "" if it describes everyone."""
    people = find_people(result, estimate)
    if people is None:
        return ""
    return f"{people.heading}: {'' if people.is_counted else 'about '}{people.number} people."


@dataclass(frozen=True, kw_only=True)
class Heading:
    """The heading of a column, and the section of the methods that explains it."""

    text: str
    anchor: str = ""


@dataclass(frozen=True, kw_only=True)
class DetailRow:
    label: str
    among: str = ""
    is_in_survey_language: bool
    cells: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Details:
    """A table and sentences about how certain the figures of one question are."""

    headings: tuple[Heading, ...]
    rows: tuple[DetailRow, ...]
    sentences: tuple[str, ...]
    anchors: tuple[str, ...]  # where the methods explain the intervals of these figures

    @property
    def links(self) -> list[tuple[str, str]]:
        """The sections of the methods to link to, each with the name of what it explains."""
        if len(self.anchors) == 1:
            return [(self.anchors[0], "the interval")]
        return [(anchor, INTERVALS[anchor]) for anchor in self.anchors]


_Column = tuple[Heading, Callable[[Estimate], str]]


def describe_details(
    result: QuestionResult, *, truth: Mapping[str, str], fixed_end: bool, uses_own_codes: bool
) -> Details:
    """Say how certain the figures of a question are.

    `truth` maps each `Estimand.key` to the true value in words. A column in which every cell is
    empty is left out.
    """
    columns = [
        (heading, [write(estimate) for estimate in result.shown])
        for heading, write in _list_columns(truth)
    ]
    columns = [(heading, cells) for heading, cells in columns if set(cells) != {NOTHING}]
    shown = [estimate for estimate in result.shown if estimate.is_shown]
    sentences = dict.fromkeys(_list_sentences(result, shown, fixed_end=fixed_end))
    if uses_own_codes:
        sentences[OWN_CODES] = None
    return Details(
        headings=tuple(heading for heading, _ in columns),
        rows=tuple(
            DetailRow(
                label=name_estimand(estimate.estimand),
                among=describe_group(estimate.estimand),
                is_in_survey_language=is_in_survey_language(estimate.estimand),
                cells=tuple(cells[place] for _, cells in columns),
            )
            for place, estimate in enumerate(result.shown)
        ),
        sentences=tuple(sentences),
        anchors=tuple(
            dict.fromkeys(ANCHORS.get(estimate.method, ANCHORS[EARLIER]) for estimate in shown)
        ),
    )


def _list_columns(truth: Mapping[str, str]) -> tuple[_Column, ...]:
    return (
        (Heading(text="Known truth"), lambda one: truth.get(one.estimand.key) or NOTHING),
        (Heading(text="Codes", anchor="estimating-a-share"), lambda one: whole(one.count)),
        (
            Heading(text="Raw share", anchor="estimating-a-share"),
            lambda one: percent(one.raw_share, 1),
        ),
        (Heading(text="Unclipped", anchor="displayed-share"), _write_unclipped),
        (Heading(text="Standard error", anchor="standard-error"), _write_error),
        (Heading(text="Effective sample size", anchor="effective-sample-size"), _write_size),
        (Heading(text="80 % interval", anchor="inner-intervals"), partial(_write_inner, level=0.8)),
        (Heading(text="50 % interval", anchor="inner-intervals"), partial(_write_inner, level=0.5)),
        (
            Heading(text="95 % for all figures at once", anchor="simultaneous-intervals"),
            lambda one: _write_another(one, one.intervals.simultaneous),
        ),
        (
            Heading(
                text=f"If up to {percent(FAKE_SHARE)} of reports were fake",
                anchor="invented-reports",
            ),
            lambda one: _write_another(one, one.fake_band),
        ),
    )


def _write_unclipped(estimate: Estimate) -> str:
    """Write the unclipped estimate if it differs from the displayed one."""
    value = estimate.value
    if not estimate.is_shown or value is None or value == estimate.displayed:
        return NOTHING
    return write_value(estimate, value, digits_for(estimate), unit=estimate.unit)


def _write_error(estimate: Estimate) -> str:
    error = estimate.standard_error
    if error is None or not estimate.is_shown or estimate.method == EXACT:
        return NOTHING
    if estimate.is_mean:
        return f"{error:,.2f} {estimate.unit}".rstrip()
    return f"{points(error, 1)} points"


def _write_size(estimate: Estimate) -> str:
    size = find_effective_size(estimate)
    return NOTHING if size is None else whole(round(size))


def _write_inner(estimate: Estimate, *, level: float) -> str:
    inner = (one for one in estimate.intervals.inner if one.level == level)
    return _write_another(estimate, next(inner, None))


def _write_another(estimate: Estimate, interval: Interval | Band | None) -> str:
    """Write another interval with the decimals of the main one, or a dash if none is shown."""
    if interval is None or not estimate.is_shown or estimate.method == EXACT:
        return NOTHING
    digits = digits_for(estimate)
    low = _write_bare(estimate, interval.low, digits)
    return f"{low}–{write_value(estimate, interval.high, digits)}"


def describe_reports(total: int) -> str:
    """Say in how many reports a question was asked."""
    return f"{whole(total)} reports."


def _list_sentences(
    result: QuestionResult, shown: Sequence[Estimate], *, fixed_end: bool
) -> Iterator[str]:
    yield describe_reports(result.total)
    for estimate in shown:
        if len(shown) == 1 and (information := describe_information(estimate)):
            yield information
        if people := describe_people(result, estimate):
            yield people
        if estimate.method == EXACT:
            yield _COUNTED
        elif fixed_end and _is_guaranteed(estimate):
            yield _GUARANTEED


def _is_guaranteed(estimate: Estimate) -> bool:
    """Return whether the interval after a fixed end is wider than the usual one."""
    return estimate.method == "clopper_pearson" or (estimate.critical_value or 0) > _USUAL
