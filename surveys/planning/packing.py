"""Compares two yes/no questions with one question that asks the second as its follow-up."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerers import ExpectedReports, expect_answers, one_report_ratio_spread
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.planning.assumptions import FOLLOW_UP_ASKED, FOLLOW_UP_PEOPLE, SHARE


@dataclass(frozen=True, kw_only=True)
class PackedOffer:
    """An offer to ask two questions as one code, and the follow-up's standard error both ways."""

    parent: int  # the number of the parent question
    flips: int
    total: float
    apart: float
    packed: float


def offer_packing(manifest: Manifest, question: ManifestQuestion) -> PackedOffer | None:
    """Offer one code if a yes/no question is asked only after Yes to the question above.

    Return None if one code would not be more precise.
    """
    place = manifest.questions.index(question)
    if place == 0 or not question.is_yes_or_no or question.refusal or question.score is not None:
        return None
    parent = manifest.questions[place - 1]
    asks = parent.is_yes_or_no and parent.score is None  # no one answers a score directly
    plain = asks and not parent.refusal and parent.rule is None
    if not plain or question.rule != {"name": parent.name, "is": [1]}:
        return None
    total = parent.epsilon + question.epsilon
    # This is the fewest flips that cost no more ε. Subtracting 1e-6 keeps rounding errors from
    # adding a flip.
    flips = max(1, math.ceil(100 / (1 + math.exp(total)) - 1e-6))
    packed = RandomizedResponse.from_flips(symbols=3, flips=flips)
    offer = PackedOffer(
        parent=parent.number,
        flips=flips,
        total=total,
        apart=_find_error(
            expect_answers(
                share=SHARE,
                asked=FOLLOW_UP_ASKED,
                mechanism=question.mechanism,
                parent=parent.mechanism.channel(),
            )
        ),
        packed=_find_error(
            expect_answers(share=SHARE, refusing=1 - FOLLOW_UP_ASKED, mechanism=packed, answers=2)
        ),
    )
    return offer if offer.packed < offer.apart else None


def _find_error(reports: ExpectedReports) -> float:
    return one_report_ratio_spread(reports=reports) / math.sqrt(FOLLOW_UP_PEOPLE)
