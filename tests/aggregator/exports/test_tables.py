"""CSV files: correct when read back, harmless in spreadsheets, and written with little memory."""

from __future__ import annotations

import csv
import io
import re
import tracemalloc
from typing import Any

import pytest
from django.urls import reverse

from aggregator.batches.packing import pack_reports
from aggregator.exports.csv_format import write_cell, write_row
from aggregator.exports.estimates import ESTIMATE_COLUMNS
from aggregator.exports.reports import BatchKey, find_rows, group_batches
from aggregator.models import Batch
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import field, process, send_codes, sign_in

DATABASE = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def download(survey: Survey, name: str) -> Any:
    return sign_in(survey.owner).get(reverse(f"aggregator:{name}", args=[survey.slug]))


def body(response: Any) -> str:
    return b"".join(response.streaming_content).decode("utf-8")


def rows(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body(response), newline="")))


class TestFiles:
    pytestmark = DATABASE

    def test_reports_reproduce_every_estimate(self) -> None:
        survey = field(make_launched_survey(), yes=[490, 812], total=1400)
        reports = rows(download(survey, "reports_csv"))
        estimates = rows(download(survey, "estimates_csv"))
        assert len(reports) == 1400
        assert list(reports[0]) == ["data", "driven_after_rnd", "children_rnd"]
        for row in estimates:
            shown = sum(report[f"{row['symbol']}_rnd"] == row["estimand"] for report in reports)
            assert int(row["count"]) == shown
            assert float(row["raw_share"]) == shown / 1400
            assert float(row["estimate"]) == pytest.approx(2 * shown / 1400 - 0.5, abs=1e-12)
        assert [(row["question"], row["estimand"]) for row in estimates] == [
            ("driven_after", "1"), ("driven_after", "0"), ("children", "1"), ("children", "0"),
        ]  # fmt: skip

    def test_estimates_cover_exactly_what_is_counted(self) -> None:
        wave = make_launched_survey()
        send_codes(wave, yes=[40, 50], total=100)
        process(wave)
        send_codes(wave, yes=[40, 50], total=100)
        from aggregator.batches.sealing import seal_next_batch

        seal_next_batch(wave_id=wave.pk)  # sealed, not yet estimated
        estimates = rows(download(wave.survey, "estimates_csv"))
        assert {row["n"] for row in estimates} == {"90"}

    def test_the_design_is_given_with_every_estimate(self) -> None:
        wave = make_launched_survey(cap=200)
        survey = field(wave, yes=[80, 100], total=200, ending=Wave.Ending.CAP)
        row = rows(download(survey, "estimates_csv"))[0]
        assert list(row) == list(ESTIMATE_COLUMNS)
        assert row["survey"] == survey.slug
        assert row["manifest_sha256"] == wave.manifest_hash_hex
        assert (row["state"], row["ending"]) == ("closed", "cap")
        assert (row["k"], row["threshold"], row["slope"]) == ("2", "3221225472", "0.5")
        assert (row["keep_probability"], row["other_probability"]) == ("0.75", "0.25")
        for column in ("epsilon", "question_epsilon", "statement_epsilon"):
            assert float(row[column]) == pytest.approx(1.0986122886681098)
        assert row["interval_method"] == "likelihood_ratio"
        assert row["interval_level"] == "0.95"
        assert float(row["critical_value"]) == pytest.approx(1.959964)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row["day"])
        assert row["status"] == "ok"
        assert float(row["interval_low"]) < 0.3 < float(row["interval_high"])

    @pytest.mark.parametrize("ending", [Wave.Ending.CAP, Wave.Ending.OWNER])
    def test_only_a_fixed_end_has_inner_intervals(self, ending: Wave.Ending) -> None:
        survey = field(make_launched_survey(cap=200), yes=[80, 100], total=200, ending=ending)
        for row in rows(download(survey, "estimates_csv")):
            inner = [value for name, value in row.items() if name.startswith("inner_")]
            assert len(inner) == 4
            assert all(inner) == (ending == Wave.Ending.CAP)
            assert any(inner) == all(inner)

    def test_an_estimate_below_0_stays_a_number_and_is_marked(self) -> None:
        survey = field(make_launched_survey(), yes=[240, 500], total=1000)
        row = rows(download(survey, "estimates_csv"))[0]
        assert row["estimate"] == repr(0.24 * 2 - 0.5)
        assert row["status"] == "outside_0_1"
        assert row["reliability"] == "publishable"

    def test_a_contradiction_is_marked(self) -> None:
        survey = field(make_launched_survey(), yes=[213, 500], total=1000)
        row = rows(download(survey, "estimates_csv"))[0]
        assert (row["status"], row["reliability"]) == ("contradiction", "not_shown")

    def test_an_alarm_is_marked_only_for_its_question(self) -> None:
        survey = field(make_launched_survey(), yes=[1000, 500], total=1000)
        statuses = [row["status"] for row in rows(download(survey, "estimates_csv"))]
        assert statuses == ["alarm", "alarm", "ok", "ok"]

    def test_text_that_a_spreadsheet_would_run_is_neutralized(self) -> None:
        wave = make_launched_survey(title="=1+1", questions=['@SUM("a";1), "b"\nc', "-0.013"])
        survey = field(wave, yes=[80, 100], total=200)
        estimates = rows(download(survey, "estimates_csv"))
        assert estimates[0]["title"] == "'=1+1"
        assert estimates[0]["question_text"] == '\'@SUM("a";1), "b"\nc'
        assert estimates[2]["question_text"] == "'-0.013"

    def test_file_names_say_what_the_file_is(self) -> None:
        wave = make_launched_survey()
        survey = field(wave, yes=[80, 100], total=200)
        for kind in ("reports", "codebook", "estimates"):
            response = download(survey, f"{kind}_csv")
            assert response["Content-Type"] == "text/csv; charset=utf-8"
            name = f"{survey.slug}_w1_{wave.manifest_hash_hex[:8]}_RANDOMIZED_{kind}.csv"
            assert response["Content-Disposition"] == f'attachment; filename="{name}"'

    def test_lines_end_in_crlf_without_a_byte_order_mark(self) -> None:
        survey = field(make_launched_survey(), yes=[80, 100], total=200)
        for kind in ("reports", "codebook", "estimates"):
            text = body(download(survey, f"{kind}_csv"))
            assert text[0] in "dcs"
            assert text.endswith("\r\n")
            assert text.count("\n") == text.count("\r\n")

    @pytest.mark.parametrize("kind", ["reports", "codebook", "estimates"])
    def test_a_page_says_that_there_is_nothing_to_export(self, kind: str) -> None:
        few = field(make_launched_survey(display_minimum=100), yes=[33, 17], total=99)
        response = download(few, f"{kind}_csv")
        assert response.status_code == 409
        assert "Too few responses to show." in response.content.decode()
        for survey in (make_survey(), make_launched_survey().survey):
            assert download(survey, f"{kind}_csv").status_code == 409

    def test_memory_use_stays_flat_for_any_number_of_batches(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("aggregator.exports.reports.ROWS_AT_ONCE", 10_000)
        wave = make_launched_survey(questions=[f"{n}?" for n in range(10)])
        survey = field(wave, yes=[20] * 10, total=40)
        view_results = exports_results(survey)
        packed = pack_reports([bytes(10)] * 10_000, ks=[2] * 10)
        Batch.objects.filter(wave=wave).delete()
        Batch.objects.bulk_create(
            Batch(
                wave=wave, number=number, size=10_000, packed=packed,
                content_hash=number.to_bytes(32, "big"), counts=[],
            )
            for number in range(1, 61)
        )  # fmt: skip
        view_results.snapshot.through_batch, view_results.snapshot.total = 60, 600_000
        tracemalloc.start()
        sent = sum(len(chunk) for chunk in find_rows(view_results).stream())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert sent > 600_000 * 21
        assert peak < 2_500_000


def exports_results(survey: Survey) -> Any:
    from aggregator.results.display import find_view

    return find_view(survey).results


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("plain", "plain"),
        ("=1+1", "'=1+1"),
        ("＝1+1", "'＝1+1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("+1", "'+1"),
        ("-0.013", "'-0.013"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("a;=1+1", "a;'=1+1"),
        ("a\r=1+1", '"a\r\'=1+1"'),
        ('a;"=1+1', '"a;\'""=1+1"'),
        ("a\n=1+1", '"a\n\'=1+1"'),
        ("\rx", '"\'\rx"'),
        ("\0x", "'x"),
        ('say "hi"', '"say ""hi"""'),
        ("a,b", '"a,b"'),
        ("a\nb", '"a\nb"'),
        ("", ""),
        (None, ""),
        (-0.013, "-0.013"),
        (0.1 + 0.2, "0.30000000000000004"),
        (-5, "-5"),
    ],
)
def test_a_cell_is_written_as_expected(value: str | float | None, cell: str) -> None:
    assert write_cell(value) == cell


def test_rows_read_back_as_written() -> None:
    cells = ['a "quoted", one', "two\r\nlines", "ünïcode", "", "plain"]
    [read] = csv.reader(io.StringIO(write_row(cells).decode(), newline=""))
    assert read == cells


def test_batches_are_read_in_runs_of_bounded_size() -> None:
    keys = [BatchKey(pk=pk, size=size) for pk, size in enumerate([40, 50, 20, 200, 1], start=1)]
    groups = [[key.pk for key in group] for group in group_batches(keys, limit=100)]
    assert groups == [[1, 2], [3], [4], [5]]


def test_column_names_are_plain() -> None:
    for name in ESTIMATE_COLUMNS:
        assert re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name)
