"""The ledger of a wave, as a page and as a file."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from aggregator.models import Release, ReleaseLedger
from aggregator.releases.ledger import Sums, reserve_release
from aggregator.views.publishing.ledger import list_sums
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from tests.support.factories import make_launched_survey
from tests.support.fielding import sign_in
from tests.support.reading import words_of
from tests.support.waves import make_released_wave

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ADDED_UP = "The sum of all ε. It also holds for releases that you choose one after another."


def reserve(wave: Wave, question: str, epsilon: int) -> Release:
    request = ReleaseRequest(
        kind=ReleaseKind.TABLE, questions=(question,), epsilon_hundredths=epsilon
    )
    return reserve_release(wave=wave, request=request)


def read(wave: Wave) -> str:
    return words_of(sign_in(wave.survey.owner).get(f"/surveys/{wave.survey.slug}/releases/ledger"))


def read_file(wave: Wave) -> list[dict[str, str]]:
    address = f"/surveys/{wave.survey.slug}/releases/ledger.csv"
    response = sign_in(wave.survey.owner).get(address)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].endswith('_ledger.csv"')
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_an_empty_ledger_says_so() -> None:
    wave = make_released_wave()
    assert "ε spent: 0.00 of 1.00" in read(wave)
    assert "Nothing has been released." in read(wave)
    assert read_file(wave) == []


def test_the_ledger_lists_every_release_and_says_which_sum_counts() -> None:
    wave = make_released_wave(release_epsilon_hundredths=200)
    reserve(wave, "q1", 50)
    lost = reserve(wave, "q2", 25)
    Release.objects.filter(pk=lost.pk).update(state=Release.State.LOST)
    page = read(wave)
    assert "ε spent: 0.75 of 2.00" in page
    assert f"Basic this one counts {ADDED_UP} 0.75" in page
    assert "The basic sum counts against the cap" in page
    assert "δ = 10⁻⁶ on top of the factor" in page
    assert (
        "right at most 68 times in 100 (89 times after all future releases), instead of 50." in page
    )
    rows = page.split("For readers from")[1]
    assert rows.index("Table of Q1 Discrete Laplace, scale 2") < rows.index("Table of Q2")
    assert rows.count(" lost ") == 1


def test_a_sum_that_does_not_apply_is_no_number() -> None:
    sums = Sums(basic=10.0, advanced=None, exact=3.2763360551, zcdp=3.9669221887, delta=1e-6)
    assert [(one.name, one.value) for one in list_sums(sums)] == [
        ("Basic", "10.00"),
        ("Advanced", ""),
        ("zCDP", "3.97"),
        ("Exact", "3.28"),
    ]
    assert [one.name for one in list_sums(sums) if one.counts] == ["Basic"]
    assert not any(one.is_larger for one in list_sums(sums))
    large = replace(sums, advanced=12.997)
    assert [one.name for one in list_sums(large) if one.is_larger] == ["Advanced"]


def test_the_basic_sum_is_what_was_spent_to_the_hundredth() -> None:
    wave = make_released_wave(release_epsilon_hundredths=300)
    for place, epsilon in enumerate((100, 10, 20, 1, 5)):
        reserve(wave, f"q{place % 3 + 1}", epsilon)
    assert "ε spent: 1.36 of 3.00" in read(wave)
    assert f"Basic this one counts {ADDED_UP} 1.36" in read(wave)


def test_the_file_has_a_row_for_every_release_with_the_sums_of_all() -> None:
    wave = make_released_wave(release_epsilon_hundredths=200)
    reserve(wave, "q1", 50)
    reserve(wave, "q2", 25)
    rows = read_file(wave)
    assert [row["questions"] for row in rows] == ["question_a", "question_b"]
    assert [row["epsilon"] for row in rows] == ["0.5", "0.25"]
    assert [row["scale"] for row in rows] == ["2", "4"]
    assert {row["state"] for row in rows} == {"reserved"}
    assert {(row["cap"], row["spent"], row["basic_sum"]) for row in rows} == {
        ("2.0", "0.75", "0.75")
    }
    assert {row["suspended"] for row in rows} == {""}


def test_the_file_says_when_the_ledger_is_suspended() -> None:
    wave = make_released_wave()
    reserve(wave, "q1", 50)
    ReleaseLedger.objects.update(suspended="restored", spent_hundredths=100)
    (row,) = read_file(wave)
    assert (row["suspended"], row["spent"]) == ("restored", "1.0")


def test_a_survey_that_is_not_protected_has_no_ledger() -> None:
    wave = make_launched_survey()
    assert "publishes nothing" in read(wave)
    client = sign_in(wave.survey.owner)
    assert client.get(f"/surveys/{wave.survey.slug}/releases/ledger.csv").status_code == 404
