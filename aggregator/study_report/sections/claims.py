"""The claims that the sealed half has tested or will test."""

from __future__ import annotations

from collections.abc import Iterator

from aggregator.batches.halves import find_half
from aggregator.comparisons.claims import JudgedClaim, list_tested
from aggregator.models import SealedHalf
from aggregator.study_report.content import Heading, Paragraph, Part, Section, Tone, Words
from surveys.formatting import day
from surveys.manifest.manifest import Manifest
from surveys.models import Wave

CLAIMS = "claims"
NOT_DIVIDED = (
    "At the close, the reports are divided at random into two halves, and one half stays sealed."
)
STILL_SEALED = (
    "A random half of the reports is still sealed. It will be used once, to test the claims that "
    "were written down before."
)
TESTED = (
    "These claims were written down while a random half of the reports was sealed. On {day}, all "
    "of them were tested on that half, once. Their figures describe that half alone; all other "
    "figures here describe all reports."
)
NONE_WRITTEN = "The sealed half was opened on {day}. No claim had been written down."
TOGETHER = "All intervals of the claims hold together at 95 %, and p is adjusted for all of them."
BEING_TESTED = "It is being tested. Come back in a minute."


def write_claims(wave: Wave, manifest: Manifest) -> Section:
    """Write the section for a survey that keeps half of its reports sealed."""
    half = find_half(wave)
    if half is None:
        parts: tuple[Part, ...] = (Paragraph(text=NOT_DIVIDED),)
    elif half.problem:
        parts = (Paragraph(text=half.problem, tone=Tone.NOTICE),)
    elif half.opened_on is None:
        parts = (Paragraph(text=STILL_SEALED, tone=Tone.NOTICE),)
    else:
        parts = tuple(_write_tested(half, manifest, opened=day(half.opened_on)))
    return Section(anchor=CLAIMS, heading="Claims tested on a sealed half", parts=parts)


def _write_tested(half: SealedHalf, manifest: Manifest, *, opened: str) -> Iterator[Part]:
    tested = list_tested(half, manifest)
    yield Paragraph(text=(TESTED if tested else NONE_WRITTEN).format(day=opened))
    for one in tested:
        yield Heading(words=Words(text=one.title))
        yield Paragraph(text=_describe(one))
    if len(tested) > 1:
        yield Paragraph(text=TOGETHER)


def _describe(claim: JudgedClaim) -> str:
    if not claim.verdict:
        return BEING_TESTED
    said = (
        f"{claim.verdict}.",
        claim.finding,
        claim.p_value and f"{claim.p_value}.",
        claim.problem,
    )
    return " ".join(filter(None, said))
