"""A survey of every type, with branching, refusal and a random subset, on real processes."""

from __future__ import annotations

import csv
import io
from collections import Counter

import httpx
import pytest

from aggregator.exports.report_codes import list_columns
from aggregator.results import estimating
from aggregator.results.estimands import Among, list_estimands
from aggregator.simulation.demo_surveys import STUDY
from aggregator.simulation.truth import compute_truth
from scripts.stack.world import World
from surveys.manifest.manifest import NOT_DRAWN


# The other demo survey runs with SQLite (test_demo.py).
@pytest.mark.long
@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_reports_to_a_survey_of_every_type_are_counted_and_estimated(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = world.start_demo(key=STUDY.key)
    printed, _ = demo.communicate(timeout=240)
    assert demo.returncode == 0, printed
    people = STUDY.people()
    assert len(people) >= 2000
    world.assert_counted_exactly_once()
    assert_true_values_are_inside(world, monkeypatch)
    assert_the_file_holds_what_was_sent(world)
    assert_the_releases_are_drawn_once(world)
    assert "agree" in world.stack.manage("verify")


def assert_the_releases_are_drawn_once(world: World) -> None:
    """The workers draw the demo's release; anyone can read it, and requesting it twice is free."""
    drawn = "SELECT COUNT(*) FROM aggregator_release WHERE state = 'drawn'"
    world.wait_for(lambda _: world.query(drawn)[0][0] == len(STUDY.releases))
    stored = "SELECT key, result, library FROM aggregator_release ORDER BY key"
    before = world.query(stored)
    assert {library for _key, _result, library in before} == {"OpenDP 0.16.0"}
    (slug,) = world.query("SELECT slug FROM surveys_survey")[0]
    address = f"{world.stack.url}/s/{slug}/results"
    page = httpx.get(address).text
    for question in ("Which year are you in?", "Did you take a pill", "How often did you feel"):
        assert question in page
    assert httpx.get(address).text == page  # a page never draws
    printed = world.stack.manage("demo", "--only", STUDY.key, "--url", world.stack.url)
    assert "is already complete" in printed
    assert world.query(stored) == before
    spent = "SELECT spent_hundredths, cap_hundredths FROM aggregator_release_ledger"
    assert world.query(spent) == [(150, 200)]


def assert_true_values_are_inside(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that 99.99 % intervals contain the true values, and that most are not [0, 1]."""
    manifest, people = world.manifest(), STUDY.people()
    monkeypatch.setattr(estimating, "LEVEL", 0.9999)
    truth, snapshot = compute_truth(manifest, people), world.final_snapshot()
    found = {
        estimate.estimand.key: estimate
        for result in estimating.compute_estimates(
            manifest=manifest,
            counts=snapshot["counts"],
            tables=snapshot["tables"],
            shown_at=(),
            told=snapshot["told"],
        )
        for estimate in result.estimates
    }
    told = 0
    for estimand in list_estimands(manifest):
        name = estimand.key
        estimate = found[name]
        low, high = estimate.low, estimate.high
        print(f"{name}: {truth[name]:.4f} [{low:.4f}, {high:.4f}] {estimate.method}")
        assert low <= truth[name] <= high, name
        told += (low, high) != (0.0, 1.0)
    assert {estimand.of for estimand in list_estimands(manifest)} == set(Among)
    assert told >= 0.9 * len(found)


def assert_the_file_holds_what_was_sent(world: World) -> None:
    (slug,) = world.query("SELECT slug FROM surveys_survey")[0]
    with world.signed_in() as client:
        text = client.get(f"/surveys/{slug}/results/reports.csv").text
        page = client.get(f"/surveys/{slug}/results")
        plain = client.get(f"/api/surveys/{slug}/results").json()
    reports = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {report.pop("data") for report in reports} == {"demo"}
    columns = list_columns(world.manifest())
    assert len(reports) == len(world.sent())
    for column, sent in zip(columns, zip(*world.sent(), strict=True), strict=True):
        if not column.question.is_declared:
            written = {code.sent: str(code.written) for code in column.codes}
            shown = Counter(report[column.name] for report in reports if report[column.name])
            assert shown == Counter(written[(code,)] for code in sent if code != NOT_DRAWN)
    # Four of six blocks are drawn for each person, so about two thirds answer each question.
    drawn = {question["name"]: question["n"] for question in plain["questions"]}
    assert all(1800 < n < 2200 for n in drawn.values()), drawn
    assert sum(group["n"] for group in plain["declared"][0]["groups"]) == len(world.sent())
    for number in range(1, 9):
        assert f'id="q{number}"' in page.text
