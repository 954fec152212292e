"""Claims are based on the open half, and are tested together, once, on the sealed half."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from django.db import transaction

from aggregator.batches.columns import Columns
from aggregator.batches.halves import HalfIsOpen
from aggregator.comparisons.choice import check_claim
from aggregator.comparisons.empty_groups import NOBODY
from aggregator.comparisons.jobs import QUEUE, compute_again
from aggregator.comparisons.result import TwoQuestionsResult
from aggregator.comparisons.sentences import IMPOSSIBLE, adjust_p, write_p
from aggregator.comparisons.stored import UnreadableResult, read_result
from aggregator.comparisons.words.two_questions_sentences import (
    NO_VARIATION,
    NOTHING_TO_TEST,
    describe_difference,
    describe_share,
    name_groups,
    shows_test,
)
from aggregator.models import Comparison, SealedHalf
from aggregator.results.groups.halves import MOST_CLAIMS
from surveys.access import Action, ask_again
from surveys.comparing.choice import GROUP, OUTCOME, NotComparable
from surveys.comparing.indicators import NO, YES, Indicator, find_indicators, list_names
from surveys.formatting import percent
from surveys.history.recording import lock_survey, record
from surveys.manifest.manifest import Manifest
from surveys.models import Kind, Verb, Wave, today

ALREADY_CLAIMED = "A claim about these two answers already exists. To change it, remove it first."
NO_SHARE = (
    "{label} is a number, so it has a mean but no share. Leave the percentage empty to compare its "
    "mean with that of everyone else."
)
TOO_MANY_CLAIMS = f"You can write down at most {MOST_CLAIMS} claims. Remove one first."
NOBODY_THERE = "No one in the sealed half is in {group}."
NOBODY_ELSE = "No one in the sealed half gave a different answer to Q{number}."


class ClaimsChanged(Exception):
    """Claims were added or removed since the page was loaded, perhaps in another window."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The expectation that the outcome is more, or less, frequent in one group.

    The group is compared with all other people or with a percentage.
    """

    names: tuple[str, str]  # the outcome, then the group
    is_higher: bool
    than: int | None = None  # in percent

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Claim:
        outcome, group = stored["names"]
        is_higher, than = stored["is_higher"], stored.get("than")
        return cls(names=(outcome, group), is_higher=is_higher, than=than)

    def to_json(self) -> dict[str, Any]:
        return {"names": list(self.names), "is_higher": self.is_higher, "than": self.than}

    def is_about_the_same(self, other: Claim) -> bool:
        """Return whether both claims are about one figure, so that only one can be written down."""
        if self.than is None and other.than is None:
            return set(self.names) == set(other.names)
        return self.names == other.names and None not in (self.than, other.than)


class Verdict(StrEnum):
    WAITING = ""
    CONFIRMED = "Confirmed"
    NOT_CONFIRMED = "Not confirmed"
    NOT_TESTED = "Not tested"


@dataclass(frozen=True, kw_only=True)
class JudgedClaim:
    """A claim and, once it is tested, its verdict; `p_value` is adjusted for all claims."""

    number: int  # counted from 1
    title: str
    comparison: Comparison | None = None
    verdict: Verdict = Verdict.WAITING
    finding: str = ""
    p_value: str = ""
    problem: str = ""


def list_stored(half: SealedHalf) -> list[Claim]:
    return [Claim.from_json(stored) for stored in half.claims]


def add_claim(*, wave: Wave, claim: Claim) -> None:
    """Write down a claim; raise NotComparable or HalfIsOpen if this is impossible."""
    manifest = wave.description
    with transaction.atomic():
        half = _lock(wave)
        check_claim(manifest=manifest, names=claim.names, half=half)
        outcome, group = find_indicators(manifest, claim.names)
        if claim.than is not None and outcome.is_number:
            raise NotComparable(NO_SHARE.format(label=outcome.label), field=OUTCOME)
        if group.is_known and not _has_people(wave, group):
            raise NotComparable(NOBODY.format(label=group.label), field=GROUP)
        claims = list_stored(half)
        if any(claim.is_about_the_same(one) for one in claims):
            raise NotComparable(ALREADY_CLAIMED)
        if len(claims) >= MOST_CLAIMS:
            raise NotComparable(TOO_MANY_CLAIMS)
        _write(half, [*claims, claim])
        record(wave.survey, Verb.CHANGED, Kind.CLAIM)


def _has_people(wave: Wave, group: Indicator) -> bool:
    """Return whether anybody in the open half is in a declared group."""
    place = Columns.of(wave.description).places[group.place]
    batches = wave.batches.values_list("counts", flat=True)  # only those of the open half
    return any(counts[place][code] for counts in batches for code in group.yes)


def remove_claim(*, wave: Wave, claim: Claim) -> None:
    """Remove a claim, unless it is gone already."""
    with transaction.atomic():
        half = _lock(wave)
        claims = list_stored(half)
        if claim in claims:
            _write(half, [one for one in claims if one != claim])
            record(wave.survey, Verb.CHANGED, Kind.CLAIM)


def stamp_claims(claims: Iterable[Claim]) -> str:
    """Return a short hash of claims, for a form that shows them."""
    content = json.dumps([claim.to_json() for claim in claims])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def ask_to_open(*, wave: Wave, seen: str) -> None:
    """Request the test of all claims on the sealed half; from then on, the claims cannot change.

    `seen` is the stamp of the claims on the author's page.
    """
    with transaction.atomic():
        half = _lock(wave)
        if stamp_claims(list_stored(half)) != seen:
            raise ClaimsChanged
        half.asked_on, half.obstacle = today(), ""
        half.save(update_fields=["asked_on", "obstacle"])
        record(wave.survey, Verb.ASKED_TO_OPEN, Kind.SEALED_HALF)


def _lock(wave: Wave) -> SealedHalf:
    lock_survey(wave.survey)
    ask_again(wave.survey, Action.UNSEAL)
    # Lock the wave before its half, as when results are stored.
    Wave.objects.select_for_update(no_key=True).get(pk=wave.pk)
    half = SealedHalf.objects.select_for_update().get(wave=wave)
    if not half.is_sealed or half.asked_on is not None:
        raise HalfIsOpen
    return half


def _write(half: SealedHalf, claims: list[Claim]) -> None:
    half.claims = [claim.to_json() for claim in claims]
    half.save(update_fields=["claims"])


def describe_claim(manifest: Manifest, claim: Claim) -> str:
    """Write "Yes to Q1 is more frequent for North than for everyone else", for example."""
    outcome, group = find_indicators(manifest, claim.names)
    first, second = name_groups(group)
    if claim.than is not None:
        side = "above" if claim.is_higher else "below"
        return f"The share of {outcome.yes_text} is {side} {percent(claim.than / 100)} for {first}."
    if outcome.is_number:
        direction = "higher" if claim.is_higher else "lower"
        return f"The mean of {outcome.label} is {direction} for {first} than for {second}."
    direction = "more" if claim.is_higher else "less"
    return f"{outcome.yes_text} is {direction} frequent for {first} than for {second}."


def list_tested(half: SealedHalf, manifest: Manifest) -> list[JudgedClaim]:
    """List the claims with their verdicts, in the order in which they were written down."""
    rows = {
        tuple(row.names): row
        for row in Comparison.objects.filter(wave=half.wave_id, kind=Comparison.Kind.CLAIM)
    }
    return [
        _describe(number, claim, rows.get(claim.names), manifest)
        for number, claim in enumerate(list_stored(half), start=1)
    ]


def _describe(number: int, claim: Claim, row: Comparison | None, manifest: Manifest) -> JudgedClaim:
    judged = JudgedClaim(number=number, title=describe_claim(manifest, claim), comparison=row)
    if row is None or not row.is_settled:
        return judged
    if row.state == Comparison.State.FAILED:
        QUEUE.try_again(row)  # what a test reads never changes
        verdict = Verdict.NOT_TESTED if row.is_settled else Verdict.WAITING
        return replace(judged, verdict=verdict, problem=row.problem)
    try:
        result = read_result(row.kind, row.result, indicators=list_names(manifest))
    except UnreadableResult:
        compute_again(row)
        return judged
    assert isinstance(result, TwoQuestionsResult)
    outcome, group = find_indicators(manifest, claim.names)
    if nobody := _find_nobody(result, claim, group):
        return replace(judged, verdict=Verdict.NOT_TESTED, problem=nobody)
    compares, problem = claim.than is None, _find_problem(result, claim)
    p_value = adjust_p(result.test.p_value, result.together)
    # A share has an interval but no p-value.
    has_p = compares and not problem and shows_test(result)
    describe = describe_difference if compares else describe_share
    is_confirmed = is_confirmed_by(result, claim)
    return replace(
        judged,
        verdict=Verdict.CONFIRMED if is_confirmed else Verdict.NOT_CONFIRMED,
        finding=describe(result, outcome, group),
        p_value=write_p(1.0 if p_value is None else p_value) if has_p else "",
        problem=problem,
    )


def is_confirmed_by(result: TwoQuestionsResult, claim: Claim) -> bool:
    """Return whether the interval of the difference, or of the share, lies on the claimed side."""
    if _find_problem(result, claim):
        return False
    if claim.than is None:
        figure, line = result.difference, 0.0
    else:
        figure, line = result.share_first, claim.than / 100
    return figure.low > line if claim.is_higher else figure.high < line


def _find_nobody(result: TwoQuestionsResult, claim: Claim, group: Indicator) -> str:
    """Say which group of a claim is empty in the sealed half, or return an empty string."""
    if not group.is_known:
        return ""  # membership is unknown; the interval allows for that
    first, second = (sum(row[place] for row in result.counts) for place in (YES, NO))
    if not first:
        return NOBODY_THERE.format(group=group.quoted)
    if claim.than is None and not second:
        return NOBODY_ELSE.format(number=group.number)
    return ""


def _find_problem(result: TwoQuestionsResult, claim: Claim) -> str:
    if claim.than is None and result.test.method == NO_VARIATION:
        return NOTHING_TO_TEST
    # Nobody saw the sealed half before its only look.
    return IMPOSSIBLE if result.contradiction.applies(fixed_end=True) else ""
