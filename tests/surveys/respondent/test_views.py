"""The respondent's page as it is served: its content, its headers, and when there is no page."""

from __future__ import annotations

import gzip
import hashlib
import html
import re
from base64 import b64encode
from datetime import timedelta

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from config.headers import headers_for
from surveys.authoring.drafts import build_manifest, build_words
from surveys.authoring.services import add_question
from surveys.base64url import encode_base64url
from surveys.lifecycle.services import close_wave
from surveys.manifest.languages import hash_words
from surveys.manifest.serialization import serialize_manifest
from surveys.models import Survey, Wave
from surveys.respondent.client_files import (
    ENTRY,
    FOLDER,
    ICON,
    NOTICE,
    RANDOMIZER,
    SELF_TEST,
    STYLESHEET,
    client_files,
    client_version,
    join_page,
    page_script,
    page_style,
)
from surveys.respondent.csp import hash_source
from surveys.respondent.guard import GUARD
from surveys.respondent.page import render_questions
from surveys.respondent.parts import PARTS
from surveys.respondent.stylesheet import shorten_stylesheet
from surveys.views.respondent.compressed import accepts_gzip
from tests.support.factories import (
    QUESTIONS,
    make_launched_survey,
    make_survey,
    make_user,
    open_survey,
)

pytestmark = pytest.mark.django_db
FOR_EVER = "public, max-age=31536000, immutable"


def get(path: str, **headers: str) -> HttpResponse:
    response = Client(headers={"host": "localhost"}).get(path, headers=headers)
    assert isinstance(response, HttpResponse)
    return response


def page_of(wave: Wave) -> HttpResponse:
    return get(reverse("surveys:respond", args=[wave.survey.slug]))


def test_the_page_is_complete_before_any_script_runs() -> None:
    wave = make_launched_survey(title="On the road", introduction="About driving.")
    response = page_of(wave)
    text = response.content.decode()
    assert response.status_code == 200
    assert text.count("<h1") == 1
    for part in ("On the road", "About driving.", "2 questions", "<noscript>", "two coins"):
        assert part in text
    assert f'data-hash="{encode_base64url(bytes(wave.manifest_hash))}"' in text
    assert wave.manifest_hash_hex in text
    assert f'data-intake="{reverse("aggregator:intake")}"' in text


def test_the_page_contains_nothing_that_could_send_an_answer() -> None:
    text = page_of(make_launched_survey()).content.decode().lower()
    for part in ("<form", "<input", "<textarea", "<select", "action=", "style=", "onclick"):
        assert part not in text
    assert "csrf" not in text


def test_every_script_is_named_with_the_hash_of_the_bytes_that_are_served() -> None:
    text = page_of(make_launched_survey()).content.decode()
    for name, file in client_files().items():
        if name in (ENTRY, RANDOMIZER, STYLESHEET):
            assert f'href="{file.url}"' in text or f'src="{file.url}"' in text
            served = get(file.url).content
            digest = b64encode(hashlib.sha256(served).digest()).decode()
            assert text.count(f'integrity="sha256-{digest}"') == 1
    # Both scripts are elements, because WebKit ignores the integrity of a modulepreload.
    assert re.findall(r"<script ([^>]*)>", text) == [
        f'type="module" src="{file.url}" integrity="{file.integrity}"'
        for file in (client_files()[RANDOMIZER], page_script(()))
    ]


def test_the_only_script_in_the_page_is_the_one_whose_hash_the_policy_names() -> None:
    wave = make_launched_survey()
    own = f"/s/{wave.survey.slug}"
    for path in (own, f"{own}/check", f"{own}/page.html"):
        text = get(path).content.decode()
        [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        policy = text if path.endswith(".html") else headers_for(path)["Content-Security-Policy"]
        assert f"'{hash_source(script)}'" in policy
        assert script == GUARD


def test_no_cookie_is_set_and_nothing_varies_on_one() -> None:
    owner = make_user()
    wave = make_launched_survey(owner=owner)
    client = Client(headers={"host": "localhost"})
    client.force_login(owner)
    for path in (
        reverse("surveys:respond", args=[wave.survey.slug]),
        reverse("surveys:manifest", args=[wave.manifest_hash_hex]),
        client_files()["page.js"].url,
        reverse("surveys:respond", args=["nosuchsurvey"]),
    ):
        response = client.get(path)
        assert response.cookies == {}
        assert response["Vary"] == "Accept-Encoding"


def test_a_page_queries_the_database_four_times(django_assert_num_queries: object) -> None:
    """The queries: the survey, its people, their other surveys that ask the same, and the page."""
    wave = make_launched_survey()
    page_of(wave)
    with django_assert_num_queries(4):  # type: ignore[operator]
        get(f"/s/{wave.survey.slug}")


def test_a_page_says_how_many_surveys_of_its_author_ask_the_same() -> None:
    wave = make_launched_survey(coins=True)
    said = "The same question is asked in 1 other survey by this author."
    pages = ("", "/coins", "/page.html")
    addresses = [f"/s/{wave.survey.slug}{ending}" for ending in pages]
    make_launched_survey()  # of another author
    assert not [path for path in addresses if said in get(path).content.decode()]
    make_launched_survey(owner=wave.survey.owner, title="Once more")
    assert [path for path in addresses if said in get(path).content.decode()] == addresses


def test_the_page_of_a_rehearsal_says_what_it_is() -> None:
    wave = make_launched_survey(coins=True)
    said = "This is only a rehearsal with made-up answers. Please do not answer."
    addresses = [f"/s/{wave.survey.slug}{ending}" for ending in ("", "/coins", "/page.html")]
    assert not [path for path in addresses if said in get(path).content.decode()]
    Survey.objects.update(rehearsal=True)
    assert [path for path in addresses if said in get(path).content.decode()] == addresses


@pytest.mark.parametrize(("flips", "denied"), [(25, True), (12, True), (5, False)])
def test_the_demo_denies_proof_only_if_its_codes_do(flips: int, denied: bool) -> None:
    text = get(f"/s/{make_launched_survey(flips=flips).survey.slug}").content.decode()
    assert ("One code proves nothing." in text) == denied
    assert ("So one code reveals nearly everything." in text) != denied


def test_an_address_without_a_survey_gets_a_kind_explanation() -> None:
    draft = make_survey()
    for slug in ("nosuchsurvey", draft.slug):
        response = get(reverse("surveys:respond", args=[slug]))
        assert response.status_code == 404
        text = response.content.decode()
        assert "There is no survey here" in text
        assert "<script" not in text
        assert draft.title not in text


def test_before_the_opening_the_page_says_when_to_come_back() -> None:
    opens_at = timezone.now().replace(microsecond=0) + timedelta(days=3)
    response = page_of(make_launched_survey(opens_at=opens_at))
    text = response.content.decode()
    assert response.status_code == 200
    assert "This survey is not open yet" in text
    moment = f"{opens_at.day} {opens_at:%B %Y, %H:%M} UTC"
    assert f'<time datetime="{opens_at:%Y-%m-%dT%H:%MZ}">{moment}</time>' in text
    assert re.findall(r'<script type="module" src="([^"]*)"', text) == [client_files()[NOTICE].url]


@pytest.mark.parametrize("how", ["by its owner", "by its date"])
def test_a_closed_survey_says_so_and_still_loads_the_scripts(how: str) -> None:
    wave = make_launched_survey(closes_at=timezone.now() + timedelta(days=1))
    if how == "by its owner":
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        response = page_of(wave)
    else:
        with pytest.MonkeyPatch.context() as later:
            later.setattr(timezone, "now", lambda: wave.closes_at)
            response = page_of(wave)
    text = response.content.decode()
    assert response.status_code == 200
    assert "This survey is closed" in text
    assert 'data-mode="closed"' in text
    assert 'id="start"' not in text
    assert "<script" in text


def test_html_in_texts_is_escaped() -> None:
    hostile = '"><script>alert(1)</script>'
    text = page_of(make_launched_survey(title=hostile, introduction=hostile)).content.decode()
    assert "<script>alert" not in text


def test_html_in_a_translation_is_escaped_and_its_bytes_can_be_read_back() -> None:
    hostile = '</p></template><script>alert(1)</script>&lt; "'
    survey = make_survey()
    survey.translations.create(
        language="de", texts=dict.fromkeys(["On the road", *QUESTIONS], hostile)
    )
    wave = open_survey(survey=survey)
    text = get(reverse("surveys:respond_in", args=[survey.slug, "de"])).content.decode()
    assert "<script>alert" not in text
    own = text.split('<p id="own">')[1].split("</p>")[0]
    assert html.unescape(own) == wave.words["de"]


def test_the_manifest_is_sent_as_the_stored_bytes() -> None:
    wave = make_launched_survey()
    path = reverse("surveys:manifest", args=[wave.manifest_hash_hex])
    response = get(path)
    assert response.content == bytes(wave.manifest)
    assert hashlib.sha256(response.content).digest() == bytes(wave.manifest_hash)
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == FOR_EVER
    packed = get(path, accept_encoding="gzip")
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == bytes(wave.manifest)
    assert get(reverse("surveys:manifest", args=["0" * 64])).status_code == 404


@pytest.mark.parametrize("shared_devices", [False, True])
@pytest.mark.parametrize("quick_exit", [False, True])
def test_browsers_store_nothing_of_a_survey_on_shared_devices_and_no_page_with_exit(
    *, shared_devices: bool, quick_exit: bool
) -> None:
    wave = make_launched_survey(shared_devices=shared_devices, quick_exit=quick_exit)
    manifest = get(reverse("surveys:manifest", args=[wave.manifest_hash_hex]))
    assert manifest.get("Cache-Control") == (None if shared_devices else FOR_EVER)
    page = page_of(wave)
    assert page.get("Cache-Control") == (
        None if shared_devices or quick_exit else "private, no-cache"
    ), "without one, the table of headers says no-store"


@pytest.mark.parametrize("name", sorted(client_files()))
def test_files_are_served_by_name_and_may_be_kept_forever(name: str) -> None:
    response = get(client_files()[name].url)
    assert response.content == client_files()[name].content
    assert response["Cache-Control"] == FOR_EVER
    packed = get(client_files()[name].url, accept_encoding="br, gzip")
    assert gzip.decompress(packed.content) == response.content
    assert len(packed.content) < max(len(response.content), 200)  # short files may grow


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("0" * 16, "page.js"),
        (client_version(), "nothing.js"),
        (client_version(), "notes.js"),
        (client_version(), "page-scale.js"),  # no survey needs it
        (client_version(), "page-scale-number.js"),
        (client_version(), "page-scale-scale.js"),
        (client_version(), "page-nothing.js"),
        (client_version(), "page-file.js"),  # only in the page as one file
        (client_version(), "respondent-several.css"),
        (client_version(), ".."),
    ],
)
def test_other_versions_and_other_files_do_not_exist(version: str, name: str) -> None:
    response = get(reverse("surveys:client_file", args=[version, name]))
    assert response.status_code == 404
    assert "Cache-Control" not in response


def test_a_name_that_postgresql_refuses_is_not_looked_for(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(0):
        assert get(f"/r/{client_version()}/page-%00.js").status_code == 404


def test_sources_are_served_as_written_and_cannot_be_run() -> None:
    sources = (path for path in FOLDER.rglob("*.*") if path.suffix in (".js", ".css"))
    written = {path.relative_to(FOLDER).as_posix(): path for path in sources}
    served = {name for name in client_files() if name.startswith("source/")}
    assert served == {f"source/{name}" for name in written}
    for name, path in written.items():
        response = get(client_files()[f"source/{name}"].url)
        assert response.content == path.read_bytes()
        assert response["Content-Type"] == "text/plain; charset=utf-8"


def test_a_page_loads_the_parts_that_its_questions_need_and_no_other_script() -> None:
    survey = make_survey(questions=("Driven?",))
    add_question(survey=survey, text="How often?", type="scale", minimum=1, maximum=5)
    add_question(survey=survey, text="How far?", type="number", minimum=0, maximum=9)
    text = page_of(open_survey(survey=survey)).content.decode()
    script, style = page_script(("number", "scale")), page_style(("number", "scale"))
    assert (script.name, style.name) == ("page-number-scale.js", "respondent-number-scale.css")
    assert text.count(f'src="{script.url}" integrity="{script.integrity}"') == 1
    assert len(re.findall(r"<script [^>]*>", text)) == 2
    assert text.count(f'href="{style.url}" integrity="{style.integrity}"') == 1
    assert text.count('rel="stylesheet"') == 1
    for file in (script, style):
        assert get(file.url).content == file.content
    sources = re.findall("^// source/parts/(.*)", join_page(("number", "scale")), re.MULTILINE)
    assert sources == ["number.js", "scale.js"]


def test_every_part_is_a_module_that_a_page_can_load() -> None:
    assert sorted(PARTS) == sorted(path.stem for path in (FOLDER / "parts").glob("*.js"))
    assert {path.stem for path in (FOLDER / "parts").iterdir()} == set(PARTS)


def test_the_icon_is_served_as_written_and_the_stylesheet_without_comments() -> None:
    assert get(client_files()[ICON].url).content == (FOLDER / ICON).read_bytes()
    style = page_style(("number", "scale")).content.decode()
    sources = [STYLESHEET, *(f"parts/{part}.css" for part in ("number", "scale"))]
    assert style == shorten_stylesheet("".join((FOLDER / name).read_text() for name in sources))
    assert "/*" not in style


def test_scripts_are_served_without_comments_and_in_few_files() -> None:
    scripts = {name for name in client_files() if name.endswith(".js") and "/" not in name}
    assert scripts == {path.name for path in FOLDER.glob("*.js")}
    files = [page_script(PARTS), *(client_files()[name] for name in scripts)]
    for name, text in [(file.name, file.content.decode()) for file in files]:
        assert "/*" not in text
        comments = re.findall("^// (.*)", text, re.MULTILINE)
        assert text.count("//") == len(comments) + text.count("http://www.w3.org/")
        # Scripts loaded by a visit do not name the modules from which they were made.
        assert comments[-1:] == ([f"source/{name}"] if name in (NOTICE, SELF_TEST) else [])
        assert set(comments) <= client_files().keys()
        imported = re.findall(r'from "([^"]*)"', text)
        assert imported == ([] if name in (NOTICE, RANDOMIZER) else [f"./{RANDOMIZER}"])
        assert "sourceMappingURL" not in text


def test_the_page_for_checking_names_every_script_and_source_with_its_hash() -> None:
    survey = make_survey()
    add_question(survey=survey, text="How often?", type="scale", minimum=1, maximum=5)
    slug = open_survey(survey=survey).survey.slug
    text = get(reverse("surveys:check", args=[slug])).content.decode()
    listed = re.findall(r'<li><a href="(.*?)">(.*?)</a> <code>(.*?)</code></li>', text)
    left_out = {ICON, STYLESHEET, ENTRY}
    files = [file for name, file in client_files().items() if name not in left_out]
    files += [page_script(("scale",)), page_style(("scale",))]
    assert sorted(listed) == sorted((file.url, file.name, file.integrity) for file in files)
    for url, _, integrity in listed:
        digest = b64encode(hashlib.sha256(get(url).content).digest()).decode()
        assert integrity == f"sha256-{digest}"


@pytest.mark.parametrize("parts", [(), PARTS])
def test_the_page_as_one_file_imports_nothing_and_says_the_same(parts: tuple[str, ...]) -> None:
    text = join_page(parts)
    assert "import" not in text
    assert "export" not in text
    served = page_script(parts).content.decode() + client_files()[RANDOMIZER].content.decode()
    assert sorted(list_lines(text)) == sorted(list_lines(served))


def list_lines(script: str) -> list[str]:
    """List the lines of code that run, without imports and the word export."""
    lines = (line.removeprefix("export ") for line in script.splitlines() if line)
    return [line for line in lines if not line.startswith(("// ", "import "))]


def test_the_version_is_computed_from_names_and_bytes() -> None:
    digest = hashlib.sha256()
    whole = {file.name: file for file in (page_script(PARTS), page_style(PARTS))}
    for name, file in sorted({**client_files(), **whole}.items()):
        digest.update(f"{name} {len(file.content)}\n".encode() + file.content)
    assert client_version() == digest.hexdigest()[:16]


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("deflate, gzip ; q=1", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("x-gzip", False),
    ],
)
def test_compression_is_used_where_it_is_accepted(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


def test_only_requests_that_read_are_allowed() -> None:
    wave = make_launched_survey()
    client = Client(headers={"host": "localhost"})
    for path in (f"/s/{wave.survey.slug}", client_files()["page.js"].url):
        assert client.post(path, {"answer": "1"}).status_code == 405


def test_a_preview_is_the_owners_and_shows_the_draft() -> None:
    owner = make_user()
    survey = make_survey(owner=owner, title="On the road")
    client = Client(headers={"host": "localhost"})
    address = reverse("surveys:preview", args=[survey.slug])
    assert client.get(address)["Location"].startswith(reverse(settings.LOGIN_URL))
    client.force_login(owner)
    text = client.get(address).content.decode()
    assert "Preview. Nothing is sent or stored." in text
    assert 'data-mode="preview"' in text
    manifest = client.get(reverse("surveys:preview_manifest", args=[survey.slug]))
    digest = hashlib.sha256(manifest.content).hexdigest()
    assert digest in text
    assert "Cache-Control" not in manifest, "a draft changes; the table says no-store"
    client.force_login(make_user())
    assert client.get(address).status_code == 404


def test_a_preview_without_questions_says_what_to_do() -> None:
    owner = make_user()
    survey = make_survey(owner=owner, questions=())
    client = Client(headers={"host": "localhost"})
    client.force_login(owner)
    response = client.get(reverse("surveys:preview", args=[survey.slug]))
    assert "There are no questions yet" in response.content.decode()


def make_german() -> Wave:
    survey = make_survey(title="Roads", questions=("Driven?",))
    survey.translations.create(language="de", texts={"Roads": "Straßen", "Driven?": "Gefahren?"})
    return open_survey(survey=survey)


def test_frozen_words_are_sent_as_they_were_frozen() -> None:
    wave = make_german()
    response = get(reverse("surveys:words", args=[wave.manifest_hash_hex, "de"]))
    assert hash_words(response.content.decode()) == wave.description.translations["de"]
    assert "Gefahren?" in response.content.decode()
    assert "immutable" in response["Cache-Control"]
    assert get(reverse("surveys:words", args=[wave.manifest_hash_hex, "fr"])).status_code == 404
    assert get(reverse("surveys:words", args=["0" * 64, "de"])).status_code == 404
    path = reverse("surveys:check", args=[wave.survey.slug])
    link = f'href="{reverse("surveys:words", args=[wave.manifest_hash_hex, "de"])}"'
    assert link in get(f"{path}?lang=de").content.decode()
    assert link not in get(path).content.decode()


def test_a_link_in_a_language_that_the_survey_lacks_leads_to_the_survey() -> None:
    wave = make_german()
    response = get(reverse("surveys:respond_in", args=[wave.survey.slug, "fr"]))
    assert (response.status_code, response["Location"]) == (302, f"/s/{wave.survey.slug}")
    assert get(f"/s/{wave.survey.slug}/xx")["Location"] == f"/s/{wave.survey.slug}"
    assert get(f"/s/{wave.survey.slug}/DE")["Location"] == f"/s/{wave.survey.slug}/de"
    unknown = get("/s/nothing/xx")
    assert unknown.status_code == 404
    assert "There is no survey here" in unknown.content.decode()


def test_a_long_list_of_preferred_languages_is_read_to_its_end() -> None:
    wave = make_german()
    wish = ", ".join([*("x-klingon-of-the-third-house;q=0.9" for _ in range(9)), "de;q=0.5"])
    response = get(f"/s/{wave.survey.slug}", **{"accept-language": wish})
    assert '<html lang="de"' in response.content.decode()


def test_untranslated_text_in_a_preview_is_marked_with_its_language() -> None:
    survey = make_survey(title="Roads", introduction="Hello.")
    survey.translations.create(language="ar", texts={"Roads": "طرق"})
    manifest = build_manifest(survey=survey, wave_number=1)
    words = build_words(survey=survey, manifest=manifest)["ar"]
    content = serialize_manifest(manifest)
    page = render_questions("preview", content=content, language="ar", words=words).decode()
    assert '<html lang="ar" dir="rtl">' in page
    assert '<h1 dir="auto" tabindex="-1">طرق</h1>' in page
    assert '<p class="intro" lang="en" dir="auto">Hello.</p>' in page
