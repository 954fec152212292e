"""The precision that the planner promises is that of the results at the expected counts."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from aggregator.batches.joint_tables import list_tables
from aggregator.results.estimate import Estimate
from aggregator.results.estimating import compute_estimates
from privacy.distributions import Z_95
from privacy.planning.answerers import (
    ExpectedReports,
    expect_answers,
    expect_item,
    one_report_ratio_spread,
    ratio_half_width,
)
from privacy.planning.precision import watched_level
from surveys.manifest.manifest import Manifest
from tests.aggregator.routed import KIND, ask, yes
from tests.support.manifests import make_manifest

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
    """Estimate from counts as they are on average."""
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
