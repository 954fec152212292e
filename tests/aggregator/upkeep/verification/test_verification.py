"""Any change made outside the application is reported, and nothing else is."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aggregator import tasks
from aggregator.batches.packing import unpack_reports
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import request_comparison, run_comparison
from aggregator.models import Batch, Comparison, RawReport, Snapshot, SpentId, Upkeep
from aggregator.results.snapshots import update_snapshot
from aggregator.upkeep.verification import results, run
from aggregator.upkeep.verification.batches import rows_are_sorted
from aggregator.upkeep.verification.differences import Difference
from aggregator.upkeep.verification.results import WaveCheck
from aggregator.upkeep.verification.run import Verification
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import save_translation
from surveys.lifecycle.services import close_wave
from surveys.manifest.languages import list_texts
from surveys.models import Wave
from tests.support.factories import make_survey, open_survey
from tests.support.waves import make_wave, send, send_many

pytestmark = pytest.mark.django_db
ROWS = [bytes([i % 2, i % 3 == 0, i % 5 < 3]) for i in range(100)]
KS = [2, 2, 2]
CAP = 1000  # distinguishes the wave that is changed from the others


@pytest.fixture
def wave() -> Wave:
    """Make three batches and snapshots, a comparison of the second, and ten waiting reports."""
    wave = make_wave(cap=CAP)
    for number in range(1, 4):
        # The ids decide which ten reports keep waiting; the ids are the same in every run.
        for place, row in enumerate(ROWS[: 20 + 10 * number]):
            send(wave, row, report_id=hashlib.sha256(b"%d %d" % (number, place)).digest())
        seal_next_batch(wave_id=wave.pk)
        snapshot = update_snapshot(wave_id=wave.pk)
        if snapshot and number == 2:
            compare(wave, snapshot, Comparison.Kind.TABLE, "q1", "q2")
    assert {row.state for row in Comparison.objects.all()} == {Comparison.State.DONE}
    return wave


def compare(wave: Wave, snapshot: Snapshot, kind: Comparison.Kind, *names: str) -> None:
    asked = request_comparison(wave=wave, snapshot=snapshot, kind=kind, names=names)
    run_comparison(comparison_id=asked.pk)


@pytest.fixture
def finished() -> Wave:
    """Close a wave after its fixed number of people, and another below its minimum."""
    wave = make_wave(cap=40)
    send_many(wave, ROWS[:40])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    seal_next_batch(wave_id=wave.pk)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    compare(wave, snapshot, Comparison.Kind.PAIRS)
    small = make_wave()
    send_many(small, ROWS[:9])
    close_wave(wave_id=small.pk, ending=Wave.Ending.OWNER)
    seal_next_batch(wave_id=small.pk)
    return wave


def find() -> list[Difference]:
    return list(Verification().run(Wave.objects.order_by("pk")))


def test_the_results_of_the_workers_pass(wave: Wave, finished: Wave) -> None:
    run = Verification()
    assert list(run.run(Wave.objects.order_by("pk"))) == []
    assert (run.waves, run.batches, run.snapshots, run.comparisons) == (3, 4, 4, 2)
    assert run.reports == sum(Batch.objects.values_list("size", flat=True))


def change_batch(number: int, **fields: Any) -> None:
    assert Batch.objects.filter(wave__cap=CAP, number=number).update(**fields) == 1


def batch(number: int) -> Batch:
    return Batch.objects.get(wave__cap=CAP, number=number)


def snapshot(through: int) -> Snapshot:
    return Snapshot.objects.get(wave__cap=CAP, through_batch=through)


def flip_a_bit() -> None:
    packed = bytearray(batch(2).packed)
    packed[0] ^= 1
    change_batch(2, packed=bytes(packed))


def cut_the_bytes() -> None:
    change_batch(2, packed=bytes(batch(2).packed)[:-8])


def forge_the_hash() -> None:
    change_batch(2, content_hash=bytes(32))


def move_a_count() -> None:
    counts = batch(2).counts
    counts[1] = [counts[1][0] + 1, counts[1][1] - 1]
    change_batch(2, counts=counts)


def mangle_the_counts() -> None:
    change_batch(2, counts=[[1, 2], "many"])


def raise_the_size() -> None:
    change_batch(2, size=batch(2).size + 1)


def let_waves_change() -> None:
    """Remove the protection of the database against changes, as the owner of the database could."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER surveys_wave_frozen")


def raise_the_minimum() -> None:
    assert batch(1).size == 20
    let_waves_change()
    Wave.objects.filter(cap=CAP).update(minimum_batch=21, display_minimum=21)


def move_the_day_of_deletion() -> None:
    let_waves_change()
    Wave.objects.filter(cap=CAP).update(delete_on="2031-03-31")


def unsort_the_rows() -> None:
    stored = batch(2)
    rows = [bytes(r) for r in unpack_reports(bytes(stored.packed), size=stored.size, ks=KS)]
    rows[0], rows[-1] = rows[-1], rows[0]
    assert rows != sorted(rows)
    packed = pack_unsorted(rows)
    change_batch(2, packed=packed, content_hash=hashlib.sha256(packed).digest())


def pack_unsorted(rows: list[bytes]) -> bytes:
    """Pack like pack_reports, but in the given order."""
    bits = [sum(row[q] << place for place, row in enumerate(rows)) for q in range(3)]
    return b"".join(word.to_bytes(8 * -(-len(rows) // 64), "little") for word in bits)


def drop_a_batch() -> None:
    batch(2).delete()


def drop_the_newest_batch() -> None:
    batch(3).delete()


def change_a_total() -> None:
    Snapshot.objects.filter(pk=snapshot(2).pk).update(total=snapshot(2).total + 1)


def change_a_sum() -> None:
    counts = snapshot(2).counts
    counts[2][0] += 1
    Snapshot.objects.filter(pk=snapshot(2).pk).update(counts=counts)


def change_the_twelfth_digit() -> None:
    stored = snapshot(3)
    code = stored.estimates[1]["estimates"][0]["intervals"]["main"]
    code["high"] = float(f"{code['high']:.12f}") + 1e-12
    stored.save(update_fields=["estimates"])


def change_an_alarm() -> None:
    stored = snapshot(3)
    stored.estimates[0]["alarm"] = not stored.estimates[0]["alarm"]
    stored.save(update_fields=["estimates"])


def lose_a_waiting_report() -> None:
    raw = RawReport.objects.first()
    assert raw is not None
    raw.delete()


def lose_its_spent_id() -> None:
    waiting = RawReport.objects.values_list("pk", flat=True)[:1]
    assert SpentId.objects.filter(pk__in=list(waiting)).delete()[0] == 1


def lose_the_spent_id_of_a_sealed_report() -> None:
    waiting = RawReport.objects.values_list("pk", flat=True)
    sealed = SpentId.objects.filter(wave__cap=CAP).exclude(pk__in=list(waiting)).first()
    assert sealed is not None
    sealed.delete()


def change_the_manifest() -> None:
    wave = Wave.objects.get(cap=CAP)
    let_waves_change()
    Wave.objects.filter(pk=wave.pk).update(
        manifest=bytes(wave.manifest).replace(b"Question 1?", b"Question 7?")
    )


def empty_the_manifest() -> None:
    let_waves_change()
    Wave.objects.filter(cap=CAP).update(manifest=b"{}")


def change_words() -> None:
    change_translations(fr="{}", ar=7)


def lose_words_and_add_others() -> None:
    change_translations(fr=None, de="{}")


def change_translations(**words: Any) -> None:
    """Change the translations of an open wave; None removes the texts of a language."""
    survey = make_survey()
    texts = list_texts(build_manifest(survey=survey, wave_number=1))
    for language in ("fr", "ar"):
        known = {source.text: f"{language} {source.text}" for source in texts}
        save_translation(survey=survey, language=language, texts=known)
    wave = open_survey(survey=survey)
    assert find() == []
    let_waves_change()
    changed = {code: text for code, text in {**wave.words, **words}.items() if text is not None}
    Wave.objects.filter(pk=wave.pk).update(words=changed)


def change_a_table() -> None:
    table = Comparison.objects.get(kind=Comparison.Kind.TABLE)
    assert table.result is not None
    table.result["difference"]["estimate"] += 1e-6
    table.save(update_fields=["result"])


def rename_a_question_of_a_table() -> None:
    Comparison.objects.filter(kind=Comparison.Kind.TABLE).update(names=["q1", "q99"])


def add_an_unknown_name_to_all_pairs() -> None:
    pairs = Comparison.objects.get(kind=Comparison.Kind.PAIRS)
    assert pairs.result is not None
    pairs.result["mystery"] = 1
    pairs.save(update_fields=["result"])


def change_the_reports_of_all_pairs() -> None:
    pairs = Comparison.objects.get(kind=Comparison.Kind.PAIRS)
    assert pairs.result is not None
    pairs.result["n"] -= 1
    pairs.save(update_fields=["result"])


CHANGES: list[tuple[Callable[[], None], list[tuple[str, str]]]] = [
    (flip_a_bit, [("batch", r"batch 2: .*\(SHA-256\); its counts .*row \d+ of aggregator_batch")]),
    (cut_the_bytes, [("batch", r"batch 2: .*\(SHA-256\); its number of bytes does not match")]),
    (forge_the_hash, [("batch", r"batch 2: its bytes differ from those that were sealed")]),
    (move_a_count, [("batch", "batch 2: its counts do not match its bytes")]),
    (mangle_the_counts, [("batch", "batch 2: its counts do not match its bytes")]),
    (raise_the_size, [("reports", ": 1 too many"), ("batch", "batch 2: its counts")]),
    (
        raise_the_minimum,
        [
            ("wave", "its minimum_batch differs from the manifest; its display_minimum differs"),
            ("batch", "batch 1: it holds 20 reports, fewer than the minimum of 21"),
        ],
    ),
    (move_the_day_of_deletion, [("wave", "its delete_on differs from the manifest")]),
    (unsort_the_rows, [("batch", "batch 2: its reports are not in canonical order")]),
    (drop_a_batch, [("reports", ": 40 missing"), ("batch", ": batch 2 is missing")]),
    (drop_the_newest_batch, [("reports", ": 50 missing"), ("batch", ": batch 3 is missing")]),
    (change_a_total, [("snapshot", "snapshot through batch 2: its total")]),
    (change_a_sum, [("snapshot", "snapshot through batch 2: its counts")]),
    (change_the_twelfth_digit, [("snapshot", "snapshot through batch 3: its estimates")]),
    (change_an_alarm, [("snapshot", "snapshot through batch 3: its estimates")]),
    (lose_a_waiting_report, [("reports", ": 1 missing")]),
    (
        lose_its_spent_id,
        [("reports", ": 1 too many"), ("reports", "never marked as spent: 1")],
    ),
    (lose_the_spent_id_of_a_sealed_report, [("reports", ": 1 too many")]),
    (change_the_manifest, [("wave", "the manifest differs from the one")]),
    (empty_the_manifest, [("wave", "the manifest cannot be read")]),
    (change_a_table, [("comparison", r"comparison \d+ \(Two questions: q1,q2\): its figures")]),
    (rename_a_question_of_a_table, [("comparison", r"\(Two questions: q1,q99\): its figures")]),
    (add_an_unknown_name_to_all_pairs, [("comparison", r"\(All pairs: all\): its figures")]),
    (change_the_reports_of_all_pairs, [("comparison", r"\(All pairs: all\): its figures")]),
]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (
            change_words,
            [
                "the translation into العربية differs from the one in the manifest (SHA-256)",
                "the translation into Français differs from the one in the manifest (SHA-256)",
            ],
        ),
        (
            lose_words_and_add_others,
            [
                "there is a translation into Deutsch, which the manifest does not name",
                "the translation into Français, which the manifest names, is missing",
            ],
        ),
    ],
)
def test_translations_are_checked_against_the_manifest(
    change: Callable[[], None], faults: list[str]
) -> None:
    change()
    [difference] = find()
    assert difference.kind == "wave"
    assert f"wave 1: {'; '.join(faults)}. It is row " in str(difference)


@pytest.mark.parametrize(("change", "expected"), CHANGES, ids=lambda v: getattr(v, "__name__", ""))
def test_each_change_and_nothing_else_is_reported(
    wave: Wave, finished: Wave, change: Callable[[], None], expected: list[tuple[str, str]]
) -> None:
    change()
    found = find()
    assert [difference.kind for difference in found] == [kind for kind, _ in expected]
    for difference, (_, pattern) in zip(found, expected, strict=True):
        survey = finished.survey if "all_pairs" in change.__name__ else wave.survey
        assert str(difference).startswith(f"Survey {survey.slug}, wave 1")
        assert re.search(pattern, str(difference)), str(difference)


def test_a_final_snapshot_is_checked_against_the_interval_for_one_look(finished: Wave) -> None:
    Snapshot.objects.filter(wave=finished).update(final=False)
    assert [difference.kind for difference in find()] == ["snapshot"]


def test_only_the_counts_of_an_older_methods_snapshot_are_checked(wave: Wave) -> None:
    change_the_twelfth_digit()
    Snapshot.objects.update(method_version=1)
    assert find() == []
    change_a_sum()
    assert [difference.number for difference in find()] == [2]


def test_rows_are_sorted_by_the_first_question_first() -> None:
    for rows, right in (
        ([b"\0\1\1", b"\1\0\0"], True),
        ([b"\1\0\0", b"\0\1\1"], False),
        ([b"\0\1\0", b"\0\0\1"], False),
        ([b"\1\1\1"] * 70, True),
        ([b"\0\0\0"] * 69 + [b"\0\0\1"], True),
        ([b"\0\0\1"] + [b"\0\0\0"] * 69, False),
    ):
        assert rows_are_sorted(pack_unsorted(rows), size=len(rows), ks=KS) == right, rows
    bytes_a_row = [3, 4]
    columns = bytes([0, 2, 2, 1, 0, 3])
    assert rows_are_sorted(columns, size=3, ks=bytes_a_row)
    assert not rows_are_sorted(bytes([0, 2, 2, 1, 3, 0]), size=3, ks=bytes_a_row)


def test_sealing_closing_and_estimating_during_a_run_is_not_reported(
    wave: Wave, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = WaveCheck._check_snapshot

    def work_first(self: Any, pk: int) -> Any:
        if wave.batches.count() == 3:
            send_many(wave, ROWS)
            close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
            while seal_next_batch(wave_id=wave.pk):
                pass
            update_snapshot(wave_id=wave.pk)
        return check(self, pk)

    monkeypatch.setattr(WaveCheck, "_check_snapshot", work_first)
    assert find() == []
    assert Snapshot.objects.filter(final=True, through_batch__gt=3).count() == 1
    assert find() == []


def test_closing_a_wave_between_its_batches_and_its_snapshot_is_not_reported(
    wave: Wave, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest snapshot is computed again as final, through the same batch."""
    RawReport.objects.all().delete()
    SpentId.objects.all().delete()
    check = WaveCheck._check_snapshot

    def close_first(self: Any, pk: int) -> Any:
        if Wave.objects.get(pk=wave.pk).is_open:
            close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
            update_snapshot(wave_id=wave.pk)
            assert Snapshot.objects.get(through_batch=3).final
        return check(self, pk)

    monkeypatch.setattr(WaveCheck, "_check_snapshot", close_first)
    assert {difference.kind for difference in find()} == {"reports"}  # because of the deleted ids


def test_verifying_holds_no_transaction_and_reads_few_batches_at_a_time(
    wave: Wave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "BATCHES_AT_ONCE", 2)
    with CaptureQueriesContext(connection) as queries:
        assert find() == []
    statements = [query["sql"] for query in queries]
    assert all(statement.lstrip().startswith("SELECT") for statement in statements)
    assert len([text for text in statements if '"packed"' in text]) == 2  # for three batches


def test_the_command_says_that_everything_agrees(
    wave: Wave, finished: Wave, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("verify")
    said = capsys.readouterr().out
    assert said.startswith("150 reports in 4 batches of 3 waves, 4 snapshots and 2 comparisons")
    found = Upkeep.objects.get(job=Upkeep.Job.VERIFY).found
    assert found == {"differences": [], "count": 0, "accepted": {}}
    call_command("verify", "--quiet")
    assert capsys.readouterr().out == ""


def test_the_command_prints_each_difference_and_fails(
    wave: Wave, capsys: pytest.CaptureFixture[str]
) -> None:
    flip_a_bit()
    lose_a_waiting_report()
    with pytest.raises(CommandError, match="Differences found: 2") as failure:
        call_command("verify", "--quiet")
    assert failure.value.returncode == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert Upkeep.objects.get(job=Upkeep.Job.VERIFY).found["count"] == 2


def test_a_single_survey_can_be_verified(wave: Wave, finished: Wave) -> None:
    lose_a_waiting_report()
    call_command("verify", finished.survey.slug, "--quiet")
    assert not Upkeep.objects.exists()  # only a part of the data was verified
    with pytest.raises(CommandError, match="Differences found: 1"):
        call_command("verify", wave.survey.slug, "--wave", "1")
    with pytest.raises(CommandError, match="There is no launched survey named nosuchsurvey"):
        call_command("verify", "nosuchsurvey")
    with pytest.raises(CommandError, match="There is no wave 7"):
        call_command("verify", wave.survey.slug, "--wave", "7")


def test_the_task_stores_what_it_found_and_logs_it(
    wave: Wave, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "NIGHT", range(24))
    flip_a_bit()
    with caplog.at_level(logging.ERROR, "aggregator"):
        tasks.verify()
    found = Upkeep.objects.get(job=Upkeep.Job.VERIFY).found
    assert found["count"] == 1
    assert [f"verify: {text}" for text in found["differences"]] == caplog.messages


def test_the_first_of_very_many_differences_are_kept_and_all_are_counted(
    wave: Wave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "NIGHT", range(24))
    monkeypatch.setattr(run, "MOST_STORED", 2)
    let_waves_change()
    Wave.objects.update(minimum_batch=51, display_minimum=51)
    tasks.verify()
    found = Upkeep.objects.get(job=Upkeep.Job.VERIFY).found
    assert (len(found["differences"]), found["count"]) == (2, 4)


def test_a_loss_is_accepted_once_and_a_further_one_is_reported(
    wave: Wave, capsys: pytest.CaptureFixture[str]
) -> None:
    RawReport.objects.filter(wave=wave).delete()  # as in a backup without raw reports
    with pytest.raises(CommandError, match="Differences found: 1"):
        call_command("verify")
    assert "10 missing. If this database was restored" in capsys.readouterr().out
    call_command("verify", "--accept-loss")
    assert "10 reports are lost. Accepted." in capsys.readouterr().out
    for _ in range(2):  # the nightly run keeps accepted losses
        call_command("verify")
    assert Upkeep.objects.get(job=Upkeep.Job.VERIFY).found["count"] == 0
    Batch.objects.filter(wave=wave).order_by("-number")[0].delete()
    with pytest.raises(CommandError):
        call_command("verify")
    assert "60 missing, of which 10 are known to be lost" in capsys.readouterr().out
