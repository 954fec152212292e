"""Finds how many people a question needs, and the share or mean for which pages plan it.

A survey is watched unless its end is fixed or it draws random subsets. assumptions.py has the other
assumptions.
"""

from __future__ import annotations

from privacy.checks import Floats
from privacy.planning.answerers import ExpectedReports, expect_answers, expect_item
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.rules import holds, leaves
from surveys.planning.assumptions import ASKED, FOLLOW_UP_ASKED, MARGIN, REFUSING, SHARE
from surveys.planning.figures import Figure
from surveys.planning.plan_input import Decider


def find_figure(
    manifest: Manifest, question: ManifestQuestion, *, share: float | None = None
) -> Figure:
    """Describe the share for which pages plan a question; for a range, describe the mean.

    With a rule, the share is among those asked; with a refusal, it is among those who answer. With
    a follow-up, this is the share of Yes to the first part. No has a single code, so the share of
    Yes is computed from No.
    """
    if share is None:
        share = _find_usual_share(question)
    everyone = question.rule is None and not question.refusal
    return Figure(
        share=share,
        mechanism=question.mechanism,
        reports=None if everyone else _expect(manifest, question, share=share),
        watched=manifest.is_watched,
        part=find_part(manifest),
    )


def _find_usual_share(question: ManifestQuestion) -> float:
    if question.is_rounded:
        return 0.5
    return 1 - SHARE if question.described.has_follow_up else SHARE


def find_follow_up(manifest: Manifest, question: ManifestQuestion) -> Figure:
    """Describe the follow-up's share among those who say Yes to the first part."""
    answering = 1 - REFUSING if question.refusal else 1.0
    reports = expect_answers(
        share=SHARE,
        mechanism=question.mechanism,
        asked=None if question.rule is None else ASKED,
        refusing=1 - FOLLOW_UP_ASKED * answering,
        parent=_find_parent(manifest, question),
        answers=2,
    )
    return Figure(
        share=SHARE,
        mechanism=question.mechanism,
        reports=reports,
        watched=manifest.is_watched,
        part=find_part(manifest),
    )


def find_part(manifest: Manifest) -> float:
    """Return the fraction of people who get a question, rounded as the planner accepts it."""
    return round(manifest.asked_fraction, 4)


def people_needed(manifest: Manifest, question: ManifestQuestion) -> int:
    """Return how many people must take part for a margin of ± MARGIN."""
    return find_figure(manifest, question).find_people(MARGIN)


def _expect(manifest: Manifest, question: ManifestQuestion, *, share: float) -> ExpectedReports:
    asked = None if question.rule is None else ASKED
    refusing = REFUSING if question.refusal else None
    parent = _find_parent(manifest, question)
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


def _find_parent(manifest: Manifest, question: ManifestQuestion) -> Floats | None:
    decider = find_decider(manifest, question)
    return None if decider is None else decider.channel()


def find_decider(manifest: Manifest, question: ManifestQuestion) -> Decider | None:
    """Find the code that decides whether a question is asked, or None if it has no rule.

    If a rule names no question yet, the plan assumes that a yes/no question of the same strength
    decides.
    """
    rule = question.rule
    if rule is None:
        return None
    names = {leaf["name"] for leaf in leaves(rule)}
    if not names:
        return Decider.usual(question.flips)
    unknown = Decider(codes=0, leading=0, flips=0)
    if len(names) > 1:
        return unknown
    [symbol] = [one for one in manifest.symbols if one.name in names]
    leading = sum(holds(rule, {symbol.name: code}) for code in range(symbol.k))
    if not 0 < leading < symbol.k:
        return unknown  # the rule always or never holds, so it decides nothing
    [parent] = [one for one in manifest.questions if one.name == symbol.question]
    flips = 0 if symbol.threshold is None else parent.flips
    return Decider(codes=symbol.k, leading=leading, flips=flips)
