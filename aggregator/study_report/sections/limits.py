"""The limits of the conclusions from a study, written from the study's own figures."""

from __future__ import annotations

from collections.abc import Iterator

from aggregator.results.blocks import Block
from aggregator.results.display import Results
from aggregator.results.sentences import SMALLEST_SAMPLE_SHOWN, describe_burst
from aggregator.results.snapshots import ended_as_frozen, ended_at_cap
from aggregator.study_report.content import Listing, Section
from surveys.formatting import join_list, whole
from surveys.models import Wave

LIMITS = "limits"
SELF_SELECTION = (
    "People decided for themselves whether to take part. Intervals cover chance only: they do not "
    "say how those who took part differ from others."
)
ONE_REPORT = (
    "Nothing checks that each report comes from a person, or that each person sent only one: the "
    "server stores nothing that identifies people."
)
HONESTY = "Scrambling makes honesty safe. It does not make people honest, or attentive."
ONE_BY_ONE = (
    "Each interval covers its true value with a probability of 95 %. At most about 5 in 100 "
    "intervals miss their true values."
)


def write_limits(wave: Wave, results: Results | None, blocks: list[Block]) -> Section:
    items = [
        *_describe_end(wave, results),
        *(_describe_reports(results, blocks) if results else ()),
        SELF_SELECTION,
        ONE_REPORT,
        HONESTY,
        *([ONE_BY_ONE] if results else []),
    ]
    return Section(anchor=LIMITS, heading="Limits", parts=(Listing(items=tuple(items)),))


def _describe_end(wave: Wave, results: Results | None) -> Iterator[str]:
    if wave.is_open:
        yield "The survey is still open. The figures are those of the newest look."
    elif ended_at_cap(wave):
        yield (
            "The survey stopped at a number of reports that was fixed before it opened. Its "
            "intervals hold if nobody who saw results sent reports."
        )
    elif not ended_as_frozen(wave):
        early = (
            "before the end that had been fixed" if wave.has_fixed_end else "without a fixed end"
        )
        yield f"Its researchers closed the survey {early}."
        if results and not results.is_one_look:
            yield "Its intervals hold for all looks together, which makes them wider."


def _describe_reports(results: Results, blocks: list[Block]) -> Iterator[str]:
    yield from _describe_cost(results)
    figures = [row for block in blocks if not block.is_declared for row in block.rows]
    marked = sum(bool(row.mark) for row in figures)
    hidden = sum(not row.is_shown for row in figures)
    if marked or hidden:
        counted = [
            (marked, f"need{'s' * (marked == 1)} caution (†)"),
            (hidden, f"{'is' if hidden == 1 else 'are'} too uncertain to be shown"),
        ]
        told = join_list([f"{whole(count)} {what}" for count, what in counted if count])
        yield f"Of {whole(len(figures))} estimates, {told}."
    if results.alarms:
        names = join_list([f"Q{question.number}" for question in results.alarms])
        yield (
            f"The codes of {names} probably did not all come from the survey’s page. Do not use "
            "these figures as findings."
        )
    contradicting = [f"Q{block.number}" for block in blocks if block.contradiction]
    if contradicting:
        yield f"The codes of {join_list(contradicting)} contradict the scrambling of the survey."
    burst = "" if results.wave.survey.demo else describe_burst(results)
    if burst:
        yield burst
    manifest = results.manifest
    if manifest.drawn is not None:
        yield (
            f"Each person was asked {manifest.drawn} of {manifest.block_count} blocks of "
            "questions, drawn at random, so each question has fewer reports than the survey."
        )


def _describe_cost(results: Results) -> Iterator[str]:
    """State the cost of scrambling for the first share with enough effective reports."""
    for question in results.questions:
        for estimate in question.shown:
            size = estimate.effective_sample_size
            if estimate.is_shown and size is not None and size >= SMALLEST_SAMPLE_SHOWN:
                yield (
                    f"Scrambling costs precision. In Q{question.number}, {whole(estimate.total)} "
                    f"reports carry as much information as about {whole(round(size))} direct "
                    "answers."
                )
                return
