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
    "Reports that did not come from this survey's page, such as a flood of invented ones, are "
    "the usual cause. Treat this question's figures as a warning, not as a finding."
)
WATCHED = (
    "This interval is valid while you watch: it holds at every look, so you may look as often "
    "as you like and close the survey whenever you like."
)
FIXED_END = (
    "This interval is valid because the end was fixed before the survey opened and the survey "
    "ended by it."
)
WATCHED_SHORT = "Valid while you watch: these intervals hold at every look, however often you look."
FIXED_END_SHORT = "Valid because the end was fixed before opening and the survey ended by it."


def describe_interval(fixed_end: bool, *, short: bool = False) -> str:
    """Say in one plain sentence which kind of interval is shown and why it may be."""
    if short:
        return FIXED_END_SHORT if fixed_end else WATCHED_SHORT
    return FIXED_END if fixed_end else WATCHED


def digits_for(code: CodeResult) -> int:
    """Whole points, unless the interval is so narrow that its ends would fall together."""
    width = 1.0 if code.low is None or code.high is None else code.high - code.low
    return 0 if width >= 0.03 else 1


def summarize_share(question: QuestionResult, code: CodeResult) -> str:
    """20 % (15–25), as short as a chart needs it."""
    if question.contradiction or code.low is None or code.high is None:
        return "contradiction"
    digits = digits_for(code)
    ends = f"{points(code.low, digits)}–{points(code.high, digits)}"
    return f"{percent(code.shown, digits)} ({ends})"


def describe_share(question: QuestionResult, code: CodeResult) -> str:
    """20 % (95 %: 15 to 25 %)."""
    if question.contradiction or code.low is None or code.high is None:
        return CONTRADICTION
    digits = digits_for(code)
    low, high = points(code.low, digits), percent(code.high, digits)
    level = percent(question.interval_level)
    return f"{percent(code.shown, digits)} ({level}: {low} to {high})."


def write_interval(code: CodeResult) -> str:
    """15.0 to 25.3 %, or a dash where there is none."""
    if code.low is None or code.high is None:
        return "–"
    return f"{points(code.low, 1)} to {percent(code.high, 1)}"


def describe_worth(question: QuestionResult, code: CodeResult) -> str:
    """1,400 codes inform like about 246 direct answers."""
    if question.contradiction or code.effective_total is None:
        return ""
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
    interval: str
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
        Finding(
            question=question,
            code=code,
            share=describe_share(question, code),
            worth=describe_worth(question, code),
            clipping="" if question.contradiction else describe_clipping(code),
            interval="–" if question.contradiction else write_interval(code),
            truth=truths[index] if index < len(truths) else None,
        )
        for index, question in enumerate(results.questions)
        for code in question.interest
    ]
