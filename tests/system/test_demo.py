"""The demo with real processes: 6,366 reports are sent, and results are estimated and exported."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

import pytest

from privacy.associations.tables import Variable
from privacy.associations.two_questions import associate
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import likelihood_ratio
from scripts.stack.world import World

PEOPLE = 6366
YES = {"affair": 2053, "unhappy": 1440, "religious": 3078, "children": 3952}  # as published


# As in scripts/run, this demo runs with SQLite; the other demo survey runs with PostgreSQL
# (test_every_type.py).
@pytest.mark.long
@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_the_demo_works_from_the_first_report_to_the_csv(world: World) -> None:
    demo = world.start_demo()
    while demo.poll() is None:
        world.wait_for(lambda _: True)  # every tally checks that acknowledged = raw + sealed
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
    assert_affair_by_unhappiness_is_found(world)


def assert_true_shares_are_inside(world: World) -> None:
    coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
    counts = world.final_snapshot()["counts"]
    for (_, yes), (label, known) in zip(counts, YES.items(), strict=True):
        interval = likelihood_ratio(
            successes=yes,
            total=PEOPLE,
            other_probability=coins.other_probability,
            slope=coins.slope,
            level=0.9999,
        )
        print(f"{label}: n={PEOPLE} k={yes} [{interval.low:.4f}, {interval.high:.4f}]")
        assert interval.low <= known / PEOPLE <= interval.high


def assert_affair_by_unhappiness_is_found(world: World) -> None:
    """Request the published table of two questions on the page; the workers compute it.

    The published counts are 3,715 for neither, 598 for unhappy only, 1,211 for affair only, and 842
    for both.
    """
    (slug,) = world.query("SELECT slug FROM surveys_survey")[0]
    with world.signed_in() as client:
        form = client.get(f"/surveys/{slug}/compare").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token is not None
        asked = client.post(
            f"/surveys/{slug}/compare",
            data={
                "csrfmiddlewaretoken": token[1],
                "kind": "table",
                "outcome": "q1",
                "group": "q2",
            },
            headers={"referer": f"{client.base_url}/surveys/{slug}/compare"},
        )
        assert asked.status_code == 302, asked.text
        address = asked.headers["location"]
        world.wait_for(lambda _: client.get(f"{address}/panel").status_code == 286)
        page = client.get(address).text
        table = csv.DictReader(io.StringIO(client.get(f"{address}.csv").text, newline=""))
    assert "nobody who saw results sent reports" in " ".join(page.split())  # its cap ended it
    counts = [[0, 0], [0, 0]]
    for row in table:
        assert (row["n"], row["standing"]) == (str(PEOPLE), "fixed_end")
        if (row["section"], row["quantity"]) == ("cells", "count"):
            outcome, group = map(int, row["row"].split(";"))
            counts[outcome][group] = int(row["value"])
    assert sum(map(sum, counts)) == PEOPLE
    coins = Variable.plain(RandomizedResponse(symbols=2, threshold=3 * 2**30))
    found = associate(
        counts=counts, variables=[coins, coins], event=1, first=1, second=0, level=0.9999
    )
    truth = {
        "share_first": 842 / 1440,
        "share_second": 1211 / 4926,
        "difference": 842 / 1440 - 1211 / 4926,  # .339
        "odds_ratio": 3715 * 842 / (598 * 1211),  # 4.32
    }
    for name, value in truth.items():
        figure = getattr(found, name)
        print(f"{name}: {value:.4f} [{figure.low:.4f}, {figure.high:.4f}]")
        assert figure.low <= value <= figure.high, name


def assert_closed_at_the_cap(world: World) -> None:
    assert world.query("SELECT state, ending FROM surveys_wave") == [("closed", "cap")]
    methods = {
        estimate["intervals"]["main"]["method"]
        for question in world.final_snapshot()["estimates"]
        for estimate in question["estimates"]
    }
    assert methods == {"likelihood_ratio"}


def assert_exports_reproduce_the_estimates(world: World) -> None:
    (slug,) = world.query("SELECT slug FROM surveys_survey")[0]
    with world.signed_in() as client:
        reports_csv = client.get(f"/surveys/{slug}/results/reports.csv").text
        estimates_csv = client.get(f"/surveys/{slug}/results/estimates.csv").text
        api_csv = client.get(f"/api/surveys/{slug}/reports.csv").text
    assert api_csv == reports_csv

    # Ten lines of plain Python compute the estimates from the randomized codes.
    reports = list(csv.DictReader(io.StringIO(reports_csv, newline="")))
    n = len(reports)
    assert {report.pop("data") for report in reports} == {"demo"}
    computed = {}
    for name in reports[0]:
        reported_yes = sum(int(report[name]) for report in reports)
        computed[name.removesuffix("_rnd")] = 2 * reported_yes / n - 1 / 2

    assert n == PEOPLE
    published = {
        row["question"]: float(row["estimate"])
        for row in csv.DictReader(io.StringIO(estimates_csv, newline=""))
        if row["estimand"] == "1"
    }
    assert computed == pytest.approx(published, abs=1e-12)
    rows = Counter(bytes(int(code) for code in report.values()) for report in reports)
    assert rows == Counter(world.sent())


def assert_the_dashboard_shows_it(world: World) -> None:
    (slug,) = world.query("SELECT slug FROM surveys_survey")[0]
    with world.signed_in() as client:
        page = client.get(f"/surveys/{slug}/results")
        address = f"/surveys/{slug}/files/chart.180mm.pdf"
        assert client.get(address).status_code == 202
        world.wait_for(lambda _: client.get(address).status_code == 200)
        assert client.get(address).content.startswith(b"%PDF")
    assert page.status_code == 200
    assert "6,366" in page.text
    for label, known in YES.items():
        assert re.search(rf"{known / PEOPLE * 100:.0f}\s*%", page.text), label
