"""Findings in sentences: what an estimate says, how sure it is, and why that may be trusted.

Pages, charts and API use the same words. Shares are cut to 0–100 % here and nowhere before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aggregator.results import CodeResult, QuestionResult, Results
from surveys.templatetags.numbers import percent, points, whole

CONTRADICTION = (
    "The codes contradict the design: no share between 0 and 100 % would plausibly produce them."
)
CONTRADICTION_CAUSES = (
    "Chance alone does this to fewer than 5 of 100 questions; reports that did not come from this "
    "survey's page, such as a flood of invented ones, do it too. Treat this question's figures as "
    "a warning, not as a finding."
)
INTERVAL_SENTENCES: dict[str, str] = {
    "confidence_sequence": (
        "This interval is valid while you watch: it holds at every look, so you may look as often "
        "as you like and close the survey whenever you like."
    ),
    "likelihood_ratio": (
        "This interval is valid because the end was fixed before the survey opened and the survey "
        "ended by it."
    ),
    "clopper_pearson": (
        "This interval is valid because the end was fixed before the survey opened and the survey "
        "ended by it. It is the guaranteed kind: with this many codes a shorter one would miss "
        "the truth too often."
    ),
}
# Where the methods page explains each kind.
INTERVAL_ANCHORS = {
    "confidence_sequence": "valid-while-you-watch",
    "likelihood_ratio": "likelihood-ratio-interval",
    "clopper_pearson": "guaranteed-interval",
}
WATCHED_SHORT = "Valid while you watch: these intervals hold at every look, however often you look."
FIXED_END_SHORT = "Valid because the end was fixed before opening and the survey ended by it."
GUIDES = (
    "The thin outer line is the 95 % interval; the thicker ones inside are 80 % and 50 % intervals "
    "of the same kind, as guides."
)
# Of the reports, for the statement about invented ones.
FAKE_SHARE = 0.02
FEWEST_WORTH = 10


def describe_interval(method: str) -> str:
    """Say in plain words which kind of interval is shown and why it may be."""
    return INTERVAL_SENTENCES[method]


def describe_intervals(fixed_end: bool) -> str:
    """The same for all intervals of a survey, as short as a chart needs it."""
    return FIXED_END_SHORT if fixed_end else WATCHED_SHORT


def describe_alarm(results: Results) -> str:
    """Name the questions whose codes the design could not have produced; empty if none."""
    numbers = [f"Q{question.number}" for question in results.alarms]
    if not numbers:
        return ""
    listed = numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} and {numbers[-1]}"
    return (
        f"The codes of {listed} hardly come from this survey's page alone: under its design "
        "a pattern like this turns up in fewer than 1 of 100 surveys, however often one looks. "
        "Invented reports are a likely cause."
    )


def digits_for(code: CodeResult) -> int:
    """Whole points, unless the interval is so narrow that its ends would fall together."""
    return 0 if code.high - code.low >= 0.03 else 1


def summarize_share(question: QuestionResult, code: CodeResult) -> str:
    """20 % (15–25), as short as a chart needs it."""
    if question.contradiction:
        return "contradiction"
    digits = digits_for(code)
    ends = f"{points(code.low, digits)}–{points(code.high, digits)}"
    return f"{percent(code.shown, digits)} ({ends})"


def describe_share(question: QuestionResult, code: CodeResult) -> str:
    """20 % (95 %: 15 to 25 %)."""
    if question.contradiction:
        return CONTRADICTION
    digits = digits_for(code)
    low, high = points(code.low, digits), percent(code.high, digits)
    level = percent(question.interval_level)
    return f"{percent(code.shown, digits)} ({level}: {low} to {high})."


def write_interval(low: float, high: float) -> str:
    """15.0 to 25.3 %"""
    return f"{points(low, 1)} to {percent(high, 1)}"


def describe_fakes(question: QuestionResult, code: CodeResult) -> str:
    """Suppose 2 % of the reports were invented: the interval would be 13 to 28 %."""
    if question.contradiction:
        return ""
    band = question.band(code, fake_share=FAKE_SHARE)
    return (
        f"Suppose {percent(FAKE_SHARE)} of the reports were invented, which nobody can know: "
        f"whatever they say, the interval would be {write_interval(band.low, band.high)}."
    )


def describe_worth(question: QuestionResult, code: CodeResult) -> str:
    """1,400 codes inform like about 246 direct answers."""
    if question.contradiction or code.effective_total is None:
        return ""
    if code.effective_total < FEWEST_WORTH:
        return ""  # near 0 and 1 a direct question would be all but exact: no fair measure
    codes, direct = whole(question.total), whole(round(code.effective_total))
    return f"{codes} codes inform like about {direct} direct answers."


def describe_clipping(code: CodeResult) -> str:
    """Why the share shown differs from the estimate; empty where it does not."""
    if not code.is_clipped:
        return ""
    side = "below 0" if code.estimate < 0 else "above 100 %"
    return (
        f"The unclipped estimate is {percent(code.estimate, 1)}. Chance in the randomized codes "
        f"can put it {side}; no share of people can be, so {percent(code.shown)} is shown. "
        "Exports keep the unclipped figure."
    )


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Everything a page says about one share of one question."""

    question: QuestionResult
    code: CodeResult
    share: str
    worth: str
    clipping: str
    fakes: str
    kind: str
    kind_anchor: str
    interval: str
    guides: tuple[str, ...]
    together: str
    truth: float | None

    @property
    def head(self) -> str:
        """The share alone, which pages set larger than the rest of its sentence."""
        return self.share.partition(" (")[0]

    @property
    def tail(self) -> str:
        return "".join(self.share.partition(" (")[1:])

    @property
    def effective(self) -> str:
        worth = self.code.effective_total
        return "–" if worth is None or self.question.contradiction else whole(round(worth))


def write_findings(results: Results, *, truths: Sequence[float] = ()) -> list[Finding]:
    """Put every share that pages show into sentences; `truths` are known for the demo only."""
    return [
        _write_finding(question, code, truth=truths[index] if index < len(truths) else None)
        for index, question in enumerate(results.questions)
        for code in question.interest
    ]


def _write_finding(question: QuestionResult, code: CodeResult, *, truth: float | None) -> Finding:
    def ends(low: float, high: float) -> str:
        return "–" if question.contradiction else write_interval(low, high)

    return Finding(
        question=question,
        code=code,
        share=describe_share(question, code),
        worth=describe_worth(question, code),
        clipping="" if question.contradiction else describe_clipping(code),
        fakes=describe_fakes(question, code),
        kind=describe_interval(question.interval_method),
        kind_anchor=INTERVAL_ANCHORS[question.interval_method],
        interval=ends(code.low, code.high),
        guides=tuple(ends(guide.low, guide.high) for guide in code.guides),
        together=ends(code.together_low, code.together_high),
        truth=truth,
    )
