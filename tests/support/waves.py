"""Waves and reports for tests of intake, sealing, estimating and deleting."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import ForeignObjectRel, Model
from django.utils import timezone

from aggregator.background.rows_files import make_rows_file
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import request_comparison, run_comparison
from aggregator.intake.store import record_report
from aggregator.intake.wire import Upload
from aggregator.models import (
    Comparison,
    Discard,
    RawReport,
    Release,
    ReleaseLedger,
    Rendering,
    SealedHalf,
)
from aggregator.results.snapshots import update_snapshot
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.models import (
    FormerMember,
    Import,
    PlannedComparison,
    PlannedRelease,
    Role,
    StoredText,
    Survey,
    Translation,
    Wave,
)
from surveys.people.invitations import invite
from surveys.people.teams import attach, create_team
from tests.support.factories import make_launched_survey
from tests.support.fielding import process


def make_wave(*, questions: int = 3, **settings: Any) -> Wave:
    """Open a survey with this many questions, called "Question 1?" and so on."""
    texts = [f"Question {number}?" for number in range(1, questions + 1)]
    return make_launched_survey(questions=texts, **settings)


def send(wave: Wave, symbols: bytes, *, report_id: bytes | None = None) -> None:
    record_report(
        Upload(
            manifest_hash=bytes(wave.manifest_hash),
            report_id=report_id or secrets.token_bytes(32),
            symbols=symbols,
        )
    )


def send_many(wave: Wave, rows: list[bytes]) -> None:
    for row in rows:
        send(wave, row)


def make_protected_wave(*, rows: Sequence[bytes] = (), **settings: Any) -> Wave:
    """Open a survey that publishes protected releases only; it closes tomorrow."""
    tomorrow = timezone.now() + timedelta(days=1)
    usual: dict[str, Any] = {"closes_at": tomorrow, "people_expected": 1000}
    wave = make_wave(publication=Publication.PROTECTED, **usual | settings)
    send_many(wave, list(rows))
    return wave


def make_released_wave(*, rows: Sequence[bytes] = (), **settings: Any) -> Wave:
    """Make a wave as above that has ended, and whose reports have all been counted."""
    wave = make_protected_wave(rows=rows or [b"\0\1\0", b"\1\1\0"] * 20, **settings)
    count_all(wave)
    return wave


def count_all(wave: Wave) -> None:
    """Close a wave, seal its reports and count them."""
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    process(wave)
    wave.refresh_from_db()


def make_full_survey(**settings: Any) -> Survey:
    """Make a closed survey with rows in every table, including those about coins."""
    wave = make_wave(coins=True, **settings)
    for each in Wave.objects.filter(survey=wave.survey):
        send(each, b"\1\0\1", report_id=bytes([each.pk % 250]) * 32)
        send_many(each, [bytes([i % 2, i % 3 == 0, 1]) for i in range(40)])
        seal_next_batch(wave_id=each.pk)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    for each in Wave.objects.filter(survey=wave.survey):
        update_snapshot(wave_id=each.pk)
        make_rows_file(wave_id=each.pk)
        Rendering.objects.create(wave=each, through_batch=1, final=True, name="chart.180mm.svg")
        Discard.objects.create(wave=each, size=3)
        StoredText.objects.create(wave=each, name=f"page {each.pk}", key=b"", compressed=b"")
        SealedHalf.objects.get_or_create(wave=each)
        ReleaseLedger.objects.create(wave=each, cap_hundredths=100, delta_cap_nanos=0)
        Release.objects.create(
            wave=each,
            key=f"{each.pk:032x}",
            request={},
            through_batch=1,
            epsilon_hundredths=50,
            public_from=timezone.now().date(),
        )
        run_comparison(
            comparison_id=request_comparison(
                wave=each,
                snapshot=each.snapshots.get(),
                kind=Comparison.Kind.TABLE,
                names=["q1", "q2"],
            ).pk
        )
    questions = list(wave.survey.questions.order_by("pk")[:2])
    PlannedComparison.objects.create(
        survey=wave.survey, answers=[[one.pk, ""] for one in questions]
    )
    PlannedRelease.objects.create(
        survey=wave.survey, kind="table", questions=[questions[0].pk], epsilon_hundredths=50
    )
    owner = wave.survey.owner
    Import.objects.create(owner=owner, survey=wave.survey, name="questions.xlsx")
    attach(survey=wave.survey, team=create_team(name="Field", account=owner.pk), by=owner.pk)
    FormerMember.objects.create(survey=wave.survey, account=owner)
    invite(address="new@example.org", role=Role.VIEWER, by=owner.pk, survey=wave.survey)
    Translation.objects.create(survey=wave.survey, language="fr", texts={"On the road": "En route"})
    assert RawReport.objects.filter(wave=wave).exists()  # not all are sealed yet
    return wave.survey


def rows_about(model: type[Model]) -> dict[str, int]:
    """Count each table's rows that refer to a survey or a wave, even in tables added later."""
    return {
        field.related_model._meta.db_table: field.related_model._base_manager.filter(
            **{f"{field.field.name}__isnull": False}
        ).count()
        for field in model._meta.get_fields(include_hidden=True)
        if isinstance(field, ForeignObjectRel)
    }
