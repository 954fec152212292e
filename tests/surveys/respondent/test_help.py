"""Links on every page for respondents: where to find help, and whom to ask."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from surveys.respondent.client_files import FOLDER, ICON
from tests.support.factories import make_launched_survey

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HELP: dict[str, Any] = {
    "help_name": "Line <Anna>",
    "help_phone": "+49 (0)30 555 / 01",
    "help_url": "https://help.example.org/night",
    "contact": "anna@example.org",
}
LINKS = [
    ("tel:+493055501", "+49 (0)30 555 / 01"),
    ("https://help.example.org/night", "https://help.example.org/night"),
    ("mailto:anna@example.org", "anna@example.org"),
]


def read_footer(wave: Wave, ending: str = "") -> str:
    client = Client(headers={"host": "localhost"})
    text = client.get(f"/s/{wave.survey.slug}{ending}").content.decode()
    [footer] = re.findall(r"<footer>(.*?)</footer>", text, re.DOTALL)
    return str(footer)


def find_links(footer: str) -> list[tuple[str, str]]:
    found = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(?:<bdi>)?([^<]*)<', footer)
    assert footer.count("<a ") == len(found)
    return found


TOLD: dict[str, Any] = {
    "notice_url": "https://example.org/privacy",
    "approval": "EK <2026>/114",
    "delete_on": date(2031, 3, 31),
}
NOTICE = '<a href="https://example.org/privacy" target="_blank">'


@pytest.mark.parametrize("ending", ["", "/page.html", "/coins", "/paper"])
def test_who_asks_and_until_when_stands_with_the_protection(ending: str) -> None:
    wave = make_launched_survey(coins=True, **TOLD)
    client = Client(headers={"host": "localhost"})
    text = client.get(f"/s/{wave.survey.slug}{ending}").content.decode()
    assert text.count(f"{NOTICE}Privacy notice</a>") == 1
    assert "Approval: <bdi>EK &lt;2026&gt;/114</bdi>" in text
    assert "All codes are deleted on 31 March 2031, except in older copies." in text


@pytest.mark.parametrize(
    ("language", "day"),
    [
        ("es", "31 de marzo de 2031"),
        ("fr", "31 mars 2031"),
        ("de", "31. März 2031"),
        ("ar", "31 مارس 2031"),
        ("zh-hans", "2031年3月31日"),
    ],
)
def test_it_is_told_in_every_language_and_each_line_only_if_it_was_filled_in(
    language: str, day: str
) -> None:
    manifest = make_launched_survey(language=language, **TOLD).description
    with override(language):
        whole = render_to_string("surveys/respondent/_respond_study.html", {"manifest": manifest})
        for name in TOLD:
            left_out: dict[str, Any] = {name: None}
            less = replace(manifest, **left_out)
            text = render_to_string("surveys/respondent/_respond_study.html", {"manifest": less})
            assert len(text) < len(whole)
        nothing = replace(manifest, notice_url="", approval="", delete_on=None)
        assert not render_to_string(
            "surveys/respondent/_respond_study.html", {"manifest": nothing}
        ).strip()
    assert day in whole
    assert not {"Privacy notice", "Approval:"} & set(re.split("[<>]", whole))


@pytest.mark.parametrize("ending", ["/coins/sent", "/send/sent"])
def test_thanks_without_scripts_come_with_help(ending: str) -> None:
    wave = make_launched_survey(coins=True, **HELP)
    client = Client(headers={"host": "localhost"})
    text = client.get(f"/s/{wave.survey.slug}{ending}").content.decode()
    [card] = re.findall(r'<section class="label over">(.*?)</section>', text, re.DOTALL)
    assert find_links(card) == LINKS[:2]


@pytest.mark.parametrize(
    "ending", ["", "/check", "/page.html", "/coins", "/coins/sent", "/send", "/paper"]
)
def test_every_page_names_help_and_whom_to_ask_as_links(ending: str) -> None:
    footer = read_footer(make_launched_survey(coins=True, **HELP), ending)
    assert find_links(footer) == LINKS
    assert "Line &lt;Anna&gt;" in footer
    # Following a link loses no answers.
    for kind in ("https:", "mailto:"):
        assert re.search(rf'<a [^>]*href="{kind}[^>]* target="_blank" rel="noreferrer"', footer)
    sentence = "This opens in a new tab and stays in the browser’s history."
    assert (sentence in footer) == (ending != "/paper")


def test_pages_on_which_nothing_can_be_answered_name_it_too() -> None:
    early = make_launched_survey(opens_at=timezone.now() + timedelta(days=1), **HELP)
    assert find_links(read_footer(early)) == LINKS
    closed = make_launched_survey(**HELP)
    close_wave(wave_id=closed.pk, ending=Wave.Ending.OWNER)
    assert find_links(read_footer(closed)) == LINKS


def test_a_survey_that_names_none_has_none() -> None:
    footer = read_footer(make_launched_survey())
    assert "help" not in footer
    assert "<a " not in footer


def test_help_may_be_a_name_alone_and_a_contact_may_be_no_address() -> None:
    wave = make_launched_survey(help_name="The nurse in room 3", contact="Anna & Ben, room 4")
    footer = read_footer(wave)
    assert "The nurse in room 3" in footer
    assert "<bdi>Anna &amp; Ben, room 4</bdi>" in footer
    assert "<a " not in footer


def test_the_icon_is_the_flock_of_the_wordmark() -> None:
    wordmark = Path("templates/_wordmark.html").read_text()
    circles = re.compile(r'<circle cx="(\S+)" cy="(\S+)" r="(\S+)"')
    assert len(circles.findall(wordmark)) == 9
    assert circles.findall((FOLDER / ICON).read_text()) == circles.findall(wordmark)
