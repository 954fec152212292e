"""Nothing that anyone can request of a protected survey depends on how many reports came."""

from __future__ import annotations

import re
import secrets
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from aggregator.intake.store import record_report
from aggregator.intake.wire import Upload, encode_report
from aggregator.models import Batch, Discard, RawReport, Snapshot, SpentId
from aggregator.releases.ledger import reserve_release
from aggregator.upkeep.due import find_due_work, remember_due_work
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Survey, Wave
from surveys.respondent.client_files import client_version
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process
from tests.support.routes import all_routes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
NO = b"\0\0\0"
YES = b"\1\1\1"
# Matches tokens, which differ in every reply, and the random id in the form for two coins.
TOKENS = re.compile(rb'(name="(csrfmiddlewaretoken|report)" value=|"X-CSRFToken": ?|nonce=)"[^"]*"')
Replies = dict[str, tuple[int, tuple[tuple[str, str], ...], bytes]]


def make_study(publication: Publication = Publication.PROTECTED) -> Wave:
    """Open a survey with everything that has a URL: coins, a translation, a declared question."""
    survey = make_survey(
        publication=publication,
        release_epsilon_hundredths=300,
        coins=True,
        minimum_batch=10,
        display_minimum=20,
    )
    add_question(survey=survey, type="declared", text="Department?", options=["A", "B"])
    texts = {text: f"{text} (de)" for text in ("On the road", "Department?", "A", "B")}
    texts |= {question.text: f"{question.text} (de)" for question in survey.questions.all()}
    survey.translations.create(language="de", texts=texts)
    return open_survey(survey=survey)


def list_addresses(survey: Survey) -> list[str]:
    wave = survey.find_wave()
    assert wave is not None
    coins = survey.waves.manual().get()
    values: dict[str, list[object]] = {
        "slug": [survey.slug],
        "digest": [wave.manifest_hash_hex, coins.manifest_hash_hex],
        "version": [client_version()],
        "language": ["de", "fr"],
        "code": ["de"],
        "pk": [survey.questions.get(position=1).pk],
        "question": ["q3"],
        "kind": ["table"],
        "name": ["chart.180mm.svg"],
    }
    found = []
    for route in all_routes():
        if not route.name.startswith(("surveys:", "aggregator:")):
            continue
        if not set(route.parameters) <= values.keys():
            continue
        choices: list[dict[str, object]] = [{}]
        for name in route.parameters:
            choices = [{**one, name: value} for one in choices for value in values[name]]
        for chosen in choices:
            try:
                found.append(reverse(route.name, kwargs=chosen))
            except NoReverseMatch:
                continue
    return found


def visit(survey: Survey) -> Replies:
    """Fetch every URL of the survey as a visitor does."""
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    replies: Replies = {}
    for path in list_addresses(survey):
        for query in ("", "?lang=de"):
            reply = client.get(path + query)
            headers = tuple(sorted(reply.headers.items()))
            replies[path + query] = reply.status_code, headers, TOKENS.sub(b"", reply.getvalue())
    return replies


def ask_intake(survey: Survey, *, known: bytes) -> list[tuple[int, bytes]]:
    """Send a known report again: unchanged, with other codes, and for another wave.

    Then send two invalid reports.
    """
    wave, coins = survey.find_wave(), survey.waves.manual().get()
    assert wave is not None
    tries = [(wave, NO, known), (wave, YES, known), (coins, NO[:2], known)]
    tries += [(wave, NO[:2], secrets.token_bytes(32)), (wave, b"\7\7\7", known)]
    client = Client(headers={"host": "localhost"})
    said = []
    for sent, symbols, report_id in tries:
        body = encode_report(
            manifest_hash=bytes(sent.manifest_hash), report_id=report_id, symbols=symbols
        )
        reply = client.post(reverse("aggregator:intake"), body, content_type="application/json")
        said.append((reply.status_code, reply.content))
    return said


def send(wave: Wave, symbols: bytes, *, report_id: bytes | None = None) -> bytes:
    report_id = report_id or secrets.token_bytes(32)
    record_report(
        Upload(manifest_hash=bytes(wave.manifest_hash), report_id=report_id, symbols=symbols)
    )
    return report_id


def send_both(survey: Survey, number: int) -> None:
    wave, coins = survey.find_wave(), survey.waves.manual().get()
    assert wave is not None
    for _ in range(number):
        send(wave, YES)
        send(coins, YES[:2])


def work(survey: Survey) -> None:
    """Record what is due, as a sweep does, and then do it, as its tasks do."""
    remember_due_work(find_due_work(), now=timezone.now())
    for wave in survey.waves.all():
        process(wave)


def sweep() -> None:
    remember_due_work(find_due_work(), now=timezone.now())


def compare(before: Replies, after: Replies, *, at: str) -> None:
    changed = [path for path, reply in before.items() if after[path] != reply]
    assert changed == [], f"{at}: {changed}"


def test_no_address_of_an_open_survey_changes_with_its_reports_and_seals() -> None:
    wave = make_study()
    survey = wave.survey
    sweep()
    before = visit(survey)
    assert len(before) > 100
    statuses = {status for status, _headers, _body in before.values()}
    assert {200, 302, 404} <= statuses
    for number in (1, 20, 40, 200):
        send_both(survey, number)
        sweep()
        compare(before, visit(survey), at=f"{number} more wait")
        work(survey)
        compare(before, visit(survey), at=f"{number} more were processed")
    assert wave.batches.count() > 1
    assert wave.snapshots.count() > 1


def test_no_address_of_a_closed_survey_shows_how_many_came() -> None:
    """Compare pages before and after the count, with no, too few, just enough and many reports."""
    wave = make_study()
    survey = wave.survey
    sweep()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    expected = visit(survey)
    for number in (0, 1, 9, 15, 25, 300):
        for kept in (RawReport, SpentId, Snapshot, Batch, Discard):
            kept.objects.all().delete()
        Wave.objects.update(state=Wave.State.OPEN, ending="", closed_at=None)
        send_both(survey, number)
        sweep()
        close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
        compare(expected, visit(survey), at=f"{number}, not counted")
        work(survey)
        assert Discard.objects.exists() == (number < 10)  # even if nobody came
        assert Batch.objects.exists() == (number >= 10)
        compare(expected, visit(survey), at=f"{number}, counted")


def test_a_page_of_exact_results_does_show_them() -> None:
    """This shows that the comparisons above would find a page that depends on reports."""
    wave = make_study(Publication.EXACT)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    path = reverse("aggregator:public_results", args=[wave.survey.slug])
    before = Client().get(path).content
    Wave.objects.update(state=Wave.State.OPEN, ending="", closed_at=None)
    send_both(wave.survey, 40)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    work(wave.survey)
    assert Client().get(path).content != before


def test_a_reservation_shows_only_from_the_next_day_on(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_study()
    survey = wave.survey
    send_both(survey, 40)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    work(survey)
    before = visit(survey)
    request = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=100)
    release = reserve_release(wave=wave, request=request)
    compare(before, visit(survey), at="reserved")
    assert release.public_from == timezone.now().date() + timedelta(days=1)


def test_the_intake_answers_alike_before_and_after_a_seal() -> None:
    """Otherwise, strangers could repeat their report with other codes and see when it is sealed."""
    wave = make_study()
    survey = wave.survey
    known = send(wave, NO)
    before = ask_intake(survey, known=known)
    assert [status for status, _ in before] == [200, 200, 409, 422, 200]
    send_both(survey, 40)
    assert ask_intake(survey, known=known) == before
    for _ in range(20):  # each seal takes most of the waiting reports, chosen by chance
        work(survey)
        if not RawReport.objects.filter(pk=known).exists():
            break
        send_both(survey, 10)
    assert not RawReport.objects.filter(pk=known).exists()
    assert ask_intake(survey, known=known) == before
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    waiting = ask_intake(survey, known=known)
    work(survey)
    assert ask_intake(survey, known=known) == waiting


def test_an_unprotected_survey_still_compares_the_codes_that_wait() -> None:
    wave = open_survey(survey=make_survey(coins=True, questions=("A?", "B?", "C?")))
    known = send(wave, NO)
    assert [status for status, _ in ask_intake(wave.survey, known=known)][:2] == [200, 409]
