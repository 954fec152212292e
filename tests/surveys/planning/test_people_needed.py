"""How many people a question needs, compared with docs/methods and with drawn reports."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.joint.weights import efficient_weights
from surveys.authoring.forms.planning import PlanForm
from surveys.manifest.questions import ManifestQuestion
from surveys.planning.assumptions import ASKED, MARGIN, REFUSING, SHARE
from surveys.planning.people_needed import find_decider, find_figure, people_needed
from surveys.planning.planner import Plan
from surveys.planning.planner_links import plan_for_question
from tests.support.manifests import make_manifest
from tests.support.manifests import make_question as make

YES = {"name": "q1", "is": [1]}


def needed_by(question: ManifestQuestion, *earlier: ManifestQuestion) -> int:
    manifest = replace(make_manifest(*earlier, question), cap=5000)
    return people_needed(manifest, question)


def test_the_people_needed_match_the_documentation() -> None:
    # docs/methods, "Precision and people", "Refusals" and "Follow-ups"
    assert needed_by(make()) == 1399
    assert needed_by(make(refusal=True)) == 1941
    # For a number, the figure is the mean, which has the spread of a share of 50 %.
    assert needed_by(make("number", minimum=0, maximum=9, options=0)) == 1537
    assert needed_by(make(name="q2", rule=YES), make()) == 4928


def test_watching_takes_a_third_more_people_and_a_random_subset_is_not_watched() -> None:
    one, other = make(), make(name="q2")
    manifest = make_manifest(one, other)
    assert people_needed(manifest, one) == 1913
    assert people_needed(replace(manifest, drawn=1), one) == 2 * 1399
    found = find_figure(manifest, one)
    assert found.find_margin(1913) <= MARGIN < found.find_margin(1912)


def test_the_better_it_is_known_who_was_asked_the_fewer_people_are_needed() -> None:
    child = make(name="q2", rule=YES)
    two = make(name="q3", rule={"all": [YES, {"name": "q2", "is": [1]}]})
    needed = [
        needed_by(child, make("declared")),
        needed_by(child, make(flips=5)),
        needed_by(child, make(flips=25)),
        needed_by(child, make(flips=40)),
        needed_by(two, make(), make(name="q2")),
    ]
    assert needed == sorted(set(needed))
    # If several questions decide who is asked, the plan ignores them.
    assert needed[-1] == 5901


@pytest.mark.parametrize("end", [{"cap": 5000}, {}, {"people_expected": 2000}, {"drawn": 1}])
def test_the_planner_says_the_same_as_the_question(end: dict[str, Any]) -> None:
    parents = (make(), make("choice", name="q2", options=6, flips=12), make("declared", name="q3"))
    rules = (None, YES, {"name": "q2", "is": [1, 3]}, {"name": "q3", "is": [0]})
    for rule, refusal, kind in product(rules, (False, True), ("yes_no", "choice", "number")):
        question = make(kind, name="q4", rule=rule, refusal=refusal, flips=20)
        manifest = make_manifest(*parents, question, **end)
        form = PlanForm.from_query(
            {name: str(one) for name, one in plan_for_question(manifest, question).items()}
        )
        assert form.is_valid(), form.errors
        plan, figure = Plan(given=form.read()), find_figure(manifest, question)
        assert plan.people_needed == figure.find_people(MARGIN)
        assert plan.margin == pytest.approx(figure.find_margin(plan.given.people), rel=1e-12)


@pytest.mark.parametrize(
    ("parent", "rule", "sizes"),
    [
        (make(), YES, (1, 1)),
        (make("choice", options=6), {"name": "q1", "is": [1, 3]}, (4, 2)),
        (make("choice", options=6, refusal=True), {"name": "q1", "is": [1, 3]}, (5, 2)),
        (make("choice", options=6), {"not": {"name": "q1", "is": [1]}}, (1, 5)),
        (make("several", options=3), {"name": "q1_2", "is": [1]}, (1, 1)),
    ],
    ids=["yes", "two of six", "a refusal", "any but one", "an item"],
)
def test_codes_that_decide_alike_are_one_class(
    parent: ManifestQuestion, rule: dict[str, Any], sizes: tuple[int, int]
) -> None:
    question = make(name="q2", rule=rule)
    decider = find_decider(make_manifest(parent, question), question)
    assert decider is not None
    channel = decider.channel()
    assert channel is not None
    full = parent.mechanism.channel()
    other = parent.mechanism.other_probability
    np.testing.assert_allclose(channel.sum(axis=0), 1)
    assert channel[1, 0] == pytest.approx(sizes[1] * other)
    assert channel[0, 1] == pytest.approx(sizes[0] * other)
    assert len(full) == sum(sizes)


def test_a_rule_that_holds_for_every_code_says_nothing() -> None:
    for codes in ([0, 1], []):
        question = make(name="q2", rule={"name": "q1", "is": codes})
        decider = find_decider(make_manifest(make(), question), question)
        assert decider is not None
        assert decider.channel() is None


@pytest.mark.parametrize(
    "question",
    [
        make("choice", name="q2", options=4, refusal=True),
        make("choice", name="q2", options=4, rule=YES),
        make("choice", name="q2", options=4, rule=YES, refusal=True),
        make("several", name="q2", options=3, refusal=True),
        make("several", name="q2", options=3, rule=YES),
        make("several", name="q2", options=3, rule=YES, refusal=True),
    ],
    ids=lambda question: f"{question.type}-{question.k}-{question.gate_k}",
)
def test_the_people_needed_reach_the_margin_in_drawn_reports(question: ManifestQuestion) -> None:
    """The spread of 4,000 drawn surveys is within 10 % of MARGIN / 1.96."""
    parent = make()
    people, generator = needed_by(question, parent), np.random.default_rng(5)
    asked = ASKED if question.rule is not None else 1.0
    silent = asked * REFUSING if question.refusal else 0.0
    chosen = (asked - silent) * SHARE
    refused, not_asked = question.refused_code or 0, question.not_asked_code or 0
    truths: list[tuple[float, ...]]  # the share of people, then the code of each symbol
    if question.has_gate:
        gate = RandomizedResponse(symbols=question.gate_k, threshold=question.gate_threshold or 0)
        channels = [parent.mechanism.channel(), gate.channel(), question.mechanism.channel()]
        truths = [(chosen, 1, 0, 1), (asked - silent - chosen, 1, 0, 0), (silent, 1, refused, 0)]
        truths += [(1 - asked, 0, not_asked, 0)]
    else:
        channels = [parent.mechanism.channel(), question.mechanism.channel()]
        each = (asked - silent - chosen) / (question.answers - 1)
        truths = [(chosen, 1, 0), *((each, 1, code) for code in range(1, question.answers))]
        truths += [(silent, 1, refused), (1 - asked, 0, not_asked)]
    truths = [truth for truth in truths if truth[0]]
    channel = np.array([_report(channels, [int(code) for code in codes]) for _, *codes in truths]).T
    truth = np.array([share for share, *_ in truths])
    counted = np.array([1.0] * (2 if question.has_gate else question.answers))
    counted = np.pad(counted, (0, len(truths) - len(counted)))
    event = np.eye(len(truths))[0]
    numerator, denominator = efficient_weights(
        channel=channel, numerator=event, denominator=counted, reported=channel @ truth
    )
    reports = generator.multinomial(people, channel @ truth, size=4000)
    found = reports @ numerator / (reports @ denominator)
    assert found.mean() == pytest.approx(SHARE, abs=0.005)
    assert found.std() * 1.96 == pytest.approx(MARGIN, rel=0.1)


def _report(channels: list[Floats], codes: list[int]) -> Floats:
    column: Floats = np.ones(1)
    for channel, code in zip(channels, codes, strict=True):
        column = (column[:, None] * channel[:, code]).ravel()
    return column
