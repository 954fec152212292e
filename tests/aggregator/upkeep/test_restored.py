"""A database restored from yesterday's backup while a survey is open."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from aggregator.intake.store import Outcome, record_report
from aggregator.intake.wire import Upload
from aggregator.results.display import find_view
from aggregator.upkeep.backups import copy_database
from aggregator.upkeep.verification.run import Verification
from scripts.attacks.linker.server import django_on
from scripts.attacks.researcher.ground import close, work
from surveys.models import Wave
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db(transaction=True)


def upload(wave: Wave, numbers: range) -> set[Outcome]:
    """Send the reports of the browsers with these numbers, always with the same bytes."""
    outcomes = {
        record_report(
            Upload(
                manifest_hash=bytes(wave.manifest_hash),
                report_id=number.to_bytes(32, "big"),
                symbols=bytes([number % 2, 1, 0]),
            )
        )
        for number in numbers
    }
    work()
    return outcomes


def count_shown(wave: Wave) -> int:
    snapshot = find_view(wave.survey).snapshot
    return snapshot.total if snapshot else 0


def find_differences() -> list[str]:
    return [str(found) for found in Verification().run(Wave.objects.order_by("pk"))]


def test_looks_go_on_and_reports_sent_again_count_once(tmp_path: Path) -> None:
    wave = make_wave()
    upload(wave, range(150))
    yesterday = tmp_path / "yesterday.sqlite3"
    copy_database(
        source=Path(settings.DATABASES["default"]["NAME"]), target=yesterday, raw_reports=True
    )
    shown_yesterday = count_shown(wave)
    upload(wave, range(150, 400))
    shown_today = count_shown(wave)
    with django_on(f"sqlite:///{yesterday}"):
        restored = Wave.objects.get()
        assert count_shown(restored) == shown_yesterday < shown_today
        # First, browsers repeat reports that the backup contains, then others repeat reports that
        # were sent after the backup.
        assert upload(restored, range(100, 150)) == {Outcome.ALREADY_RECORDED}
        assert count_shown(restored) == shown_yesterday
        assert upload(restored, range(300, 340)) == {Outcome.RECORDED}
        assert upload(restored, range(300, 340)) == {Outcome.ALREADY_RECORDED}
        shown_again = count_shown(restored)
        assert shown_yesterday < shown_again <= 190
        assert find_differences() == []
        close(restored)
        assert count_shown(restored) == 190
        assert find_differences() == []
