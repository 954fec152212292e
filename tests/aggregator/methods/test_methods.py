"""The methods say how every figure is computed, and every link to them works."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.methods.document import list_anchors, list_chapters, list_names
from aggregator.results.sentences import ANCHORS, EARLIER, INTERVALS
from aggregator.templatetags import methods
from aggregator.templatetags.methods import method_url
from privacy.shares.intervals import METHODS
from scripts.documentation import methods_tables
from scripts.stack.stack import ROOT

FILES = sorted((ROOT / "docs" / "methods").glob("*.md"))
TEXT = "".join(path.read_text(encoding="utf-8") for path in FILES)
CHAPTERS = list_chapters()
address_of_contents = methods.address_of_contents  # before tests/conftest.py replaces it
HTML = {
    chapter.name: "".join(section.html for section in (chapter.lead, *chapter.sections))
    for chapter in CHAPTERS
}


def test_the_index_lists_every_file_once() -> None:
    files = {path.stem for path in FILES} - {"README"}
    names = [chapter.name for chapter in CHAPTERS]
    assert len(names) == len(set(names))
    assert set(names) == files | {"glossary"}
    assert all(chapter.about for chapter in CHAPTERS)


def test_every_heading_appears_once_in_all_chapters() -> None:
    sections = [each for chapter in CHAPTERS for each in (chapter.lead, *chapter.sections)]
    anchors = [section.anchor for section in sections]
    assert len(anchors) == len(set(anchors)) > 60
    # The same anchors are found without rendering.
    assert list_anchors() == {section.anchor: section.chapter for section in sections}


def test_every_link_from_a_page_leads_to_a_method() -> None:
    found = set()
    for template in (ROOT / "templates").rglob("*.html"):
        found |= set(re.findall(r"method_url [\"']([^\"']+)[\"'] %}", template.read_text()))
    assert len(found) > 10
    assert found <= set(list_anchors())
    named = set()
    for package in ("aggregator", "surveys"):
        for module in (ROOT / package).rglob("*.py"):
            named |= set(re.findall(r'anchor="([a-z-]+)"', module.read_text()))
    named -= {"start", "middle", "end"}  # these anchor text in charts
    assert len(named) > 3
    assert named <= set(list_anchors())


def test_a_link_names_the_chapter_of_its_section() -> None:
    assert method_url("standard-error") == "/methods/one-question#standard-error"
    assert method_url("peeking") == "/methods/peeking#peeking"
    # For readers, a wrong anchor leads to the contents; in tests, tests/conftest.py makes it an
    # error.
    assert address_of_contents("no-such-section") == "/methods"
    with pytest.raises(AssertionError, match="no-such-section"):
        method_url("no-such-section")


def test_every_kind_of_interval_has_a_section() -> None:
    conditional = {"likelihood_ratio_conditional", "likelihood_ratio_joint"}
    others = {"likelihood_ratio_mean", "exact"}
    assert set(ANCHORS) == {*METHODS, *conditional, *others, EARLIER}
    assert set(ANCHORS.values()) <= set(list_anchors())
    assert set(ANCHORS.values()) == set(INTERVALS)
    assert len(set(INTERVALS.values())) == len(INTERVALS)
    assert all(f"`{method}`" in TEXT for method in ANCHORS)


@pytest.mark.parametrize("name", list_names())
def test_links_between_chapters_work(name: str) -> None:
    for link in re.findall(r'href="([^"]+)"', HTML[name]):
        page, _, anchor = link.partition("#")
        if link.startswith("https://"):
            continue
        chapter = page.removeprefix("/methods/") if page else name
        if page != reverse("aggregator:methods"):
            assert chapter in list_names(), link
        if anchor:
            assert list_anchors()[anchor] == chapter, link


def test_every_function_that_the_methods_name_exists() -> None:
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


@pytest.mark.parametrize("name", list_names())
@pytest.mark.usefixtures("static_files")
def test_a_chapter_has_one_title_its_pictures_and_no_foreign_code(name: str) -> None:
    client = Client()
    response = client.get(f"/methods/{name}")
    html = response.content.decode()
    assert response.status_code == 200
    assert html.count("<h1") == 1
    assert "<!--" not in HTML[name]
    assert "style=" not in HTML[name]
    for picture in re.findall(r'src="([^"]+\.svg)"', HTML[name]):
        found = client.get(picture)
        assert found["Content-Type"] == "image/svg+xml"
        assert found.content.startswith(b"<svg")


def test_two_chapters_have_a_picture() -> None:
    assert sum("<img" in html for html in HTML.values()) == 2


@pytest.mark.usefixtures("static_files")
def test_the_contents_list_every_section_with_the_id_that_old_links_have() -> None:
    html = Client().get("/methods").content.decode()
    for chapter in CHAPTERS:
        for section in (chapter.lead, *chapter.sections):
            assert html.count(f'id="{section.anchor}"') == 1
            assert f'href="/methods/{chapter.name}' in html


@pytest.mark.usefixtures("static_files")
def test_a_section_is_served_alone() -> None:
    response = Client().get("/methods/paragraph/standard-error")
    html = response.content.decode()
    assert response.status_code == 200
    assert "Standard error" in html
    assert "Displayed share" not in html
    assert 'href="/methods/one-question#standard-error"' in html


@pytest.mark.parametrize("page", ["/methods/no-such-chapter", "/methods/paragraph/no-such-section"])
@pytest.mark.usefixtures("static_files")
def test_what_does_not_exist_is_not_found(page: str) -> None:
    assert Client().get(page).status_code == 404


@pytest.mark.parametrize("name", ["nothing.svg", "..%2FREADME.md", "README.md", "a.png"])
@pytest.mark.usefixtures("static_files")
def test_no_other_files_in_the_folder_are_served(name: str) -> None:
    assert Client().get(f"/methods/figures/{name}").status_code == 404
