"""The public page of a protected survey changes with the calendar and never with reports."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from aggregator.batches.sealing import seal_next_batch
from aggregator.models import Release
from aggregator.publishing.public_releases import PublicRelease, list_public
from aggregator.results.snapshots import update_snapshot
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave, today
from tests.support.fielding import field, process, send_codes, sign_in
from tests.support.releases.public import (
    NAMES,
    protect,
    read,
    read_all,
    read_as_kept,
    rows_of,
    set_clock,
    visit,
)
from tests.support.releases.stored import plan, store, store_table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
TOUCHED = ("aggregator_raw_report", "aggregator_batch", "aggregator_snapshot", "aggregator_spent")


def test_before_any_release_the_page_says_nothing_about_how_many_came() -> None:
    """The page says nothing while the survey is open, after its close, or after the count."""
    wave = protect()
    survey = wave.survey
    empty = read_all(survey)
    assert "appear here at 00:00 UTC on a later day" in visit(survey)
    assert rows_of(survey) == []
    send_codes(wave, yes=[60, 30], total=200)
    assert read_all(survey) == empty
    process(wave)
    assert read_all(survey) == empty
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    while seal_next_batch(wave_id=wave.pk):
        assert read_all(survey) == empty
    update_snapshot(wave_id=wave.pk)
    assert wave.snapshots.filter(final=True).exists()
    assert read_all(survey) == empty


@pytest.mark.parametrize("reports", [0, 5, 40])
def test_a_survey_of_few_or_none_looks_like_any_other(reports: int) -> None:
    wave = protect(display_minimum=50)
    empty = read_all(wave.survey)
    field(wave, yes=[reports, 0], total=reports)
    assert read_all(wave.survey) == empty


def test_between_two_seals_not_a_byte_changes() -> None:
    wave = protect()
    send_codes(wave, yes=[60, 30], total=100)
    process(wave)
    store_table(wave)
    shown = read_all(wave.survey)
    send_codes(wave, yes=[10, 30], total=100)
    process(wave)
    assert wave.batches.count() >= 2
    assert read_all(wave.survey) == shown


def test_how_many_took_part_shows_through_noise_only() -> None:
    """Two surveys that differ by one report but store the same result yield the same bytes."""
    pages = []
    for reports in (100, 101):
        wave = protect(title="One more")
        survey = field(wave, yes=[60, 30], total=reports)
        before = read_all(survey)
        store_table(wave, seed=7)
        pages.append([hide_names(survey, content) for content in (*before, *read_all(survey))])
    assert pages[0] == pages[1]
    assert "noise included" in pages[0][2]


def hide_names(survey: Survey, content: bytes) -> str:
    """Replace a survey's slug and manifest hash, which differ between the two surveys."""
    wave = survey.find_wave()
    assert wave is not None
    text = content.decode().replace(survey.slug, "SLUG")
    return text.replace(wave.manifest_hash_hex, "HASH").replace(wave.manifest_hash_hex[:8], "HASH")


def test_pages_and_files_read_no_report_batch_or_snapshot_and_no_account() -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    store_table(wave)
    client = sign_in(survey.owner)
    for name in NAMES:
        with CaptureQueriesContext(connection) as queries:
            response = client.get(reverse(f"aggregator:{name}", args=[survey.slug]))
        touched = " ".join(query["sql"] for query in queries)
        for table in (*TOUCHED, "django_session", "accounts_user"):
            assert f'FROM "{table}' not in touched
            assert f'JOIN "{table}' not in touched
        assert response.content == read(survey, name=name)


def test_releases_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone may request the page as often as they like."""
    rendered: list[str] = []

    def count(*args: Any, **kwargs: Any) -> list[PublicRelease]:
        rendered.append("once")
        return list_public(*args, **kwargs)

    monkeypatch.setattr("aggregator.publishing.public_page.list_public", count)
    wave = protect()
    store_table(wave, "q1", epsilon=20)
    assert len({read_as_kept(wave.survey) for _ in range(3)}) == len(rendered) == 1
    store_table(wave, "q2", epsilon=20)
    assert b"Table of Q2" in read_as_kept(wave.survey)
    assert len(rendered) == 2


def test_no_exact_number_is_on_the_page_or_in_the_file() -> None:
    """Of 4,217 reports in batches, 1,234 say Yes; neither these nor batch sizes are shown."""
    wave = protect()
    survey = field(wave, yes=[1234, 30], total=4217)
    store_table(wave, "q1", "q2", people=4217)
    snapshot = wave.snapshots.get(final=True)
    exact = {4217, 1234, *(batch.size for batch in wave.batches.all())}
    assert snapshot.total in exact
    for content in read_all(survey):
        # Whole numbers are compared, not the digits of a hash.
        numbers = re.findall(r"(?<![\w.])\d[\d,]*(?![\w.])", content.decode())
        told = {int(number.replace(",", "")) for number in numbers}
        assert not exact & told
        for word in ("batches of", "burst", "within seconds", "probably did not all come"):
            assert word not in content.decode()


def test_only_the_frozen_closing_date_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    closes = timezone.now() + timedelta(days=40)
    wave = protect(closes_at=closes)
    survey = field(wave, yes=[60, 30], total=100)
    page = visit(survey)
    assert f"{closes.day} {closes:%B %Y}" in page
    now = timezone.now()
    assert f"{now.day} {now:%B %Y}" not in page


def test_the_page_runs_no_script_and_names_no_researcher() -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    store_table(wave)
    page = visit(survey)
    for forbidden in ("<script", "<form", "<button", "style=", survey.owner.email):
        assert forbidden not in page
    assert f"/surveys/{survey.slug}" not in page


def test_nothing_of_a_protected_survey_can_be_had_without_signing_in() -> None:
    """Only the owner may open the pages, files and API with exact results."""
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    store_table(wave)
    for name in ("results", "results_panel", "estimates_csv", "reports_csv", "data", "report"):
        response = Client().get(reverse(f"aggregator:{name}", args=[survey.slug]))
        assert response.status_code == 302
    for name in ("api_survey", "api_results", "api_estimates_csv", "api_reports_csv"):
        response = Client().get(reverse(f"aggregator:{name}", args=[survey.slug]))
        assert response.status_code in (401, 403)
    for name in ("report.pdf", "report.docx", "chart-q1.svg"):
        response = Client().get(reverse("aggregator:file", args=[survey.slug, name]))
        assert response.status_code == 302


def test_a_release_appears_at_midnight_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    store_table(wave, public_from=datetime(2027, 3, 2, tzinfo=UTC).date())
    set_clock(monkeypatch, datetime(2027, 3, 1, 23, 59, 59, tzinfo=UTC))
    empty = read_all(survey)
    assert rows_of(survey) == []
    set_clock(monkeypatch, datetime(2027, 3, 2, tzinfo=UTC))
    shown = read_all(survey)
    assert shown != empty
    assert "published on 2 March 2027" in visit(survey)
    set_clock(monkeypatch, datetime(2027, 9, 9, 12, tzinfo=UTC))
    assert read_all(survey) == shown


def test_a_clock_that_jumps_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    release = store_table(wave, epsilon=50, public_from=datetime(2027, 3, 2, tzinfo=UTC).date())
    waiting = plan(wave.description, "q2", epsilon=10)
    store(waiting, wave, public_from=datetime(2027, 3, 2, tzinfo=UTC).date())
    stored = list(Release.objects.order_by("pk").values())
    pages: dict[int, list[bytes]] = {}
    for year in (2027, 2031, 2026, 2031, 2027):
        set_clock(monkeypatch, datetime(year, 6, 1, tzinfo=UTC))
        found = read_all(survey)
        assert pages.setdefault(year, found) == found
        assert list(Release.objects.order_by("pk").values()) == stored
    assert pages[2027] == pages[2031] != pages[2026]
    assert release.state == Release.State.DRAWN


@pytest.mark.parametrize("state", [Release.State.RESERVED, Release.State.LOST])
def test_what_was_not_drawn_is_not_shown(state: Release.State) -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    empty = read_all(survey)
    release = plan(wave.description, "q1", epsilon=10)
    release.state = state
    store(release, wave)
    assert read_all(survey) == empty


def test_asking_for_a_release_changes_nothing_before_its_day() -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    store_table(wave, epsilon=20)
    shown = read_all(survey)
    tomorrow = today() + timedelta(days=1)
    store(plan(wave.description, "q2", epsilon=10), wave, public_from=tomorrow)
    assert read_all(survey) == shown
