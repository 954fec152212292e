"""A rehearsal cannot be mistaken for a survey: pages, pictures, files and the API identify it."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.urls import reverse

from aggregator.models import Comparison
from aggregator.simulation.rehearsal import open_rehearsal
from surveys.models import Survey
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey
from tests.support.fielding import field, process, send_codes, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
MARK = "Rehearsal: invented answers."
NOTICE = 'id="rehearsal"'


@pytest.fixture
def rehearsal() -> Survey:
    """Make a rehearsal that has results for both modes, browser and coins."""
    wave = open_rehearsal(survey=make_survey(coins=True), people=200)
    send_codes(wave.survey.waves.manual().get(), yes=[80, 100], total=200)
    survey = field(wave, yes=[80, 100], total=200)
    process(survey.waves.manual().get())
    compute(ask(wave, Comparison.Kind.TABLE, "q1", "q2"))
    return survey


def get(survey: Survey, name: str, **names: Any) -> Any:
    address = reverse(f"aggregator:{name}", kwargs={"slug": survey.slug, **names})
    return sign_in(survey.owner).get(address)


def read_rows(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 200
    content = b"".join(response) if response.streaming else response.content
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def list_comparison_names(survey: Survey) -> dict[str, int]:
    return {"pk": survey.waves.electronic().get().comparisons.get().pk}


def test_every_page_of_results_says_so_at_the_top(rehearsal: Survey) -> None:
    one = list_comparison_names(rehearsal)
    for name, names in (
        ("results", {}), ("coin_results", {}), ("mode_comparison", {}), ("compare", {}),
        ("comparison", one), ("report", {}),
    ):  # fmt: skip
        page = get(rehearsal, name, **names).content.decode()
        assert page.count(NOTICE) == 1, name
        first = re.search("<section|<article", page)
        assert first, name
        assert page.index("<h1") < page.index(NOTICE) < first.start(), name
        assert MARK in text_of(get(rehearsal, name, **names))


def test_lists_and_tags_name_it(rehearsal: Survey) -> None:
    client = sign_in(rehearsal.owner)
    tag = '<span class="tag">Rehearsal</span>'
    for address in ("/", f"/surveys/{rehearsal.slug}/", f"/surveys/{rehearsal.slug}/results"):
        assert client.get(address).content.decode().count(tag) == 1, address
    Survey.objects.update(rehearsal=False)
    for address in ("/", f"/surveys/{rehearsal.slug}/", f"/surveys/{rehearsal.slug}/results"):
        page = client.get(address).content.decode()
        assert tag not in page
        assert NOTICE not in page


def test_every_row_of_every_file_says_so(rehearsal: Survey) -> None:
    one = list_comparison_names(rehearsal)
    files = {
        "estimates_csv": {}, "reports_csv": {}, "coin_estimates_csv": {},
        "mode_comparison_csv": {}, "comparison_csv": one,
    }  # fmt: skip
    for origin, marks in (
        ("rehearsal", {"rehearsal": True}),
        ("demo", {"rehearsal": False, "demo": True}),
        ("survey", {"rehearsal": False, "demo": False}),
    ):
        Survey.objects.filter(pk=rehearsal.pk).update(**marks)
        for name, names in files.items():
            response = get(rehearsal, name, **names)
            assert {row["data"] for row in read_rows(response)} == {origin}, name
            is_named = "_rehearsal_" in response["Content-Disposition"]
            assert is_named is (origin == "rehearsal"), name
        first = read_rows(get(rehearsal, "codebook_csv"))[0]
        assert (first["column"], first["code"]) == ("data", origin)


def test_the_api_says_so(rehearsal: Survey) -> None:
    assert get(rehearsal, "api_survey").json()["rehearsal"] is True
    assert get(rehearsal, "api_results").json()["rehearsal"] is True
    Survey.objects.update(rehearsal=False)
    assert get(rehearsal, "api_survey").json()["rehearsal"] is False
    assert get(rehearsal, "api_results").json()["rehearsal"] is False


def test_its_owner_deletes_a_rehearsal_from_its_page(rehearsal: Survey) -> None:
    client = sign_in(rehearsal.owner)
    address = reverse("aggregator:delete", args=[rehearsal.slug])
    assert f'href="{address}"' in client.get(f"/surveys/{rehearsal.slug}/").content.decode()
    assert client.post(address, {"title": rehearsal.title}).status_code == 302
    assert not Survey.objects.filter(pk=rehearsal.pk).exists()
    assert Survey.objects.count() == 1  # the rehearsed draft is still there
