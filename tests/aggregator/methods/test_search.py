"""The search of the methods: its results, their order and its messages."""

from __future__ import annotations

import pytest
from django.test import Client

from aggregator.methods.search import LONGEST_QUERY, search


def titles(query: str) -> list[str]:
    return [result.entry.title for result in search(query)]


def test_a_section_with_the_words_in_its_title_comes_first() -> None:
    assert titles("standard error")[0] == "Standard error"
    assert titles("error STANDARD")[0] == "Standard error"
    assert "Multiplicity" in titles("holm")


def test_more_occurrences_come_before_fewer() -> None:
    found = search("clopper")
    counts = [result.entry.text.casefold().count("clopper") for result in found]
    assert len(counts) > 2
    assert counts == sorted(counts, reverse=True)


def test_every_word_must_occur() -> None:
    both, one = titles("holm pairs"), titles("pairs")
    assert both
    assert set(both) < set(one)


@pytest.mark.parametrize(
    ("question", "words", "answer"),
    [
        ("Why is Gaussian noise used?", "gaussian noise", "Which noise"),
        ("what is not promised", "promised", "What releases do not promise"),
        ("How is the standard error computed", "standard error computed", "Standard error"),
        ("alarm, for my survey", "alarm survey", "Contradiction and alarm"),
    ],
)
def test_words_of_questions_are_ignored(question: str, words: str, answer: str) -> None:
    assert titles(question) == titles(words) != []
    assert answer in titles(question)[:3]


def test_words_of_questions_are_searched_for_if_there_are_no_others() -> None:
    found = titles("is not")
    assert "What releases do not promise" in found
    assert all(
        {"is", "not"} & {piece.text.casefold() for piece in one.snippet} for one in search("is not")
    )


def test_a_snippet_shows_a_place_where_the_words_stand_together() -> None:
    [found] = [one for one in search("gaussian noise") if one.entry.title == "Protected table"]
    marked = {piece.text.casefold() for piece in found.snippet if piece.is_match}
    assert marked == {"gaussian", "noise"}


def test_terms_of_the_glossary_are_found() -> None:
    term = next(each for each in search("sealing") if each.entry.title == "sealing")
    assert term.entry.url == "/methods/glossary#term-sealing"
    assert term.entry.chapter == "Glossary"


def test_a_snippet_shows_the_word_where_it_occurs() -> None:
    for result in search("bisection"):
        marked = [piece.text.casefold() for piece in result.snippet if piece.is_match]
        assert marked == ["bisection"] * len(marked) != []
        assert len("".join(piece.text for piece in result.snippet)) < 300


@pytest.mark.parametrize("query", ["xyzzy", "reports zebra", "*)(?", "<script>", "\x00"])
def test_nothing_is_found_without_an_error(query: str) -> None:
    assert search(query) == []


@pytest.mark.usefixtures("static_files")
def test_the_page_shows_results_and_links_to_sections() -> None:
    html = Client().get("/methods", {"q": "  standard   error "}).content.decode()
    assert 'value="standard error"' in html
    assert 'href="/methods/one-question#standard-error"' in html
    assert "<mark>" in html


@pytest.mark.usefixtures("static_files")
def test_an_empty_result_says_so_and_offers_other_ways() -> None:
    html = Client().get("/methods", {"q": "<b>xyzzy"}).content.decode()
    assert "Nothing found for “&lt;b&gt;xyzzy”" in html
    assert 'href="/methods/glossary"' in html
    assert "<b>xyzzy" not in html


@pytest.mark.usefixtures("static_files")
def test_an_empty_query_shows_the_contents() -> None:
    html = Client().get("/methods", {"q": "  "}).content.decode()
    assert "Nothing found" not in html
    assert 'href="/methods/intervals"' in html


@pytest.mark.usefixtures("static_files")
def test_a_long_query_is_cut() -> None:
    html = Client().get("/methods", {"q": "a" * 5000}).content.decode()
    assert f'value="{"a" * LONGEST_QUERY}"' in html
