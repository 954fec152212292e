"""The methods page says how every figure is computed, and every link to it works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from aggregator.results.sentences import ANCHORS
from aggregator.views.methods_document import render_methods
from privacy.shares.intervals import METHODS
from scripts.documentation import methods_tables

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")


def anchors() -> set[str]:
    return set(re.findall(r'<h[2-4] id="([^"]+)"', render_methods()))


def test_every_heading_appears_once() -> None:
    headings = re.findall(r'<h[2-4] id="([^"]+)"', render_methods())
    assert len(headings) == len(set(headings))
    assert not any(re.search(r"-\d+$", heading) for heading in headings)


def test_every_link_from_a_page_leads_to_a_method() -> None:
    found = set()
    for template in (ROOT / "templates").rglob("*.html"):
        found |= set(re.findall(r"method_url '([a-z-]+)' %}\"", template.read_text()))
    assert len(found) > 10
    assert found <= anchors()
    named = set()
    for module in (ROOT / "aggregator").rglob("*.py"):
        named |= set(re.findall(r'anchor="([a-z-]+)"', module.read_text()))
    named.discard("start")  # where the chart's title begins
    assert len(named) > 3
    assert named <= anchors()


def test_every_kind_of_interval_has_a_section() -> None:
    conditional = {"likelihood_ratio_conditional", "likelihood_ratio_joint"}
    sequences = {"betting_sequence_share", "betting_sequence_mean"}
    others = {"likelihood_ratio_mean", "exact"}
    assert set(ANCHORS) == {*METHODS, *conditional, *sequences, *others}
    assert set(ANCHORS.values()) <= anchors()
    assert all(f"`{method}`" in TEXT for method in ANCHORS)


def test_links_within_the_page_work() -> None:
    assert set(re.findall(r'href="#([^"]+)"', render_methods())) <= anchors()


def test_every_function_that_the_page_names_exists() -> None:
    names = set(re.findall(r"`(privacy\.[a-z_]+\.[a-z_]+\.[A-Za-z_]+)`", TEXT))
    assert len(names) > 40
    for name in names:
        module, _, function = name.rpartition(".")
        assert hasattr(__import__(module, fromlist=[function]), function), name


def test_the_coverage_table_matches_what_the_code_computes() -> None:
    assert methods_tables.write_coverage_table(methods_tables.compute_coverage()) in TEXT


def test_the_other_tables_are_filled_in() -> None:
    for name in ("peeking", "regression"):
        table = re.search(
            f"<!-- {name} table: begin -->(.*?)<!-- {name} table: end -->", TEXT, re.S
        )
        assert table is not None
        assert table[1].count("|") > 20


def test_the_guaranteed_and_the_chosen_intervals_reach_their_coverage() -> None:
    for row in methods_tables.compute_coverage():
        assert row.clopper_pearson >= 0.95
        assert row.of_chosen >= 0.93


@pytest.mark.usefixtures("static_files")
def test_the_page_has_its_pictures_and_no_foreign_code() -> None:
    client = Client()
    response = client.get("/methods")
    html = response.content.decode()
    assert response.status_code == 200
    assert html.count("<h1") == 1
    assert "<!--" not in render_methods()
    assert "style=" not in render_methods()
    pictures = re.findall(r'src="(/methods/figures/[^"]+)"', html)
    assert len(pictures) == 2
    for picture in pictures:
        found = client.get(picture)
        assert found["Content-Type"] == "image/svg+xml"
        assert found.content.startswith(b"<svg")


@pytest.mark.parametrize("name", ["nothing.svg", "..%2Fmethods.md", "methods.md", "a.png"])
@pytest.mark.usefixtures("static_files")
def test_no_other_files_in_the_folder_are_served(name: str) -> None:
    assert Client().get(f"/methods/figures/{name}").status_code == 404
