"""How a survey reaches people: links, QR codes with the right address, and a poster."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ET
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
import segno
from django.test import Client
from django.urls import reverse
from django.utils.translation import gettext, override
from pytest_django.fixtures import Settings

from accounts.models import User
from config.headers import headers_for
from surveys.authoring.drafts import build_manifest
from surveys.authoring.qr_codes import QUIET_ZONE, SCALE, draw_png, draw_svg
from surveys.authoring.services import add_question, save_translation
from surveys.lifecycle.reach import find_local_host
from surveys.lifecycle.services import close_wave
from surveys.manifest.languages import list_texts
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.fielding import at
from tests.support.label import FORBIDDEN, LONGEST_SENTENCE

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
PUBLIC = "https://murmur.example"
LINK = "https://murmur.example/s/abcdefghijkm"
CLOSES = datetime(2097, 3, 31, 18, 0, tzinfo=UTC)
POSTER_WORDS = (
    "This is a survey that you answer on your own phone.",
    "Your phone scrambles your answers at random before anything is sent.",
    "The results show the share for everyone together, never one person’s answer.",
    "Scan the code to answer",
)


@pytest.fixture
def wave(owner: User) -> Wave:
    """Make a survey in three languages, with a fixed end and strong overall protection."""
    survey = make_survey(owner=owner, introduction="We ask everybody.", closes_at=CLOSES, flips=40)
    for language, mark in (("fr", "fr"), ("ar", "ع")):
        texts = list_texts(build_manifest(survey=survey, wave_number=1))
        words = {source.text: f"{mark} {source.text}" for source in texts}
        save_translation(survey=survey, language=language, texts=words)
    return open_survey(survey=survey)


@pytest.fixture(autouse=True)
def public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.conf.settings.PUBLIC_URL", PUBLIC)


def link_to(survey: Survey, language: str = "") -> str:
    return f"{PUBLIC}/s/{survey.slug}" + (f"/{language}" if language else "")


def modules_of(link: str) -> list[list[int]]:
    code = segno.make(link, error="m", boost_error=False, micro=False)
    return [[int(dark) for dark in row] for row in code.matrix]


def read_png(content: bytes) -> list[list[int]]:
    """Return one value for each module, without the quiet zone; 1 means dark."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, colour = struct.unpack(">IIBB", content[16:26])
    assert (depth, colour) == (1, 0)
    data, place = b"", 8
    while place < len(content):
        (size,) = struct.unpack(">I", content[place : place + 4])
        if content[place + 4 : place + 8] == b"IDAT":
            data += content[place + 8 : place + 8 + size]
        place += 12 + size
    raw, stride = zlib.decompress(data), (width + 7) // 8 + 1
    rows = [raw[y * stride : (y + 1) * stride] for y in range(height)]
    assert {row[0] for row in rows} <= {0, 2}
    plain: list[bytes] = []
    for row in rows:  # filter 2 adds the row above
        above = plain[-1] if row[0] == 2 else bytes(stride - 1)
        plain.append(bytes((a + b) % 256 for a, b in zip(row[1:], above, strict=True)))
    pixels = [[1 - (row[x // 8] >> (7 - x % 8) & 1) for x in range(width)] for row in plain]
    edge = QUIET_ZONE * SCALE
    assert not any(map(any, pixels[:edge]))
    middle = slice(edge + SCALE // 2, -edge, SCALE)
    return [row[middle] for row in pixels[middle]]


def test_the_png_encodes_the_link() -> None:
    assert read_png(draw_png(LINK)) == modules_of(LINK)
    assert read_png(draw_png(LINK)) != modules_of(f"{LINK}/fr")


def test_the_svg_encodes_the_link_without_inline_styles() -> None:
    content = draw_svg(LINK)
    root = ET.fromstring(content)
    size = len(modules_of(LINK)) + 2 * QUIET_ZONE
    assert root.attrib == {"viewBox": f"0 0 {size} {size}"}
    assert b"style" not in content
    assert root[0].text == LINK
    assert read_svg(root) == modules_of(LINK)


def read_svg(root: ET.Element) -> list[list[int]]:
    """Follow the one path of horizontal strokes, each a module high."""
    size = int(root.attrib["viewBox"].split()[2])
    pixels = [[0] * size for _ in range(size)]
    x = y = 0.0
    for step, numbers in re.findall(r"([Mmh])([^Mmh]*)", root[-1].attrib["d"]):
        values = [float(number) for number in re.findall(r"-?\d*\.?\d+", numbers)]
        if step == "h":
            for module in range(int(values[0])):
                pixels[int(y)][int(x) + module] = 1
            x += values[0]
        else:
            x, y = values if step == "M" else (x + values[0], y + values[1])
    inside = slice(QUIET_ZONE, size - QUIET_ZONE)
    return [row[inside] for row in pixels[inside]]


@pytest.mark.parametrize("language", ["", "fr", "en"])
def test_codes_are_downloaded_for_each_language(author: Client, wave: Wave, language: str) -> None:
    query = f"?lang={language}" if language else ""
    png = author.get(at("share_qr_png", wave.survey) + query)
    assert png["Content-Type"] == "image/png"
    assert read_png(png.content) == modules_of(link_to(wave.survey, language))
    svg = author.get(at("share_qr_svg", wave.survey) + query)
    assert svg["Content-Type"] == "image/svg+xml"
    assert svg.content == draw_svg(link_to(wave.survey, language))
    name = f"{wave.survey.slug}{'_' if language else ''}{language}_qr.svg"
    assert svg["Content-Disposition"] == f'inline; filename="{name}"'


@pytest.mark.parametrize("name", ["share_qr_svg", "share_qr_png", "poster"])
def test_languages_that_the_survey_lacks_are_not_found(
    author: Client, wave: Wave, name: str
) -> None:
    for language in ("de", "tlh", "<script>"):
        assert author.get(at(name, wave.survey), {"lang": language}).status_code == 404


def test_the_page_has_every_link(author: Client, wave: Wave) -> None:
    page = author.get(at("share", wave.survey)).text
    for language in ("", "en", "fr", "ar"):
        link = link_to(wave.survey, language)
        assert f'data-copy="{link}"' in page
        query = f"?lang={language}" if language else ""
        for name in ("poster", "share_qr_svg", "share_qr_png"):
            assert f'href="{at(name, wave.survey)}{query}"' in page
    assert f'src="{at("share_qr_svg", wave.survey)}"' in page
    assert author.get(link_to(wave.survey, "fr")).status_code == 200


def test_one_language_needs_one_link(author: Client, owner: User) -> None:
    wave = make_launched_survey(owner=owner)
    page = author.get(at("share", wave.survey)).text
    assert page.count("data-copy=") == 1
    assert "?lang=" not in page


@pytest.mark.parametrize("languages", [[], ["ar", "fr"]])
def test_two_coins_are_shared_too(author: Client, owner: User, languages: list[str]) -> None:
    survey = make_survey(owner=owner, coins=True)
    for language in languages:
        texts = list_texts(build_manifest(survey=survey, wave_number=1))
        words = {source.text: f"{language} {source.text}" for source in texts}
        save_translation(survey=survey, language=language, texts=words)
    open_survey(survey=survey)
    page = author.get(at("share", survey)).text
    queries = ["", *(f"?lang={language}" for language in languages and ["en", *languages])]
    for name in ("coins", "paper"):
        path = reverse(f"aggregator:{name}", args=[survey.slug])
        assert re.findall(rf'href="{path}([^"]*)"', page) == queries
        assert all(author.get(path + query).status_code == 200 for query in queries)


def test_a_survey_without_coins_does_not_mention_them(author: Client, wave: Wave) -> None:
    assert "coins" not in author.get(at("share", wave.survey)).text


def test_a_draft_cannot_be_shared_yet(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner)
    page = author.get(at("share", survey)).text
    assert "once the survey is open" in page
    assert "data-copy" not in page
    assert author.get(at("poster", survey))["Location"] == at("share", survey)
    assert author.get(at("share_qr_png", survey)).status_code == 404


def test_a_closed_survey_says_so(author: Client, wave: Wave) -> None:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert "cannot answer" in author.get(at("share", wave.survey)).text


def test_the_survey_page_leads_to_the_links_and_the_poster(author: Client, wave: Wave) -> None:
    page = author.get(at("edit", wave.survey)).text
    assert f'href="{at("share", wave.survey)}"' in page
    assert f'href="{at("poster", wave.survey)}"' in page


@pytest.mark.parametrize(
    ("language", "tag", "direction", "title"),
    [
        ("", "en", "ltr", "On the road"),
        ("fr", "fr", "ltr", "fr On the road"),
        ("ar", "ar", "rtl", "ع On the road"),
    ],
)
def test_the_poster_is_in_the_chosen_language(
    author: Client, wave: Wave, language: str, tag: str, direction: str, title: str
) -> None:
    page = author.get(at("poster", wave.survey), {"lang": language}).text
    assert f'<html lang="{tag}" dir="{direction}">' in page
    assert f"<h1>{title}</h1>" in page
    assert "We ask everybody." in page
    with override(tag):
        for words in POSTER_WORDS:
            assert gettext(words) in page
    query = f"?lang={language}" if language else ""
    assert f'src="{at("share_qr_svg", wave.survey)}{query}"' in page
    path = f"/s/{wave.survey.slug}" + (f"/{language}" if language else "")
    assert f'<bdi dir="ltr">murmur.example<wbr>{path}</bdi>' in page
    assert 'lang="en" dir="ltr" aria-label="Poster"' in page  # the bar for the author


def test_the_poster_shows_the_fixed_end(author: Client, wave: Wave, owner: User) -> None:
    assert "Open until 31 March 2097, 18:00 UTC." in author.get(at("poster", wave.survey)).text
    french = author.get(at("poster", wave.survey), {"lang": "fr"}).text
    assert "31 mars 2097" in french
    other = make_launched_survey(owner=owner)
    assert "Open until" not in author.get(at("poster", other.survey)).text


def test_the_poster_says_who_asks(author: Client, wave: Wave, owner: User) -> None:
    assert 'class="who"' not in author.get(at("poster", wave.survey)).text
    asked = make_launched_survey(owner=owner, organization="A <b>bold</b> office")
    page = author.get(at("poster", asked.survey)).text
    assert '<p class="who"><bdi>A &lt;b&gt;bold&lt;/b&gt; office</bdi></p>' in page


def test_the_poster_does_not_promise_to_scramble_groups(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner)
    add_question(
        survey=survey, text="Where?", type=Question.Type.DECLARED, options=["North", "South"]
    )
    open_survey(survey=survey)
    page = author.get(at("poster", survey)).text
    assert "except those that the page marks as not scrambled" in page
    assert "at random before anything is sent" not in page
    assert "never one person’s answer" not in page


@pytest.mark.parametrize(
    ("questions", "settings", "is_promised"),
    [
        (1, {"flips": 25}, True),
        (2, {"flips": 40}, True),
        (1, {"flips": 5}, False),
        (4, {"flips": 25}, True),  # each is strong; all together are not practically certain
        (5, {"flips": 25}, False),  # all together are practically certain
        (5, {"flips": 40}, True),
        (5, {"flips": 40, "coins": True}, False),  # with coins, they are practically certain
    ],
)
def test_the_poster_makes_no_promise_about_one_person_if_protection_is_weak(
    author: Client, owner: User, questions: int, settings: dict[str, Any], is_promised: bool
) -> None:
    texts = [f"Question {number}?" for number in range(questions)]
    wave = make_launched_survey(owner=owner, questions=texts, **settings)
    page = author.get(at("poster", wave.survey)).text
    assert ("never one person’s answer" in page) == is_promised
    assert page.count("<li>") == 2 + is_promised


def test_the_poster_uses_plain_words(author: Client, wave: Wave) -> None:
    page = author.get(at("poster", wave.survey)).text.split("<main", 1)[1]
    words = re.sub(r"<[^>]*>", " ", page)
    assert not FORBIDDEN.search(words)
    for sentence in re.split(r"[.!?:]\s", " ".join(words.split())):
        assert len(sentence.split()) <= LONGEST_SENTENCE, sentence


def test_a_long_introduction_is_cut_and_a_long_title_is_smaller(
    author: Client, owner: User
) -> None:
    wave = make_launched_survey(owner=owner, title="x" * 200, introduction="word " * 300)
    page = author.get(at("poster", wave.survey)).text
    assert '<h1 class="long">' in page
    shown = re.search(r'<p class="introduction">([^<]*)</p>', page)
    assert shown is not None
    assert len(shown[1]) <= 280
    assert shown[1].endswith("…")


def test_pages_have_the_policy_for_researchers() -> None:
    page = headers_for("/surveys/abc/share")["Content-Security-Policy"]
    assert headers_for("/surveys/abc/poster")["Content-Security-Policy"] == page
    assert "img-src 'self'" in page
    assert "form-action 'self'" in page
    for picture in ("/surveys/abc/share/qr.svg", "/surveys/abc/share/qr.png"):
        assert "script-src" not in headers_for(picture)["Content-Security-Policy"]


def test_only_the_owner_may_share(client: Client, wave: Wave) -> None:
    client.force_login(make_user())
    for name in ("share", "share_qr_svg", "share_qr_png", "poster"):
        assert client.get(at(name, wave.survey)).status_code == 404
    client.logout()
    assert client.get(at("poster", wave.survey)).status_code == 302


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("localhost:8000", True),
        ("LOCALHOST.", True),
        ("murmur.localhost", True),
        ("laptop.local:8000", True),
        ("127.0.0.1:8000", True),
        ("127.3.2.1", True),
        ("[::1]:8000", True),
        ("10.1.2.3", True),
        ("192.168.178.20:8000", True),
        ("172.16.0.1", True),
        ("172.31.255.255", True),
        ("[fd00::1]", True),
        ("[fe80::1]", True),
        ("172.32.0.1", False),
        ("11.0.0.1", False),
        ("8.8.8.8:8000", False),
        ("[2a00:1450::1]", False),
        ("murmur.example", False),
        ("localhost.example.org", False),
        ("local.example.org", False),
        ("10.example.org", False),
    ],
)
def test_local_addresses_are_known(host: str, is_local: bool) -> None:
    assert bool(find_local_host(f"http://{host}/s/abc")) == is_local


@pytest.mark.parametrize("name", ["share", "edit"])
def test_a_link_that_nobody_elsewhere_can_open_carries_a_warning(
    author: Client, wave: Wave, name: str, settings: Settings
) -> None:
    address = reverse(f"surveys:{name}", args=[wave.survey.slug])
    assert "Nobody outside" not in author.get(address).text
    settings.PUBLIC_URL = "http://localhost:8000"
    warned = author.get(address).text
    assert "Nobody outside this computer or its network can open this link" in warned
    assert "<strong>localhost</strong>" in warned


def test_a_poster_with_a_local_address_warns_only_its_author(
    author: Client, wave: Wave, settings: Settings
) -> None:
    path = reverse("surveys:poster", args=[wave.survey.slug])
    assert "Nobody outside" not in author.get(path).text
    settings.PUBLIC_URL = "http://localhost:8000"
    bar, poster = author.get(path).text.split("</nav>")
    assert "can open the address localhost on this poster" in bar
    assert "Nobody outside" not in poster


@pytest.mark.parametrize("name", ["share", "edit", "poster"])
def test_a_link_to_share_ignores_the_host_of_the_request(
    author: Client, wave: Wave, name: str
) -> None:
    page = author.get(at(name, wave.survey), headers={"host": "localhost:1234"}).text
    assert "localhost:1234" not in page
    assert "murmur.example" in page
