"""How many people a question needs, for its share among those who answer it.

The end is fixed beforehand; assumptions.py has the other assumptions.
"""

from __future__ import annotations

import numpy as np

from privacy.checks import Floats
from privacy.planning.answerers import (
    ExpectedReports,
    expect_answers,
    expect_item,
    people_for_ratio_half_width,
)
from privacy.planning.precision import people_for_half_width
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.rules import holds, leaves
from surveys.planning.assumptions import ASKED, FOLLOW_UP_ASKED, MARGIN, REFUSING, SHARE
from surveys.planning.plan_input import find_usual_parent


def people_needed(manifest: Manifest, question: ManifestQuestion) -> int:
    """People who must take part, so that one share (of a range, its mean) is known to ± MARGIN.

    With a rule the share is among those asked, with a refusal among those who answer. For a
    follow-up it is the share of Yes to the first part, computed from No, which has one code.
    """
    share = SHARE
    if question.is_rounded:
        share = 0.5
    elif question.described.has_follow_up:
        share = 1 - SHARE
    if question.rule is None and not question.refusal:
        return people_for_half_width(share=share, half_width=MARGIN, mechanism=question.mechanism)
    reports = _expect(manifest, question, share=share)
    return people_for_ratio_half_width(reports=reports, half_width=MARGIN)


def people_needed_for_follow_up(manifest: Manifest, question: ManifestQuestion) -> int:
    """People who must take part to know the follow-up's share among Yes to the first part."""
    answering = 1 - REFUSING if question.refusal else 1.0
    reports = expect_answers(
        share=SHARE,
        mechanism=question.mechanism,
        asked=None if question.rule is None else ASKED,
        refusing=1 - FOLLOW_UP_ASKED * answering,
        parent=find_deciding_channel(manifest, question),
        answers=2,
    )
    return people_for_ratio_half_width(reports=reports, half_width=MARGIN)


def _expect(manifest: Manifest, question: ManifestQuestion, *, share: float) -> ExpectedReports:
    asked = None if question.rule is None else ASKED
    refusing = REFUSING if question.refusal else None
    parent = find_deciding_channel(manifest, question)
    if question.has_gate:
        return expect_item(
            share=share,
            mechanism=question.mechanism,
            gate=question.gate_mechanism,
            asked=asked,
            refusing=refusing,
            parent=parent,
        )
    return expect_answers(
        share=share,
        mechanism=question.mechanism,
        asked=asked,
        refusing=refusing,
        parent=parent,
    )


def find_deciding_channel(manifest: Manifest, question: ManifestQuestion) -> Floats | None:
    """Find the channel of the code that decides whether a question is asked, in two classes.

    A rule that names no question yet is planned as if a yes/no question of the same strength
    decided. None without a rule, or where several codes decide: how they go together is unknown, so
    the plan does without them, and the results are more precise than planned.
    """
    rule = question.rule
    if rule is None:
        return None
    names = {leaf["name"] for leaf in leaves(rule)}
    if not names:
        return find_usual_parent(flips=question.flips)
    if len(names) > 1:
        return None
    [symbol] = [one for one in manifest.symbols if one.name in names]
    if symbol.threshold is None:
        return np.eye(2)  # sent as it is
    holding = sum(holds(rule, {symbol.name: code}) for code in range(symbol.k))
    sizes = np.array([symbol.k - holding, holding], dtype=np.float64)
    if not sizes.all():
        return None  # a rule that always or never holds says nothing
    other = np.outer(sizes * symbol.mechanism.other_probability, np.ones(2))
    return other + symbol.mechanism.slope * np.eye(2)
