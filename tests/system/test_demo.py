"""The main job on real processes: 6,366 people over HTTP, estimated, exported, checked."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

import pytest

from aggregator.demo import DEMO_TRUTH, PEOPLE
from privacy.intervals import likelihood_ratio_interval
from privacy.mechanisms import RandomizedResponse
from tests.system.world import World


def test_the_demo_from_the_first_report_to_the_csv(world: World) -> None:
    demo = world.start_demo()
    while demo.poll() is None:
        world.wait_for(lambda _: True)  # every tally holds acknowledged = raw + sealed
    printed, _ = demo.communicate()
    assert demo.returncode == 0, printed

    under_way = [t for t in world.tallies if 0 < t.acknowledged < PEOPLE]
    assert len(under_way) > 20
    assert any(t.sealed for t in under_way), "nothing was sealed while reports came in"
    assert all(t.raw >= 50 for t in under_way if t.sealed), "K reports stay behind while open"

    world.assert_counted_exactly_once()
    assert_true_shares_are_inside(world)
    assert_closed_at_the_cap(world)
    assert_exports_reproduce_the_estimates(world)
    assert_the_dashboard_shows_it(world)


def assert_true_shares_are_inside(world: World) -> None:
    coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
    for (_, yes), known in zip(world.final_snapshot()["counts"], DEMO_TRUTH, strict=True):
        interval = likelihood_ratio_interval(
            successes=yes, total=PEOPLE, mechanism=coins, level=0.9999
        )
        print(f"{known.label}: n={PEOPLE} k={yes} [{interval.low:.4f}, {interval.high:.4f}]")
        assert interval.low <= known.share <= interval.high


def assert_closed_at_the_cap(world: World) -> None:
    assert world.query("SELECT state, ending FROM surveys_wave") == [("closed", "cap")]
    methods = {q["interval"]["method"] for q in world.final_snapshot()["estimates"]}
    assert methods == {"likelihood_ratio"}


def assert_exports_reproduce_the_estimates(world: World) -> None:
    (slug,) = world.query("SELECT slug FROM surveys_survey")[0]
    with world.signed_in() as client:
        reports_csv = client.get(f"/surveys/{slug}/results/reports.csv").text
        estimates_csv = client.get(f"/surveys/{slug}/results/estimates.csv").text
        api_csv = client.get(f"/api/surveys/{slug}/reports.csv").text
    assert api_csv == reports_csv

    # Ten lines of plain Python: from randomized codes to estimates.
    reports = list(csv.DictReader(io.StringIO(reports_csv, newline="")))
    n = len(reports)
    computed = {}
    for name in reports[0]:
        reported_yes = sum(int(report[name]) for report in reports)
        computed[name] = 2 * reported_yes / n - 1 / 2

    assert n == PEOPLE
    published = {
        row["question"]: float(row["estimate"])
        for row in csv.DictReader(io.StringIO(estimates_csv, newline=""))
        if row["code"] == "1"
    }
    assert computed == pytest.approx(published, abs=1e-12)
    rows = Counter(bytes(int(code) for code in report.values()) for report in reports)
    assert rows == Counter(world.sent())


def assert_the_dashboard_shows_it(world: World) -> None:
    (slug,) = world.query("SELECT slug FROM surveys_survey")[0]
    with world.signed_in() as client:
        page = client.get(f"/surveys/{slug}/results")
        svg = client.get(f"/surveys/{slug}/results/chart.svg")
        png = client.get(f"/surveys/{slug}/results/chart.png")
    assert page.status_code == 200
    assert "6,366" in page.text
    for known in DEMO_TRUTH:
        assert re.search(rf"{known.share * 100:.1f}\s*%", page.text), known.label
    assert svg.text.lstrip().startswith("<svg")
    assert png.content.startswith(b"\x89PNG")
