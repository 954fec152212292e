"""Deleting a closed survey: deleted rows, kept rows, and concurrent work."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from aggregator import tasks
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons import jobs
from aggregator.comparisons.jobs import request_comparison, run_comparison
from aggregator.intake import waves as intake_waves
from aggregator.intake.core import Reply, handle
from aggregator.intake.wire import encode_report
from aggregator.models import (
    Comparison,
    Discard,
    RawReport,
    Release,
    ReleaseLedger,
    SpentId,
    Upkeep,
)
from aggregator.results.snapshots import update_snapshot
from aggregator.upkeep.deleting import delete_survey
from aggregator.upkeep.verification.differences import Difference, name_wave
from aggregator.upkeep.verification.run import Verification, accept_losses, store_differences
from surveys.authoring.services import copy_survey
from surveys.lifecycle.errors import NotClosed
from surveys.models import (
    DeletedWave,
    Survey,
    Wave,
)
from tests.support.waves import make_full_survey, make_wave, rows_about, send_many

pytestmark = pytest.mark.django_db
ID = bytes(range(32))


def post(manifest_hash: bytes, *, report_id: bytes = ID) -> Reply:
    body = encode_report(manifest_hash=manifest_hash, report_id=report_id, symbols=b"\1\0\1")
    headers = {"host": "localhost", "content-type": "application/json"}
    return handle(method="POST", headers=headers, body=body)


def test_every_row_of_the_survey_goes_and_one_for_each_manifest_stays() -> None:
    survey = make_full_survey()
    hashes = {bytes(wave.manifest_hash) for wave in survey.waves.all()}
    before = rows_about(Wave) | rows_about(Survey)
    assert len(before) == 23
    assert all(before.values()), before
    delete_survey(survey=survey)
    after = rows_about(Wave) | rows_about(Survey)
    assert not any(after.values()), after
    assert not Survey.objects.exists()
    assert {bytes(left.manifest_hash) for left in DeletedWave.objects.all()} == hashes
    for left in DeletedWave.objects.all():
        assert (left.slug, left.deleted_on) == (survey.slug, timezone.now().date())
    names = {field.name for field in DeletedWave._meta.get_fields()}
    assert names == {"id", "manifest_hash", "slug", "deleted_on"}


def test_other_surveys_keep_everything() -> None:
    survey = make_full_survey()
    other = make_wave()
    send_many(other, [b"\1\0\1"] * 25)
    seal_next_batch(wave_id=other.pk)
    delete_survey(survey=survey)
    assert (other.batches.get().size, SpentId.objects.count()) == (15, 25)
    assert RawReport.objects.filter(wave=other).count() == 10
    assert list(Verification().run(Wave.objects.all())) == []


def make_difference(wave: Wave) -> Difference:
    where = name_wave(wave)
    return Difference(kind="reports", where=where, number=1, finding="1 missing", remedy="")


def test_what_verifying_found_in_the_survey_goes_and_the_rest_stays() -> None:
    """Findings about the deleted survey name that survey and count its reports."""
    survey, other = make_full_survey(), make_wave()
    send_many(other, [b"\1\0\1"])
    RawReport.objects.all().delete()
    accept_losses(Wave.objects.all())
    waves = [*survey.waves.all(), other]
    store_differences([make_difference(one) for one in waves])
    delete_survey(survey=survey)
    found = Upkeep.objects.get(job=Upkeep.Job.VERIFY).found
    assert [name_wave(other) in text for text in found["differences"]] == [True]
    assert (found["count"], found["accepted"]) == (1, {str(other.pk): 1})


@pytest.mark.parametrize("state", ["draft", "open"])
def test_a_survey_that_is_not_closed_is_refused(state: str) -> None:
    survey = make_wave().survey
    survey = survey if state == "open" else copy_survey(survey=survey)
    with pytest.raises(NotClosed):
        delete_survey(survey=survey)
    assert Survey.objects.filter(pk=survey.pk).exists()
    assert not DeletedWave.objects.exists()


def test_a_second_deletion_finds_nothing() -> None:
    survey = make_full_survey()
    again = Survey.objects.get(pk=survey.pk)
    delete_survey(survey=survey)
    with pytest.raises(Survey.DoesNotExist):
        delete_survey(survey=again)


@pytest.mark.parametrize("known", [True, False], ids=["a process that knew it", "a new process"])
def test_reports_are_told_that_the_survey_was_deleted(known: bool) -> None:
    survey = make_full_survey()
    hashes = [bytes(wave.manifest_hash) for wave in survey.waves.all()]
    sent = [bytes([wave.pk % 250]) * 32 for wave in survey.waves.all()]
    assert len(hashes) == 2
    for manifest_hash in hashes:
        assert json.loads(post(manifest_hash).body)["type"] == "/problems/wave-closed"
    delete_survey(survey=survey)
    if not known:
        intake_waves._terms.clear()
    for manifest_hash, before in zip(hashes, sent, strict=True):
        for report_id in (ID, before):  # one that was kept, and one that was acknowledged
            reply = post(manifest_hash, report_id=report_id)
            assert (reply.status, json.loads(reply.body)["type"]) == (
                410,
                "/problems/survey-deleted",
            )
    assert not RawReport.objects.exists()
    assert not SpentId.objects.exists()


def test_a_manifest_that_never_existed_is_still_unknown() -> None:
    delete_survey(survey=make_full_survey())
    reply = post(bytes(32))
    assert (reply.status, json.loads(reply.body)["type"]) == (422, "/problems/unknown-manifest")


@pytest.mark.django_db(transaction=True)
def test_workers_store_nothing_about_a_survey_that_was_deleted_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = make_full_survey()
    wave = survey.waves.electronic().get()
    compute = update_snapshot
    wave.snapshots.all().delete()

    def delete_first(*, wave_id: int) -> None:
        delete_survey(survey=survey)
        compute(wave_id=wave_id)

    monkeypatch.setattr(tasks, "update_snapshot", delete_first)
    tasks.estimate_wave(wave.pk)
    assert not Wave.objects.exists()
    assert not any(rows_about(Wave).values())
    assert seal_next_batch(wave_id=wave.pk) is None


def test_a_comparison_that_was_being_computed_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = make_full_survey()
    Comparison.objects.all().delete()
    wave = survey.waves.electronic().get()
    comparison = request_comparison(
        wave=wave, snapshot=wave.snapshots.get(), kind=Comparison.Kind.TABLE, names=["q1", "q2"]
    )
    compute = jobs._compute

    def delete_first(row: Comparison) -> object:
        delete_survey(survey=survey)
        return compute(row)

    monkeypatch.setattr(jobs, "_compute", delete_first)
    run_comparison(comparison_id=comparison.pk)
    assert not Comparison.objects.exists()


def test_verify_agrees_with_a_deleted_survey_and_with_one_deleted_during_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delete_survey(survey=make_full_survey())
    call_command("verify", stdout=StringIO())
    survey = make_full_survey()
    for model in (Discard, Release, ReleaseLedger):  # the manifest plans none of these
        model._default_manager.all().delete()
    assert list(Verification().run(Wave.objects.all())) == []

    check = Verification._check

    def delete_first(verification: Verification, wave: Wave) -> object:
        if Survey.objects.filter(pk=survey.pk).exists():
            delete_survey(survey=survey)
        return check(verification, wave)

    monkeypatch.setattr(Verification, "_check", delete_first)
    assert list(Verification().run(Wave.objects.all())) == []


@pytest.mark.django_db(transaction=True)
def test_the_database_still_refuses_to_change_the_waves_of_other_surveys() -> None:
    survey = make_full_survey()
    other = make_wave()
    delete_survey(survey=survey)
    with (
        pytest.raises(Exception, match="a launched wave cannot change"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE surveys_wave SET manifest = %s WHERE id = %s", [b"{}", other.pk])
