"""Planned tables by groups, from the draft to the public page, whatever the number of reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from aggregator.batches.sealing import seal_next_batch
from aggregator.models import Discard, RawReport, Release, SpentId
from aggregator.releases import drawing
from aggregator.releases.drawing import NOT_COUNTED, draw_release
from aggregator.releases.ledger import find_final_counts, reserve_planned, reserve_release
from aggregator.releases.noise import Sampler
from aggregator.releases.queries import grouped_cells
from aggregator.results.snapshots import update_snapshot
from aggregator.study_report.content import Table
from aggregator.study_report.sections.releases import write_releases
from aggregator.upkeep.verification.run import Verification
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question, copy_survey, plan_release
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Survey, Wave, today
from surveys.releasing.choice import NotReleasable
from surveys.releasing.noise import ReleasePlan
from surveys.respondent.label.label import describe_protection
from tests.support.deleting import delete_question
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.reading import text_of
from tests.support.releases.planned import draw_all
from tests.support.releases.public import read, rows_of, visit
from tests.support.waves import count_all, send_many

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]
BY_Q3 = ReleaseRequest(
    kind=ReleaseKind.TABLE, questions=("q1", "q2"), epsilon_hundredths=50, group="q3"
)
GROUPS = ["Night shift", "Day shift", "Nobody’s shift"]


def make_draft(**settings: Any) -> Survey:
    survey = make_survey(publication=Publication.PROTECTED, **settings)
    add_question(survey=survey, type="declared", text="Shift?", options=GROUPS)
    plan_release(survey=survey, request=BY_Q3)
    survey.refresh_from_db()
    return survey


def close_with(reports: int, wave: Wave) -> None:
    for kept in (RawReport, SpentId, Discard):
        kept.objects.all().delete()
    send_many(wave, [bytes([one % 2, 0, one // 2 % 2]) for one in range(reports)])
    count_all(wave)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> list[list[int]]:
    """Give every draw the same result, and record the counts that each draw received."""
    settings.RELEASES = tmp_path
    seen: list[list[int]] = []

    def draw(counts: Sequence[int]) -> list[int]:
        seen.append(list(counts))
        return [500] * len(counts)

    def prepare(_: ReleasePlan) -> Sampler:
        return Sampler(draw=draw, library="OpenDP 0.16.0")

    monkeypatch.setattr(drawing, "prepare_sampler", prepare)
    return seen


@pytest.mark.parametrize("reports", [0, 1, 9, 10, 30, 90])
def test_the_same_is_public_however_many_came(
    reports: int, drawn: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page equals that of a survey without reports. K is 10, C is 30; one group is empty."""
    pages = []
    for number, slug in ((0, "abcdefghijkm"), (reports, "bcdefghijkmn")):
        survey = make_draft(title="Same", slug=slug)
        wave = open_survey(survey=survey)
        before = visit(survey)
        assert "Table of Q1 and Q2 by Q3" in before
        close_with(number, wave)
        assert [(one.state, one.planned) for one in draw_all(wave)] == [("drawn", True)]
        assert sum(drawn[-1]) == 2 * number
        assert visit(survey) == before
        assert not RawReport.objects.filter(wave=wave).exists()
        assert list(Verification().run(Wave.objects.filter(pk=wave.pk))) == []
        tomorrow = timezone.now() + timedelta(days=1)
        with monkeypatch.context() as patch:
            patch.setattr("django.utils.timezone.now", lambda now=tomorrow: now)
            pages.append(
                [
                    read(survey, name=name)
                    .replace(survey.slug.encode(), b"SLUG")
                    .replace(wave.manifest_hash_hex.encode(), b"HASH")
                    for name in ("public_results", "public_results_csv")
                ]
            )
        assert "Nobody’s shift".encode() in pages[-1][0]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("reports", [9, 40])
def test_counts_by_groups_are_those_of_the_reports(reports: int, drawn: list[list[int]]) -> None:
    """Below K reports, only these counts are kept; otherwise, the batches give the counts."""
    wave = open_survey(survey=make_draft())
    close_with(reports, wave)
    counted = find_final_counts(wave)
    assert counted is not None
    cells = grouped_cells(counted, wave, BY_Q3)
    by_group = [len(range(reports)[group * 2 + code :: 4]) for group in (0, 1) for code in (0, 1)]
    assert cells["q1"] == [*by_group, 0, 0]
    assert cells["q2"] == [by_group[0] + by_group[1], 0, by_group[2] + by_group[3], 0, 0, 0]
    if reports < 10:
        assert Discard.objects.get().grouped == {BY_Q3.digest: cells}
    else:
        assert not Discard.objects.exists()
    draw_all(wave)
    assert drawn == [[*cells["q1"], *cells["q2"]]]


@pytest.mark.usefixtures("drawn")
def test_after_a_restore_that_lost_reports_the_batches_are_counted() -> None:
    wave = open_survey(survey=make_draft())
    send_many(wave, [b"\0\1\2"] * 40)
    assert seal_next_batch(wave_id=wave.pk)
    RawReport.objects.all().delete()  # as in a restored backup
    send_many(wave, [b"\1\1\0"] * 3)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    seal_next_batch(wave_id=wave.pk)
    assert Discard.objects.get().grouped == {}
    update_snapshot(wave_id=wave.pk)
    counted = find_final_counts(wave)
    assert counted is not None
    assert grouped_cells(counted, wave, BY_Q3)["q1"] == [0, 0, 0, 0, 30, 0]


@pytest.mark.usefixtures("drawn")
def test_a_table_whose_counts_are_missing_waits() -> None:
    wave = open_survey(survey=make_draft())
    close_with(9, wave)
    Discard.objects.update(grouped={})
    reserve_planned(wave_id=wave.pk)
    assert not draw_release(wave.releases.get().pk)
    waiting = wave.releases.get()
    assert (waiting.state, waiting.problem) == (Release.State.RESERVED, NOT_COUNTED)


@pytest.mark.usefixtures("drawn")
def test_readers_and_researchers_see_each_group() -> None:
    wave = open_survey(survey=make_draft())
    close_with(40, wave)
    (release,) = draw_all(wave)
    Release.objects.update(public_from=today())
    public = visit(wave.survey)
    for group in GROUPS:
        assert public.count(f'<bdi lang="en">{group}</bdi>') == 2  # once for each question
    rows = rows_of(wave.survey)
    assert [row["group_text"] for row in rows if row["question"] == "driven_after"] == GROUPS
    assert {(row["group_question"], row["base"]) for row in rows} == {
        ("shift", "everyone in the group who was asked")
    }
    client = sign_in(wave.survey.owner)
    page = client.get(reverse("aggregator:release", args=[wave.survey.slug, release.pk]))
    assert "Table of Q1 and Q2 by Q3" in text_of(page)
    assert "Q3: Day shift" in text_of(page)
    report = [part for part in write_releases(wave).parts if isinstance(part, Table)]
    assert [part.caption.partition(" (")[0] for part in report] == ["Release: Q1–Q2 by Q3"]
    headings = [row.cells[0].text for row in report[0].rows if row.is_heading]
    assert headings[2:4] == ["Q1 Have you ever driven after drinking?", "Q3 Day shift"]
    ledger = client.get(reverse("aggregator:release_ledger_csv", args=[wave.survey.slug]))
    assert b",table,driven_after children,shift," in ledger.content


@pytest.mark.usefixtures("drawn")
def test_only_planned_groups_can_be_released_and_again_if_they_were_lost() -> None:
    wave = open_survey(survey=make_draft())
    close_with(7, wave)
    other = ReleaseRequest(
        kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=10, group="q3"
    )
    with pytest.raises(NotReleasable, match="must be planned before the survey opens"):
        reserve_release(wave=wave, request=other)
    (release,) = draw_all(wave)
    assert reserve_release(wave=wave, request=BY_Q3) == release
    Release.objects.update(state=Release.State.LOST, result=None)
    client = sign_in(wave.survey.owner)
    page = client.get(reverse("aggregator:release", args=[wave.survey.slug, release.pk]))
    link = reverse("aggregator:release_new", args=[wave.survey.slug, "table"])
    query = "questions=q1&questions=q2&group=q3&epsilon=0.50&people=1000"
    assert f"{link}?{query}".replace("&", "&amp;") in page.content.decode()
    price = client.get(f"{link}?{query}")
    assert "for a group of 333 people, if 3 groups are equally large." in text_of(price)
    posted = {"questions": ["q1", "q2"], "group": "q3", "epsilon": "0.50", "people": "1000"}
    client.post(link, posted | {"price": BY_Q3.digest})
    again = Release.objects.exclude(pk=release.pk).get()
    assert draw_release(again.pk)
    again.refresh_from_db()
    assert (again.state, again.planned) == ("drawn", False)


def test_the_draft_plans_groups_and_the_manifest_freezes_them() -> None:
    survey = make_survey(publication=Publication.PROTECTED, people_expected=50)
    client = sign_in(survey.owner)
    address = reverse("surveys:planned_releases", args=[survey.slug])
    assert b"Groups of a table" not in client.get(address).content
    add_question(survey=survey, type="declared", text="Shift?", options=GROUPS)
    assert "By Q3 Shift?" in text_of(client.get(address))
    posted = {"kind": "table", "questions": ["q1", "q2"], "group": "q3", "epsilon": "0.50"}
    refused = client.post(address, posted | {"kind": "leader", "questions": ["q1"]})
    assert "Only a table can have groups." in text_of(refused)
    client.post(address, posted)
    words = text_of(client.get(address))
    assert "Table of Q1 and Q2 by Q3" in words
    # b = 2 / .5, so each of the three groups needs 40 people.
    assert "Readers see the groups in which about 40 people are asked. You expect fewer" in words
    survey.refresh_from_db()
    manifest = open_survey(survey=survey).description
    assert manifest.planned_releases == (BY_Q3,)
    assert parse_manifest(serialize_manifest(manifest)) == manifest
    copied = copy_survey(survey=survey)
    assert build_manifest(survey=copied, wave_number=1).planned_releases == (BY_Q3,)


def test_a_deleted_group_takes_its_table_along_and_another_type_prevents_the_opening() -> None:
    survey = make_draft()
    group = survey.questions.get(text="Shift?")
    group.type = "choice"
    group.flips = 25
    group.save()
    with pytest.raises(Exception, match="Groups must be the answers to a background question"):
        open_survey(survey=survey)
    assert "no longer include what was deleted" in delete_question(question=group)
    survey.refresh_from_db()
    assert open_survey(survey=survey).description.planned_releases == ()


def test_the_label_says_that_counts_are_kept_by_group() -> None:
    said = " ".join(describe_protection(build_manifest(survey=make_draft(), wave_number=1)).shows)
    assert (
        "only how often each code came is kept. This is also kept for each answer to Question "
        "3, so one person’s codes may stand alone."
    ) in said
