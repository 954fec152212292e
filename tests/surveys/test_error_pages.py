"""Error pages for failed requests must work even if nothing else does."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string
from django.test import Client

PAGES = ("400", "403", "403_csrf", "404", "429", "500", "503")


@pytest.mark.parametrize("name", PAGES)
def test_an_error_page_needs_neither_request_nor_database_nor_manifest(name: str) -> None:
    page = render_to_string(f"{name}.html")  # the test has no database mark, so a query would fail
    assert page.count("<h1") == 1
    assert 'href="/static/surveys/murmur.css"' in page
    assert "<title>" in page
    assert "Hear the crowd, never the person." in page


def test_the_error_pages_say_what_happened_to_the_work() -> None:
    assert "Nothing was changed." in render_to_string("403_csrf.html")
    assert "Nothing was" in render_to_string("503.html")
    assert "may not have been saved" in render_to_string("500.html")


@pytest.mark.django_db
def test_a_page_that_does_not_exist_has_a_way_back(client: Client) -> None:
    answer = client.get("/surveys/nothing/at/all")
    assert answer.status_code == 404
    assert 'href="/"' in answer.text


def test_an_address_of_another_host_is_refused_with_an_explanation(client: Client) -> None:
    answer = client.get("/", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert "could not be read" in answer.text
