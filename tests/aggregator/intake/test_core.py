"""The intake core: every kind of report, accepted or refused, and its stored data."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from aggregator.batches.sealing import seal_next_batch
from aggregator.intake import core
from aggregator.intake.core import Reply, handle
from aggregator.intake.wire import MAX_BODY_BYTES, encode_report
from aggregator.models import RawReport, SpentId
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import MOST_SYMBOLS
from surveys.models import Wave
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db
HEADERS = {"host": "localhost:8000", "content-type": "application/json"}
ID = bytes(range(32))
OTHER_ID = bytes(range(1, 33))


def body_for(wave: Wave, *, report_id: bytes = ID, symbols: bytes = b"\1\0\1") -> bytes:
    return encode_report(
        manifest_hash=bytes(wave.manifest_hash), report_id=report_id, symbols=symbols
    )


def post(body: bytes, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return handle(method="POST", headers={**HEADERS, **named}, body=body)


def slug_of(reply: Reply) -> str:
    assert ("Content-Type", "application/problem+json") in reply.headers
    content = json.loads(reply.body)
    assert content["status"] == reply.status
    assert content["title"]
    assert content["detail"]
    return str(content["type"]).removeprefix("/problems/")


def stored() -> list[tuple[bytes, bytes]]:
    return [(bytes(r.id), bytes(r.symbols)) for r in RawReport.objects.order_by("id")]


def test_a_new_report_is_committed_and_answered_201() -> None:
    wave = make_wave()
    reply = post(body_for(wave))
    assert (reply.status, json.loads(reply.body)) == (201, {"status": "recorded"})
    assert stored() == [(ID, b"\1\0\1")]
    assert [bytes(s.id) for s in SpentId.objects.all()] == [ID]


def test_the_largest_survey_that_can_be_opened_fits_exactly() -> None:
    body = encode_report(manifest_hash=ID, report_id=ID, symbols=bytes(MOST_SYMBOLS))
    assert len(body) == MAX_BODY_BYTES


def test_an_identical_retry_is_answered_200_and_stored_once() -> None:
    wave = make_wave()
    post(body_for(wave))
    reply = post(body_for(wave))
    assert (reply.status, json.loads(reply.body)) == (200, {"status": "already-recorded"})
    assert stored() == [(ID, b"\1\0\1")]


def test_the_same_id_with_other_symbols_is_refused_and_changes_nothing() -> None:
    wave = make_wave()
    post(body_for(wave))
    assert slug_of(post(body_for(wave, symbols=b"\0\0\0"))) == "id-already-used"
    assert stored() == [(ID, b"\1\0\1")]


def test_the_same_id_for_another_survey_is_refused() -> None:
    first, second = make_wave(), make_wave()
    post(body_for(first))
    assert slug_of(post(body_for(second))) == "id-already-used"


def test_a_retry_after_sealing_is_answered_200_and_not_counted_again() -> None:
    wave = make_wave()
    ids = [bytes([number]) * 32 for number in range(20)]
    for report_id in ids:
        post(body_for(wave, report_id=report_id))
    assert seal_next_batch(wave_id=wave.pk) is not None
    waiting = {bytes(report.pk) for report in RawReport.objects.all()}
    sealed = next(report_id for report_id in ids if report_id not in waiting)
    assert post(body_for(wave, report_id=sealed)).status == 200
    assert RawReport.objects.count() == len(waiting)


def test_a_retry_after_closing_is_answered_200_but_a_new_report_410() -> None:
    wave = make_wave()
    post(body_for(wave))
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert post(body_for(wave)).status == 200
    assert slug_of(post(body_for(wave, report_id=OTHER_ID))) == "wave-closed"


def test_a_report_after_the_closing_date_is_refused_even_before_a_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wave = make_wave(closes_at=timezone.now() + timedelta(minutes=1))
    later = timezone.now() + timedelta(minutes=2)
    monkeypatch.setattr("aggregator.intake.store.timezone.now", lambda: later)
    assert slug_of(post(body_for(wave))) == "wave-closed"


def test_a_report_before_the_opening_date_is_told_when_to_come_back() -> None:
    wave = make_wave(opens_at=timezone.now() + timedelta(minutes=10))
    reply = post(body_for(wave))
    assert reply.status == 425
    assert slug_of(reply) == "wave-not-open-yet"
    assert 590 <= int(dict(reply.headers)["Retry-After"]) <= 601


def test_a_wave_closed_before_it_opened_does_not_ask_people_to_come_back() -> None:
    wave = make_wave(opens_at=timezone.now() + timedelta(minutes=10))
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert slug_of(post(body_for(wave))) == "wave-closed"
    assert slug_of(post(body_for(wave, symbols=b"\1"))) == "wave-closed"


def test_an_unknown_manifest_is_refused() -> None:
    make_wave()
    body = encode_report(manifest_hash=bytes(32), report_id=ID, symbols=b"\1\0\1")
    assert slug_of(post(body)) == "unknown-manifest"


@pytest.mark.parametrize("symbols", [b"\1", b"\1\0", b"\1\0\1\0"])
def test_a_wrong_number_of_symbols_is_refused(symbols: bytes) -> None:
    assert slug_of(post(body_for(make_wave(), symbols=symbols))) == "wrong-length"


@pytest.mark.parametrize("symbols", [b"\2\0\1", b"\1\0\77"])
def test_a_symbol_out_of_range_is_refused(symbols: bytes) -> None:
    assert slug_of(post(body_for(make_wave(), symbols=symbols))) == "symbol-out-of-range"


def test_the_sentinel_is_refused_where_every_question_is_asked() -> None:
    body = body_for(make_wave()).replace(b'"symbols":"BAB"', b'"symbols":"BA~"')
    assert slug_of(post(body)) == "symbol-out-of-range"


@pytest.mark.parametrize(
    "mangle",
    [
        lambda body: b"",
        lambda body: b"not json",
        lambda body: b"[]",
        lambda body: body + b"\n",
        lambda body: body.replace(b",", b", "),
        lambda body: body.replace(b'"format":1', b'"format":2'),
        lambda body: body.replace(b'"symbols"', b'"answers"'),
        lambda body: body[:-1] + b',"extra":1}',
        lambda body: b'{"id":"","manifest":"","format":1,"symbols":"A"}',
        lambda body: body.replace(b'"BAB"', b'"BA="'),
        lambda body: body.replace(b'"BAB"', '"BÄB"'.encode()),
        lambda body: body.decode().encode("utf-16"),
    ],
)
def test_any_other_spelling_is_refused(mangle) -> None:  # type: ignore[no-untyped-def]
    assert slug_of(post(mangle(body_for(make_wave())))) == "malformed-report"
    assert stored() == []


@pytest.mark.parametrize(
    ("part", "misspelled"),
    [
        # A repeated key: some parsers take the first value, others the last.
        (b'"format":1', b'"format":1,"format":1'),
        (b'"manifest":', b'"manifest":"x","manifest":'),
        (b'"id":', b'"id":"x","id":'),
        (b'"symbols":', b'"symbols":"AAA","symbols":'),
        # Numbers, and words that JSON parsers may read as 1 or as another number.
        *(
            (b'"format":1', b'"format":' + value)
            for value in (b"NaN", b"Infinity", b"1.0", b"1e0", b"01", b"true", b"null", b'"1"')
        ),
        (b'"BAB"', b"NaN"),
        # Bytes that are not UTF-8: a lone continuation byte, an overlong A, half a surrogate pair,
        # an invalid byte.
        *(
            (b'"BAB"', b'"B' + wrong + b'B"')
            for wrong in (b"\x80", b"\xc1\x81", b"\xed\xa0\x80", b"\xff")
        ),
        # Ids of 0, 31 and 33 bytes in valid base64url, and of lengths that base64url cannot have.
        *(
            (b'"' + name + b'":"[^"]*"', b'"' + name + b'":"' + b"A" * length + b'"')
            for name in (b"manifest", b"id")
            for length in (0, 1, 42, 44, 45)
        ),
    ],
)
def test_bodies_that_lenient_parsers_accept_are_refused(part: bytes, misspelled: bytes) -> None:
    body, times = re.subn(part, lambda _: misspelled, body_for(make_wave()))
    assert times == 1
    assert slug_of(post(body)) == "malformed-report"
    assert stored() == []


def test_a_second_spelling_of_the_same_id_is_refused() -> None:
    body = body_for(make_wave())
    spelled = body.split(b'"id":"')[1][:43]
    other = spelled[:-1] + bytes([spelled[-1] + 1])  # differs in the two unused bits only
    assert slug_of(post(body.replace(spelled, other))) == "malformed-report"


def test_an_oversized_body_is_refused() -> None:
    assert slug_of(post(b"x" * 4097)) == "too-large"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(method: str) -> None:
    reply = handle(method=method, headers=HEADERS, body=b"")
    assert slug_of(reply) == "method-not-allowed"
    assert ("Allow", "POST") in reply.headers


@pytest.mark.parametrize(
    ("headers", "slug"),
    [
        ({"content_type": "text/plain"}, "wrong-content-type"),
        ({"content_type": "application/x-www-form-urlencoded"}, "wrong-content-type"),
        ({"content_type": ""}, "wrong-content-type"),
        ({"host": "evil.example"}, "wrong-host"),
        ({"host": ""}, "wrong-host"),
        ({"origin": "https://evil.example"}, "cross-site"),
        ({"origin": "null"}, "cross-site"),
        ({"origin": "http://["}, "cross-site"),
        ({"origin": "http://localhost:8000/path"}, "cross-site"),
        ({"origin": "http://localhost:8000/, http://evil.example"}, "cross-site"),
        ({"content_type": "application/json; a=b, text/plain"}, "wrong-content-type"),
        ({"sec_fetch_site": "cross-site"}, "cross-site"),
        ({"sec_fetch_site": "none"}, "cross-site"),
    ],
)
def test_requests_from_other_sites_are_refused(headers: dict[str, str], slug: str) -> None:
    assert slug_of(post(body_for(make_wave()), **headers)) == slug
    assert stored() == []


def test_requests_from_our_own_page_are_accepted() -> None:
    own = {"origin": "http://localhost:8000", "sec_fetch_site": "same-origin"}
    assert post(body_for(make_wave()), **own).status == 201


def test_with_https_a_page_over_plain_http_is_another_site(settings: Any) -> None:
    settings.HTTPS = True
    wave = make_wave()
    assert slug_of(post(body_for(wave), origin="http://localhost:8000")) == "cross-site"
    assert stored() == []
    assert post(body_for(wave), origin="https://localhost:8000").status == 201


def test_an_unreachable_database_is_answered_503_with_retry_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*args: object) -> None:
        raise OperationalError("connection refused")

    wave = make_wave()
    monkeypatch.setattr(core, "record_report", fail)
    reply = post(body_for(wave))
    assert slug_of(reply) == "database-unavailable"
    assert int(dict(reply.headers)["Retry-After"]) > 0


def test_a_failing_commit_is_not_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_wave()
    monkeypatch.setattr("aggregator.intake.store._KEEP_SQLITE", "INSERT INTO nowhere VALUES {rows}")
    assert post(body_for(wave)).status == 503
    assert (RawReport.objects.count(), SpentId.objects.count()) == (0, 0)


def test_no_time_address_or_serial_is_kept_with_a_report() -> None:
    assert {f.name for f in RawReport._meta.get_fields()} == {"id", "wave", "symbols"}
    assert {f.name for f in SpentId._meta.get_fields()} == {"id", "wave"}
