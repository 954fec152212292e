"""Until the test, nothing shows the sealed half: no page, file, API, mail, command or result.

The first two tests replace every code in some batches, declared codes too, have everything computed
again, and compare all that can be read.
"""

from __future__ import annotations

import re
from io import StringIO
from unittest import mock

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from aggregator.background.rows_files import find_waves_without_rows_file
from aggregator.comparisons.claims import Claim, add_claim
from aggregator.comparisons.jobs import (
    find_comparisons_to_run,
    request_comparison,
    run_comparison,
)
from aggregator.exports.worker_files import find_recipe
from aggregator.models import Batch, Comparison, Rendering
from aggregator.publishing.public_page import store_public_page
from aggregator.renderings.jobs import find_renderings_to_run, run_rendering
from aggregator.results.display import Standing, find_view
from aggregator.results.groups import halves
from aggregator.results.snapshots import newest_snapshot, update_snapshot
from aggregator.upkeep.deletion_dates import send_next_deletion_mail
from aggregator.upkeep.due import find_due_work
from surveys.authoring.services import add_question
from surveys.comparing.choice import NotComparable
from surveys.manifest.question_types import QuestionType
from surveys.models import HistoryRow, Survey, Verb, Wave
from surveys.models import Kind as Object
from tests.support.factories import make_survey, open_survey
from tests.support.fetching import TOKENS, fetch_everything
from tests.support.fielding import process, send_people, sign_in
from tests.support.halves import (
    divide,
    list_differences,
    make_divided_wave,
    open_sealed_half,
    rewrite,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
Kind = Comparison.Kind
GROUPED = ["q1", "q4.0"]
FILES = ("chart-q1.85mm.svg", "chart-q3.85mm.svg", "report.docx")
CHOICES: tuple[tuple[Comparison.Kind, list[str]], ...] = (
    (Kind.TABLE, ["q1", "q2"]),
    (Kind.TABLE, GROUPED),
    (Kind.REGRESSION, ["q1", "q2", "q3.1"]),
    (Kind.PAIRS, []),
)

SECONDS = re.compile(r"[\d,.]+ s(econds)?\b")  # the time since the last sweep changes


def make_open_wave() -> Wave:
    survey = make_survey(sealed_half=True)
    add_question(survey=survey, text="How?", type=QuestionType.CHOICE, options=["a", "b", "c"])
    add_question(
        survey=survey, text="Ward?", type=QuestionType.DECLARED, options=["North", "South"]
    )
    return open_survey(survey=survey)


def list_held(wave: Wave) -> list[Batch]:
    return list(Batch.every.filter(wave=wave, is_held=True))


def observe(wave: Wave) -> dict[str, object]:
    """Compute everything again, then read all that anybody can read and all that is stored."""
    wave.snapshots.update(method_version=0)
    update_snapshot(wave_id=wave.pk)
    Comparison.objects.update(state="waiting", result=None, attempts=0)
    Rendering.objects.update(state="waiting", content=None, attempts=0)
    while (found := find_comparisons_to_run().first()) is not None:
        run_comparison(comparison_id=found.pk)
    owner, visitor = sign_in(wave.survey.owner), Client()
    mail.outbox.clear()
    paths = [reverse("aggregator:file", args=[wave.survey.slug, name]) for name in FILES]
    for path in paths:
        owner.get(path)
    while (rendering := find_renderings_to_run().first()) is not None:
        run_rendering(rendering_id=rendering.pk, find_recipe=find_recipe)
    Survey.objects.update(deletion_mail_at="2026-01-01T00:00Z", delete_on="2099-01-01")
    send_next_deletion_mail()
    return {
        "owner": fetch_everything(owner, wave),
        "visitor": fetch_everything(visitor, wave),
        "files": [(path, TOKENS.sub(b"", owner.get(path).getvalue())) for path in paths],
        "comparisons": fetch_comparisons(owner, wave),
        "results": list(Comparison.objects.order_by("pk").values("kind", "names", "result")),
        "snapshots": list(wave.snapshots.values()),
        "due": find_due_work(),
        "mail": [one.body for one in mail.outbox],
        "status": run("status"),
        "privacy_check": run("privacy_check"),
        "verify": run("verify"),
        "differences": list_differences(),
    }


def fetch_comparisons(client: Client, wave: Wave) -> list[tuple[int, bytes]]:
    names = ("comparison_panel", "comparison_csv")
    replies = [
        client.get(reverse(f"aggregator:{name}", args=[wave.survey.slug, one.pk]))
        for one in Comparison.objects.order_by("pk")
        for name in names
    ]
    return [(reply.status_code, TOKENS.sub(b"", reply.getvalue())) for reply in replies]


def run(command: str) -> str:
    out = StringIO()
    try:
        call_command(command, stdout=out, stderr=out)
    except (SystemExit, Exception) as error:
        out.write(str(error))
    return SECONDS.sub("", out.getvalue())


def find_changed(before: dict[str, object], after: dict[str, object]) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def test_no_code_of_the_sealed_half_changes_anything_until_its_test() -> None:
    with mock.patch.object(halves, "EQUATIONS_OF_A_CLAIM", 0):
        wave = divide(make_open_wave())
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    for kind, names in CHOICES:
        request_comparison(wave=wave, snapshot=snapshot, kind=kind, names=names)
    chosen = [
        Claim(names=("q1", "q2"), is_higher=True),
        Claim(names=("q1", "q4.0"), is_higher=True, than=30),
    ]
    for claim in chosen:
        add_claim(wave=wave, claim=claim)
    observe(wave)  # this call also requests comparisons
    before = observe(wave)
    assert before["differences"] == []
    rewrite(list_held(wave), shift=1)
    assert find_changed(before, observe(wave)) == set()
    # What can be read does depend on reports: at first on those of the open half, and after the
    # test on all reports.
    rewrite(list(wave.batches.all()), shift=1)
    changed = find_changed(before, observe(wave))
    assert changed >= {"owner", "files", "comparisons", "results", "snapshots"}
    open_sealed_half(wave, *chosen)
    written = HistoryRow.objects.filter(slug=wave.survey.slug).values_list("verb", "kind")
    assert {(Verb.CHANGED, Object.CLAIM), (Verb.ASKED_TO_OPEN, Object.SEALED_HALF)} <= set(written)
    held = list(Batch.every.filter(wave=wave).order_by("-number")[:5])
    opened = observe(wave)
    assert opened["differences"] == []
    rewrite(held, shift=1)
    assert find_changed(opened, observe(wave)) >= {"owner", "files", "comparisons", "snapshots"}


def test_no_code_at_all_changes_anything_before_the_end() -> None:
    wave = make_open_wave()
    send_people(wave, people=600)
    process(wave)
    assert find_view(wave.survey).standing == Standing.AT_CLOSE
    observe(wave)  # the first call verifies
    before = observe(wave)
    rewrite(list(wave.batches.all()), shift=1)
    assert find_changed(before, observe(wave)) == {"snapshots"}  # rows that nothing shows


def test_rows_groups_and_the_public_page_wait_for_the_test() -> None:
    wave = divide(make_open_wave())
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    store_public_page(wave)
    assert not find_waves_without_rows_file().exists()
    results = find_view(wave.survey).results
    assert results is not None
    assert (results.has_rows, results.declared) == (False, ())
    owner = sign_in(wave.survey.owner)
    for name in ("reports_csv", "api_reports_csv"):
        assert owner.get(reverse(f"aggregator:{name}", args=[wave.survey.slug])).status_code == 409
    for kind, names in ((Kind.TABLE, GROUPED), (Kind.BREAKDOWN, ["q4"])):
        with pytest.raises(NotComparable):
            request_comparison(wave=wave, snapshot=snapshot, kind=kind, names=names)
    with pytest.raises(NotComparable, match="too few people in a background group"):
        add_claim(wave=wave, claim=Claim(names=("q1", "q4.0"), is_higher=True))
    open_sealed_half(wave)
    process(wave)
    last = newest_snapshot(wave)
    assert last is not None
    assert (last.final, last.total) == (True, 600)
    rows = owner.get(reverse("aggregator:reports_csv", args=[wave.survey.slug]))
    assert len(rows.getvalue().splitlines()) == 601


def test_no_figure_of_a_half_describes_fewer_people_than_the_crowd() -> None:
    """Subtracting one half from all reports gives the other, so both must reach the crowd."""
    wave = make_divided_wave(people=400, people_expected=400, display_minimum=160)
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    assert wave.crowd == 160
    assert 160 <= snapshot.total <= 240
