"""Two coins: the form without scripts, the paper form, and a mode that is counted separately."""

from __future__ import annotations

import csv
import io
import random
import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
import segno
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aggregator.exports.reports import find_rows
from aggregator.intake import limiter
from aggregator.intake.coin_sheets import new_sheet
from aggregator.models import RawReport, SpentId
from aggregator.results.display import find_view
from aggregator.views.coins import coin_form
from surveys.base64url import encode_base64url
from surveys.lifecycle.services import close_wave
from surveys.manifest.serialization import parse_manifest
from surveys.models import Survey, Wave
from tests.support.factories import QUESTIONS, make_launched_survey, make_survey, open_survey
from tests.support.fielding import process, send_codes, sign_in
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FORM = "application/x-www-form-urlencoded"
NOWHERE = "/s/nothing/coins"
FORBIDDEN = ("anonym", " lie ", "false answer", "fake", "noise", "garble", "epsilon", "ε")


def make_coins(**settings: Any) -> Wave:
    wave = make_launched_survey(coins=True, **settings).survey.waves.manual().newest()
    assert wave is not None
    return wave


def make_german_coins(**settings: Any) -> Wave:
    """Make a wave with coins in English and German."""
    survey = make_survey(coins=True, **settings)
    words = {"On the road": "Unterwegs"} | {question: f"{question} (de)" for question in QUESTIONS}
    survey.translations.create(language="de", texts=words)
    wave = open_survey(survey=survey).survey.waves.manual().newest()
    assert wave is not None
    return wave


def address(wave: Wave, name: str = "coins") -> str:
    return reverse(f"aggregator:{name}", args=[wave.survey.slug])


def load(wave: Wave, query: str = "") -> Any:
    return Client(headers={"host": "localhost"}).get(address(wave) + query)


def hidden_fields(text: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)">', text))


def post(wave: Wave, fields: dict[str, str], *, query: str = "", **headers: str) -> Any:
    client = Client(headers={"host": "localhost", **headers})
    body = "&".join(f"{name}={value}" for name, value in fields.items())
    return client.post(address(wave) + query, body, content_type=FORM)


def tick(wave: Wave, **codes: int) -> dict[str, str]:
    """Return the fields of a newly loaded form with these ticks."""
    return hidden_fields(load(wave).content.decode()) | {k: str(v) for k, v in codes.items()}


def thanks(response: Any) -> Any:
    """Return the page to which a sent form leads."""
    assert response.status_code == 303
    page = Client(headers={"host": "localhost"}).get(response["Location"])
    assert page.status_code == 200
    return page


class TestForm:
    def test_the_form_says_what_to_do_and_starts_with_nothing_ticked(self) -> None:
        wave = make_coins(title="On the road", introduction="About driving.")
        text = load(wave).content.decode()
        words = words_of(load(wave))
        for part in (
            *("On the road", "About driving.", "Have you ever driven after drinking?"),
            "Tails: toss again. Heads now: tick Yes. Tails now: tick No.",
            "When the coins decide, tick what they say, not your answer.",
            "Two coins scramble your answers before sending.",
            "Of 100 people who answer No, 25 send the same code as a Yes.",
        ):
            assert part in words, part
        assert text.count("<h1") == 1
        assert text.count('type="radio"') == 4
        assert text.count("<legend>") == 2
        assert "checked" not in text
        assert 'lang="en" dir="ltr"' in text
        assert wave.manifest_hash_hex in text

    def test_the_browser_asks_for_consent_and_sends_nothing_about_it(self) -> None:
        wave = make_coins(consent="We ask about <driving>.\n\nYou may stop.", minimum_age=18)
        form = load(wave).content.decode()
        for text in (form, Client().get(address(wave, "paper")).content.decode()):
            assert "We ask about &lt;driving&gt;.\n\nYou may stop.</p>" in text
            for part in ("I have read this and I agree.", "I am 18 or older."):
                assert text.count(part) == 1
        # A box without a name is not sent with the form.
        assert form.count('<label class="choice"><input type="checkbox" required>') == 2
        assert form.count('type="checkbox"') == 2
        # The boxes were ticked when the form was sent, so only the question is asked again.
        again = post(wave, tick(wave, q1=1)).content.decode()
        assert again.count('<input type="checkbox" required checked>') == 2
        thanks(post(wave, tick(wave, q1=1, q2=0)))

    def test_the_pages_run_no_script_and_set_no_cookie(self) -> None:
        wave = make_coins()
        client = sign_in(wave.survey.owner)
        for response in (
            client.get(address(wave)),
            client.get(address(wave, "paper")),
            post(wave, tick(wave, q1=1)),
            post(wave, tick(wave, q1=1, q2=0)),
        ):
            text = response.content.decode()
            for part in ("<script", "style=", "onclick", "csrf", "http-equiv"):
                assert part not in text, part
            assert response.cookies == {}
            assert "Cookie" not in response.get("Vary", "")

    def test_the_words_are_plain_and_the_sentences_short(self) -> None:
        wave = make_coins()
        pages = [load(wave), sign_in(wave.survey.owner).get(address(wave, "paper"))]
        for response in pages:
            words = words_of(response)
            for word in FORBIDDEN:
                assert word not in words.lower(), word
        texts = re.findall(r"<(?:p|li|h1|h2|dt|dd)[^>]*>([^<]+)<", pages[0].content.decode())
        for text in texts:
            for sentence in re.split(r"(?<=[.?!:])\s", text):
                assert len(sentence.split()) <= 20, sentence

    def test_each_page_has_its_own_id(self) -> None:
        wave = make_coins()
        assert len({tick(wave)["report"] for _ in range(5)}) == 5

    def test_the_address_chooses_another_language(self) -> None:
        survey = make_survey(coins=True)
        words = {"On the road": "على الطريق"} | {
            question: f"{question} ؟" for question in QUESTIONS
        }
        survey.translations.create(language="ar", texts=words)
        wave = open_survey(survey=survey).survey.waves.manual().newest()
        assert wave is not None
        text = load(wave, "?lang=ar").content.decode()
        assert '<html lang="ar" dir="rtl">' in text
        assert "على الطريق" in text
        assert '?lang=en"' in text
        assert '<html lang="en" dir="ltr">' in load(wave, "?lang=fr").content.decode()

    def test_without_a_language_in_the_address_the_browser_decides(self) -> None:
        wave = make_german_coins()
        asked = {"host": "localhost", "accept-language": "fr, de-AT;q=0.9, en;q=0.8"}
        for path in [*(address(wave, name) for name in ("coins", "paper", "hand_in")), NOWHERE]:
            text = Client(headers=asked).get(path).content.decode()
            assert f'<html lang="{"fr" if path == NOWHERE else "de"}"' in text
            assert (
                '<html lang="en"' in Client(headers=asked).get(f"{path}?lang=en").content.decode()
            )


class TestSending:
    def test_the_ticks_are_stored_as_a_report_from_coins(self) -> None:
        wave = make_coins(minimum_batch=10)
        response = post(wave, tick(wave, q1=1, q2=0), origin="http://localhost")
        assert "Your code was sent. You can close this page." in words_of(thanks(response))
        report = RawReport.objects.get()
        assert (report.wave, bytes(report.symbols)) == (wave, b"\1\0")

    def test_the_closing_message_is_shown_afterwards(self) -> None:
        wave = make_coins(closing_message="Help is at 116 123.")
        assert "Help is at 116 123." in words_of(thanks(post(wave, tick(wave, q1=1, q2=1))))

    def test_a_sent_form_leads_to_an_address_that_says_nothing_about_it(self) -> None:
        wave = make_german_coins()
        for query, language in (("", "en"), ("?lang=de", "de")):
            for code in (0, 1):
                response = post(wave, tick(wave, q1=code, q2=code), query=query)
                assert response.status_code == 303
                assert response["Location"] == f"{address(wave)}/sent?lang={language}"
                assert (response.content, response.cookies) == (b"", {})
        page = thanks(response)
        assert '<html lang="de"' in page.content.decode()
        assert page.cookies == {}
        assert f'href="{address(wave)}?lang=de"' in page.content.decode(), "for the next sheet"
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        assert thanks(response).content == page.content

    def test_a_form_sent_twice_counts_once(self) -> None:
        wave = make_coins()
        fields = tick(wave, q1=1, q2=1)
        first, second = post(wave, fields), post(wave, fields)
        assert (first.status_code, second.status_code) == (303, 303)
        assert first["Location"] == second["Location"]
        assert RawReport.objects.count() == SpentId.objects.count() == 1

    def test_the_first_codes_are_kept_if_the_form_is_sent_again_with_others(self) -> None:
        wave = make_coins()
        fields = tick(wave, q1=1, q2=1)
        post(wave, fields)
        response = post(wave, fields | {"q2": "0"})
        assert response.status_code == 409
        assert "Only the ticks that you sent first were counted." in words_of(response)
        assert bytes(RawReport.objects.get().symbols) == b"\1\1"

    @pytest.mark.parametrize("ticked", ["", "2", "yes", "1&q2=0"])
    def test_missing_answers_are_named_and_the_rest_stays_ticked(self, ticked: str) -> None:
        wave = make_coins()
        fields = tick(wave, q1=1, q2=0) | {"q2": ticked}
        response = post(wave, fields)
        text = response.content.decode()
        assert response.status_code == 422
        assert "<title>Error: " in text
        assert "There is a problem" in text
        assert '<a class="fix" href="#q2-1">Question 2: tick Yes or No.</a>' in text
        assert 'id="q2-1"' in text
        assert text.count("checked") == 1
        assert 'id="q1-1" name="q1" value="1" checked' in text
        assert hidden_fields(text)["report"] == fields["report"]
        assert RawReport.objects.count() == 0

    @pytest.mark.parametrize("report", ["", "AAAA", "A" * 42 + "B", "ä" * 43, "~" * 43])
    def test_a_missing_id_is_replaced_by_a_new_one(self, report: str) -> None:
        wave = make_coins()
        assert post(wave, tick(wave, q1=1, q2=0) | {"report": report}).status_code == 303
        assert len(bytes(RawReport.objects.get().id)) == 32

    def test_a_form_with_other_questions_is_shown_again_without_ticks(self) -> None:
        wave, other = make_coins(), make_coins()
        response = post(wave, tick(other, q1=1, q2=1))
        text = response.content.decode()
        assert response.status_code == 422
        assert "The questions have changed." in text
        assert "checked" not in text
        assert hidden_fields(text)["manifest"] == encode_base64url(bytes(wave.manifest_hash))
        assert RawReport.objects.count() == 0

    def test_the_browser_waves_manifest_accepts_no_coins(self) -> None:
        wave = make_coins()
        electronic = wave.survey.find_wave()
        assert electronic is not None
        fields = tick(wave, q1=1, q2=1) | {
            "manifest": encode_base64url(bytes(electronic.manifest_hash))
        }
        assert post(wave, fields).status_code == 422
        assert RawReport.objects.count() == 0


class TestRefusing:
    @pytest.mark.parametrize(
        "headers",
        [
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ],
    )
    def test_a_post_from_another_site_is_refused(self, headers: dict[str, str]) -> None:
        wave = make_coins()
        response = post(wave, tick(wave, q1=1, q2=1), **headers)
        assert response.status_code == 403
        assert "Your code was not counted" in words_of(response)
        assert RawReport.objects.count() == 0

    def test_a_post_that_is_not_a_form_or_is_too_long_is_refused(self) -> None:
        wave = make_coins()
        client = Client(headers={"host": "localhost"})
        for content_type in ("application/json", "multipart/form-data; boundary=x", "text/plain"):
            response = client.post(address(wave), b"{}", content_type=content_type)
            assert response.status_code == 415
        assert post(wave, tick(wave) | {"q1": "1" * 5000}).status_code == 413

    def test_other_methods_are_refused(self) -> None:
        wave = make_coins()
        client = Client(headers={"host": "localhost"})
        assert client.put(address(wave)).status_code == 405
        assert client.post(address(wave, "paper")).status_code == 405
        assert client.head(address(wave)).status_code == 200

    def test_surveys_without_coins_drafts_and_unknown_surveys_are_not_found(self) -> None:
        for slug in (make_launched_survey().survey.slug, make_survey(coins=True).slug, "nothing"):
            for name in ("coins", "paper"):
                client = Client(headers={"host": "localhost"})
                response = client.get(reverse(f"aggregator:{name}", args=[slug]))
                assert response.status_code == 404
                assert "There is no survey here" in words_of(response)

    def test_a_closed_survey_says_so(self) -> None:
        wave = make_coins()
        fields = tick(wave, q1=1, q2=1)
        sent = tick(wave, q1=0, q2=0)
        post(wave, sent)
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        for response, status in ((load(wave), 200), (post(wave, fields), 410)):
            assert response.status_code == status
            assert "This survey is closed" in words_of(response)
        assert post(wave, sent).status_code == 303  # the report was acknowledged before
        assert RawReport.objects.count() == 1

    def test_before_the_opening_the_form_says_when_to_come_back(self) -> None:
        opens_at = timezone.now().replace(microsecond=0) + timedelta(days=3)
        wave = make_coins(opens_at=opens_at)
        early = load(wave)
        assert early.status_code == 200
        assert "<form" not in early.content.decode()
        fields = {
            "manifest": encode_base64url(bytes(wave.manifest_hash)),
            "report": "A" * 43,
            "q1": "1",
            "q2": "0",
        }
        posted = post(wave, fields)
        assert posted.status_code == 425
        assert int(posted["Retry-After"]) > 0
        for response in (early, posted):
            assert f"It opens on {opens_at.day} {opens_at:%B %Y, %H:%M} UTC" in words_of(response)

    def test_the_opening_date_is_written_as_in_each_language(self) -> None:
        wave = make_german_coins(opens_at=datetime(2097, 3, 31, 18, 0, tzinfo=UTC))
        assert "It opens on 31 March 2097, 18:00 UTC" in words_of(load(wave))
        german = words_of(load(wave, "?lang=de"))
        assert "März 2097" in german
        assert "March" not in german

    def test_questions_that_cannot_be_answered_now_are_not_shown_as_new(self) -> None:
        early = make_coins(opens_at=timezone.now() + timedelta(days=3))
        closed = make_coins()
        unfinished = tick(closed, q1=1)
        close_wave(wave_id=closed.pk, ending=Wave.Ending.OWNER)
        unknown = {"manifest": "A" * 43, "report": "A" * 43, "q1": "1", "q2": "0"}
        for wave, fields, status, words in (
            (early, unknown, 425, "This survey is not open yet"),
            (closed, unknown, 410, "This survey is closed"),
            (closed, unfinished, 410, "This survey is closed"),
        ):
            response = post(wave, fields)
            assert response.status_code == status
            assert words in words_of(response)
            assert "<form" not in response.content.decode()

    def test_an_unreachable_database_loses_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(upload: object) -> None:
            raise OperationalError("canary 8714")

        wave = make_coins()
        fields = tick(wave, q1=1, q2=0)
        monkeypatch.setattr(coin_form, "record_report", fail)
        response = post(wave, fields)
        text = response.content.decode()
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert text.count("checked") == 2
        assert hidden_fields(text)["report"] == fields["report"]
        assert "canary" not in text

    def test_too_many_reports_from_one_network_are_told_to_wait(
        self, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.BEHIND_PROXY = True
        settings.REPORTS_PER_SECOND = 1
        monkeypatch.setattr(limiter, "time", SimpleNamespace(monotonic=lambda: 100.0))
        limiter.limiter_of_pages.cache_clear()
        try:
            wave = make_coins()
            replies = [
                post(wave, tick(wave, q1=1, q2=0), **{"x-forwarded-for": "192.0.2.1"})
                for _ in range(3)
            ]
        finally:
            limiter.limiter_of_pages.cache_clear()
        # No Redis answers in this test, so one cap applies to everyone.
        assert replies[0].status_code == 303
        last = replies[-1]
        assert (last.status_code, last["Retry-After"]) == (429, "1")
        assert last.content.decode().count("checked") == 2

    def test_this_machine_is_not_limited(self, settings: Any) -> None:
        settings.REPORTS_PER_SECOND = 1
        wave = make_coins()
        assert {post(wave, tick(wave, q1=1, q2=0)).status_code for _ in range(5)} == {303}


def test_the_paper_has_boxes_the_address_and_a_qr_code() -> None:
    wave = make_coins(organization="St Anna")
    response = Client(headers={"host": "localhost"}).get(address(wave, "paper"))
    text = response.content.decode()
    assert response.status_code == 200
    assert text.count('class="box"') == 4
    assert f"http://localhost{address(wave)}" in text
    assert '<svg viewBox="' in text
    assert "<form" not in text
    assert "St Anna" in text
    assert "By chance, about 2 of 10 people with another answer send your code." in text
    assert "opened this page" not in text
    assert "Do not write your name on this form." in text


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ("", "?lang=en"),
        ("?lang=en", "?lang=en"),
        ("?lang=de", "?lang=de"),
        ("?lang=fr", "?lang=en"),
    ],
)
def test_the_paper_leads_to_the_form_in_its_own_language(asked: str, query: str) -> None:
    wave = make_german_coins()
    path = address(wave, "paper") + asked
    text = Client(headers={"host": "localhost"}).get(path).content.decode()
    written = f"http://localhost{address(wave)}{query}"
    assert f'<span class="address" dir="ltr">{written}</span>' in text
    code = segno.make(written, error="m", micro=False)
    assert code.svg_inline(omitsize=True, svgclass="code", lineclass=None) in text


def test_an_old_sheet_differs_visibly_from_the_form() -> None:
    wave = make_coins()
    for name in ("coins", "paper"):
        response = Client(headers={"host": "localhost"}).get(address(wave, name))
        assert f"Wave 1 · {wave.manifest_hash_hex[:8]} " in words_of(response)


class TestStratum:
    def test_each_mode_is_sealed_and_estimated_separately(self) -> None:
        wave = make_coins()
        electronic = wave.survey.find_wave()
        assert electronic is not None
        send_codes(wave, yes=[35, 50], total=100)
        send_codes(electronic, yes=[60, 50], total=200)
        close_wave(wave_id=electronic.pk, ending=Wave.Ending.OWNER)
        process(wave)
        process(electronic)
        found = {mode: find_view(wave.survey, mode=mode).results for mode in Wave.Mode.values}
        # 2 · 35/100 − ½ and 2 · 60/200 − ½
        for mode, total, share in (("manual", 100, 0.2), ("electronic", 200, 0.1)):
            results = found[mode]
            assert results is not None
            assert results.snapshot.total == total
            assert results.questions[0].shown[0].value == pytest.approx(share)

    def test_a_mode_below_its_own_minimum_shows_nothing(self) -> None:
        wave = make_coins(display_minimum=100)
        electronic = wave.survey.find_wave()
        assert electronic is not None
        send_codes(wave, yes=[30, 30], total=99)
        send_codes(electronic, yes=[60, 50], total=200)
        close_wave(wave_id=electronic.pk, ending=Wave.Ending.OWNER)
        process(wave)
        process(electronic)
        assert "Too few responses to show" in words_of(self.read(wave.survey, "coin_results"))
        assert "Too few" not in words_of(self.read(wave.survey, "results"))

    def test_two_coins_recover_the_truth_although_a_quarter_is_swapped(self) -> None:
        """Synthetic people follow the rule, and estimates are computed from the stored forms."""
        generator = random.Random(20261121)
        people, yes = 400, (120, 300)
        wave = make_coins()
        manifest = wave.description
        client = Client(headers={"host": "localhost"})

        def toss(answer: int) -> int:
            heads = generator.random() < 0.5
            return answer if heads else int(generator.random() < 0.5)

        answers = {}
        for number in range(people):
            sheet = new_sheet(bytes(wave.manifest_hash))
            answers[sheet.report_id] = [int(number < one) for one in yes]
            codes = map(toss, answers[sheet.report_id])
            names = [one.name for one in manifest.questions]
            hidden = {"manifest": sheet.written_hash, "report": sheet.written_id}
            body = urlencode(hidden | dict(zip(names, codes, strict=True)))
            assert client.post(address(wave), body, content_type=FORM).status_code == 303

        stored = [(bytes(one.id), bytes(one.symbols)) for one in RawReport.objects.all()]
        assert len(stored) == people
        for place, truth in enumerate(yes):
            for answer, crowd in ((0, people - truth), (1, truth)):
                other = sum(
                    answers[name][place] == answer != symbols[place] for name, symbols in stored
                )
                print(f"n={crowd} answer={answer} observed={other} expected={crowd / 4}")
                # By chance, a difference of 4.892 standard errors occurs once in a million runs.
                assert abs(other - crowd / 4) < 4.892 * (crowd * 0.25 * 0.75) ** 0.5

        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        process(wave)
        results = find_view(wave.survey, mode="manual").results
        assert results is not None
        assert results.snapshot.total == people
        for question, truth in zip(results.questions, yes, strict=True):
            [estimate] = question.shown
            assert estimate.value is not None
            assert estimate.standard_error is not None
            margin = 4.892 * estimate.standard_error
            print(f"truth={truth / people} estimate={estimate.value:.3f} ± {margin:.3f}")
            assert margin < 0.25, "or nothing would be tested"
            assert abs(estimate.value - truth / people) < margin

    def test_the_design_of_coins_is_that_of_the_rule(self) -> None:
        manifest = parse_manifest(bytes(make_coins(flips=40).manifest))
        assert [q.mechanism.keep_probability for q in manifest.questions] == [0.75, 0.75]

    @staticmethod
    def read(survey: Survey, name: str, **options: Any) -> Any:
        path = reverse(f"aggregator:{name}", args=[survey.slug])
        return sign_in(survey.owner).get(path, **options)

    @pytest.fixture
    def survey(self) -> Survey:
        wave = make_coins(flips=40)
        send_codes(wave, yes=[35, 50], total=100)
        process(wave)
        return wave.survey

    @pytest.fixture
    def closed(self, survey: Survey) -> Survey:
        wave = survey.waves.get(mode=Wave.Mode.MANUAL)
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        process(wave)
        return survey

    def test_the_pages_of_coins_link_to_each_other_and_name_their_mode(
        self, survey: Survey
    ) -> None:
        page = self.read(survey, "coin_results")
        words, text = words_of(page), page.content.decode()
        assert "With two coins" in words or "with two coins" in words
        assert reverse("aggregator:results", args=[survey.slug]) in text
        for name in ("results_panel", "estimates_csv"):
            own = reverse(f"aggregator:coin_{name}", args=[survey.slug])
            place = text if name == "results_panel" else self.read(survey, "data").text
            assert f'"{own}' in place, name
        other = self.read(survey, "results").content.decode()
        assert reverse("aggregator:coin_results", args=[survey.slug]) in other
        assert "in the browser 0.82" in words_of(self.read(survey, "results"))

    def test_without_coins_the_pages_of_coins_do_not_exist(self) -> None:
        survey = make_launched_survey().survey
        assert self.read(survey, "coin_results").status_code == 404
        assert "two coins" not in words_of(self.read(survey, "results"))

    def test_file_names_say_which_mode_they_are_from(self, closed: Survey) -> None:
        survey = closed
        response = self.read(survey, "coin_estimates_csv")
        assert response.status_code == 200
        assert "_w1_coins_" in response["Content-Disposition"]
        content = b"".join(response.streaming_content).decode()
        rows = list(csv.DictReader(io.StringIO(content)))
        assert {row["mode"] for row in rows} == {"manual"}
        assert {row["threshold"] for row in rows} == {str(3 * 2**30)}

    def test_coins_have_no_file_of_rows(self, closed: Survey) -> None:
        """Few people use coins, so a row would show all codes of one person among few."""
        assert "results/coins/reports.csv" not in self.read(closed, "data").text
        client = sign_in(closed.owner)
        assert client.get(f"/surveys/{closed.slug}/results/coins/reports.csv").status_code == 404
        view = find_view(closed, mode=Wave.Mode.MANUAL)
        assert view.results is not None
        with pytest.raises(ValueError, match="large enough"):
            find_rows(view.results)

    def test_the_list_of_surveys_counts_only_reports_from_browsers(self, survey: Survey) -> None:
        page = sign_in(survey.owner).get(reverse("aggregator:home"))
        assert "0 sealed reports" in words_of(page)


@pytest.mark.parametrize("name", ["coins", "hand_in"])
def test_forms_lead_back_to_the_survey_in_the_same_language(name: str) -> None:
    wave = make_german_coins()
    page = Client(headers={"host": "localhost"}).get(f"{address(wave, name)}?lang=de").text
    assert f'<a class="back" href="/s/{wave.survey.slug}/de">' in page
