"""The precision that the planner promises is that of the results at the expected counts."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from aggregator.batches.joint_tables import list_tables
from aggregator.results.estimate import Estimate
from aggregator.results.estimating import compute_estimates
from aggregator.results.reliability import Reliability, rate
from privacy.level import Z_95
from privacy.planning.answerers import (
    ExpectedReports,
    expect_answers,
    expect_item,
    one_report_ratio_spread,
    ratio_half_width,
)
from privacy.planning.precision import watched_level
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.planning.expected import expect_figures
from tests.aggregator.routed import KIND, ask, yes
from tests.support.manifests import make_manifest, make_question

PEOPLE = 20_000
SHARE, ASKED, REFUSING = 0.2, 0.5, 0.1

FOLLOW_UP = make_manifest(ask("q1", KIND.YES_NO), ask("q2", KIND.YES_NO, rule=yes("q1")))
REFUSABLE = make_manifest(
    ask("q1", KIND.YES_NO), ask("q2", KIND.YES_NO, rule=yes("q1"), refusal=True)
)
ITEMS = make_manifest(
    ask("q1", KIND.YES_NO), ask("q2", KIND.SEVERAL, 1, rule=yes("q1"), refusal=True)
)


def expect(manifest: Manifest) -> ExpectedReports:
    parent, child = manifest.questions
    common = {
        "share": SHARE,
        "asked": ASKED,
        "refusing": REFUSING if child.refusal else None,
        "parent": parent.mechanism.channel(),
        "mechanism": child.mechanism,
    }
    if child.has_gate:
        return expect_item(gate=child.gate_mechanism, **common)  # type: ignore[arg-type]
    return expect_answers(**common)  # type: ignore[arg-type]


def estimate(manifest: Manifest, *, fixed_end: bool) -> Estimate:
    """Compute the estimate that follows from average counts."""
    parent, child = manifest.questions
    answering = ASKED * (1 - REFUSING) if child.refusal else ASKED
    refused, not_asked = child.refused_code or 0, child.not_asked_code or 0
    own = [parent.mechanism.channel()]
    if child.has_gate:
        own += [child.gate_mechanism.channel(), child.mechanism.channel()]
        truths = [(1, 0, 1, answering * SHARE), (1, 0, 0, answering * (1 - SHARE))]
    else:
        own += [child.mechanism.channel()]
        truths = [(1, 1, 0, answering * SHARE), (1, 0, 0, answering * (1 - SHARE))]
    truths += [(1, refused, 0, ASKED - answering), (0, not_asked, 0, 1 - ASKED)]
    table = np.zeros([len(channel) for channel in own])
    for *codes, share in truths:
        columns = [channel[:, code] for channel, code in zip(own, codes, strict=False)]
        cell = columns[0]
        for column in columns[1:]:
            cell = np.multiply.outer(cell, column)
        table += PEOPLE * share * cell
    counts = np.rint(table).astype(int)
    axes = range(counts.ndim)
    [described] = list_tables(manifest)
    assert counts.shape == described.shape
    _, found = compute_estimates(
        manifest=replace(manifest, people_expected=PEOPLE),
        counts=[counts.sum(axis=tuple(set(axes) - {axis})).tolist() for axis in axes],
        tables=[counts.ravel().tolist()],
        shown_at=[] if fixed_end else [PEOPLE * look // 10 for look in range(1, 11)],
        told=(),
    )
    [one] = [each for each in found.estimates if each.estimand.name == "1"]
    return one


MANIFESTS = pytest.mark.parametrize(
    "manifest", [FOLLOW_UP, REFUSABLE, ITEMS], ids=["follow-up", "with refusals", "an item"]
)


@MANIFESTS
def test_after_a_fixed_end(manifest: Manifest) -> None:
    found = estimate(manifest, fixed_end=True)
    error = one_report_ratio_spread(reports=expect(manifest)) / sqrt(PEOPLE)
    assert found.value == pytest.approx(SHARE, abs=1e-3)
    assert found.standard_error == pytest.approx(error, rel=1e-2)
    low, high = found.intervals.main.ends
    assert (high - low) / 2 == pytest.approx(Z_95 * error, rel=0.05)


@MANIFESTS
def test_while_watched(manifest: Manifest) -> None:
    found = estimate(manifest, fixed_end=False)
    planned = ratio_half_width(reports=expect(manifest), people=PEOPLE, level=watched_level())
    low, high = found.intervals.main.ends
    assert (high - low) / 2 == pytest.approx(planned, rel=0.05)


@pytest.mark.parametrize("fixed_end", [True, False])
@pytest.mark.parametrize(
    "question",
    [
        make_question(),
        make_question("choice", options=5),
        make_question("number", minimum=0, maximum=24),
        make_question("several", options=3),
        make_question("follow_up", options=3),
    ],
    ids=lambda question: str(question.type),
)
def test_results_hide_what_the_plan_marks(question: ManifestQuestion, fixed_end: bool) -> None:
    """Without rules and refusals, what is hidden depends only on the number of people."""
    seen = set()
    for people in (40, 60, 80, 120, 200, 300, 500, 1_000):
        manifest = make_manifest(
            question, people_expected=people, cap=people if fixed_end else None
        )
        found, *_ = expect_figures(manifest, question, people=people)
        cells = [[people - people // 2] + [people // 2 // (one.k - 1)] * (one.k - 1)
                 for one in manifest.symbols]  # fmt: skip
        for row in cells:
            row[0] += people - sum(row)
        [result] = compute_estimates(
            manifest=manifest, counts=cells, tables=[], told=(),
            shown_at=[] if fixed_end else [people * look // 10 for look in range(1, 11)],
        )  # fmt: skip
        shown = [one for one in result.shown if not one.estimand.is_ratio]
        assert {one.design_error is not None for one in shown} == {True}
        hidden = {rate(one.design_error, one.critical_value) for one in shown}
        assert (found.hidden == "") == (Reliability.NOT_SHOWN not in hidden), people
        seen.add(found.hidden)
    assert seen == {"", "not shown: too imprecise"}
