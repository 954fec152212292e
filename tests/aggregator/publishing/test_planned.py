"""Planned releases: frozen before opening, and charged and drawn at the close, however few came."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from aggregator.batches.sealing import find_waves_to_seal, seal_next_batch
from aggregator.models import Batch, Discard, RawReport, Release, ReleaseLedger, SpentId
from aggregator.releases import drawing
from aggregator.releases.counters import append_key, find_file
from aggregator.releases.drawing import draw_release, give_up, suspend
from aggregator.releases.figures import ChosenFigure, Unsure, read_shown
from aggregator.releases.ledger import (
    find_waves_to_release,
    read_account,
    reserve_planned,
    reserve_release,
)
from aggregator.releases.noise import Sampler
from aggregator.results.snapshots import update_snapshot
from aggregator.upkeep.release_folder import RECORD_LOST
from aggregator.upkeep.verification.run import Verification
from surveys.authoring import drafts, services
from surveys.authoring.drafts import build_manifest
from surveys.authoring.planned.release_card import build_release_card
from surveys.authoring.services import copy_survey, plan_release
from surveys.lifecycle.services import close_wave
from surveys.manifest.languages import NAMES
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Survey, Wave, today
from surveys.releasing.choice import NotReleasable, find_planned_problem
from surveys.releasing.noise import Mechanism, ReleasePlan
from tests.support.deleting import delete_question
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.releases.many_kinds import translate_all
from tests.support.releases.planned import draw_all
from tests.support.releases.public import read, visit
from tests.support.releases.stored import finish, plan
from tests.support.waves import count_all, send_many

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]
LIBRARY = "OpenDP 0.16.0"


def ask(
    *questions: str, kind: ReleaseKind = ReleaseKind.TABLE, epsilon: int = 30
) -> ReleaseRequest:
    return ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=epsilon)


PLAN = (ask("q1", "q2"), ask("q1", kind=ReleaseKind.LEADER))


def make_draft(*planned: ReleaseRequest, **settings: Any) -> Survey:
    return make_survey(publication=Publication.PROTECTED, planned=planned, **settings)


def close_with(reports: int, wave: Wave) -> None:
    for kept in (RawReport, SpentId, Discard):
        kept.objects.all().delete()
    send_many(wave, [bytes([one % 2, 0]) for one in range(reports)])
    count_all(wave)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    """Give every draw the same result, so that everything else that readers see can be compared."""
    settings.RELEASES = tmp_path

    def prepare(plan: ReleasePlan) -> Sampler:
        names_one = plan.mechanism == Mechanism.PERMUTE_AND_FLIP
        return Sampler(draw=lambda counts: 0 if names_one else [500] * len(counts), library=LIBRARY)

    monkeypatch.setattr(drawing, "prepare_sampler", prepare)


def test_the_manifest_freezes_the_plan_and_a_copy_keeps_it() -> None:
    survey = make_draft(*PLAN)
    wave = open_survey(survey=survey)
    assert wave.description.planned_releases == PLAN
    assert wave.planned_releases == 2
    assert parse_manifest(bytes(wave.manifest)) == wave.description
    assert serialize_manifest(wave.description) == bytes(wave.manifest)
    copied = build_manifest(survey=copy_survey(survey=survey), wave_number=1)
    assert copied.planned_releases == PLAN


@pytest.mark.usefixtures("still")
def test_the_same_is_public_however_many_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page equals the page of a survey that nobody answered. K is 10, and C is 30."""
    expected: list[bytes] = []
    for number, last in zip((0, 0, 1, 9, 10, 29, 30, 90), "mnpqrstu", strict=True):
        survey = make_draft(*PLAN, title="Same", slug=f"abcdefghijk{last}")
        translate_all(survey, "ar", "de", "es", "fr", "zh-hans")
        wave = open_survey(survey=survey)
        before = visit(survey)
        assert "chosen before it opened" in before
        assert "Table of Q1 and Q2" in before
        close_with(number, wave)
        made = draw_all(wave)
        assert [(one.state, one.planned) for one in made] == [("drawn", True)] * 2
        assert visit(survey) == before
        assert Batch.objects.filter(wave=wave).exists() == (number >= 10)
        assert not RawReport.objects.filter(wave=wave).exists()
        assert list(Verification().run(Wave.objects.filter(pk=wave.pk))) == []
        tomorrow = timezone.now() + timedelta(days=1)
        with monkeypatch.context() as patch:
            patch.setattr("django.utils.timezone.now", lambda now=tomorrow: now)
            shown = [
                content.replace(survey.slug.encode(), b"SLUG").replace(
                    wave.manifest_hash_hex.encode(), b"HASH"
                )
                for content in (
                    read(survey, name="public_results_csv"),
                    *(read(survey, language=language) for language in NAMES),
                )
            ]
        assert b"500" in shown[0]
        assert len(set(shown)) == 1 + len(NAMES)
        expected = expected or shown
        assert shown == expected, f"{number} came"


@pytest.mark.usefixtures("still")
def test_what_is_lost_is_announced_until_midnight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wave = open_survey(survey=make_draft(*PLAN))
    close_with(40, wave)
    reserve_planned(wave_id=wave.pk)
    table, leader = wave.releases.order_by("pk")
    Release.objects.update(public_from=today())  # the releases have waited since yesterday
    before = visit(wave.survey)
    append_key(find_file(tmp_path, bytes(wave.manifest_hash)), table.key)
    draw_release(table.pk)  # as after a worker died
    assert wave.releases.get(pk=table.pk).state == Release.State.LOST
    assert visit(wave.survey) == before
    give_up(wave.releases.filter(pk=leader.pk), RECORD_LOST)
    assert visit(wave.survey) == before
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: tomorrow)
    assert 'id="planned"' in before
    assert 'id="planned"' not in visit(wave.survey)


def test_a_suspended_page_without_releases_promises_none() -> None:
    survey = make_draft(*PLAN)
    translate_all(survey, *(language for language in NAMES if language != "en"))
    wave = open_survey(survey=survey)
    close_with(40, wave)
    reserve_planned(wave_id=wave.pk)
    for language in NAMES:
        assert b"00:00" in read(survey, language=language)
    suspend(ReleaseLedger.objects.get())
    for language in NAMES:
        page = read(survey, language=language)
        assert b'id="suspended"' in page
        assert b'id="planned"' not in page
        assert b"00:00" not in page


@pytest.mark.usefixtures("still")
def test_below_the_minimum_only_counts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = open_survey(survey=make_draft(*PLAN))
    close_with(7, wave)
    kept = Discard.objects.get()
    assert (kept.size, kept.counts) == (7, [[4, 3], [7, 0]])
    assert not find_waves_to_seal().exists()
    monkeypatch.setattr(drafts, "_list_releases", lambda *_: None)
    older = open_survey(survey=make_draft())
    close_wave(wave_id=older.pk, ending=Wave.Ending.DATE)
    assert not find_waves_to_seal().exists()  # nobody answered, and no counts are kept


@pytest.mark.usefixtures("still")
def test_planned_releases_come_before_those_that_are_asked_for() -> None:
    wave = open_survey(survey=make_draft(*PLAN))
    close_with(40, wave)
    with pytest.raises(NotReleasable, match=r"0\.40 is left"):
        reserve_release(wave=wave, request=ask("q2", epsilon=41))
    # The refusal also rolled back the planned releases. The next request or sweep charges them.
    assert not ReleaseLedger.objects.exists()
    later = reserve_release(wave=wave, request=ask("q2", epsilon=40))
    assert [one.planned for one in wave.releases.order_by("pk")] == [True, True, False]
    assert read_account(wave).left == 0
    assert reserve_release(wave=wave, request=PLAN[0]).planned  # not charged a second time
    reserve_planned(wave_id=wave.pk)
    assert wave.releases.count() == 3
    assert not find_waves_to_release().exists()
    draw_release(later.pk)
    Release.objects.update(public_from=today())
    assert "Chosen after seeing results: not covered." in visit(wave.survey)


@pytest.mark.parametrize(
    ("people", "drawn", "is_few"),
    [(20, None, False), (19, None, True), (120, 2, False), (116, 2, True), (116, 3, False)],
)
def test_the_card_counts_those_who_are_asked(people: int, drawn: int | None, is_few: bool) -> None:
    """The table needs 20 people. If 2 of 12 questions are drawn, one person in six is asked q1."""
    questions = [f"Number {one}?" for one in range(12)]
    survey = make_draft(ask("q1", epsilon=50), questions=questions, people_expected=people)
    survey.drawn = drawn
    card = build_release_card(survey, build_manifest(survey=survey, wave_number=1))
    assert card is not None
    [line] = card.lines
    assert "Readers see the table if about 20 people are asked." in line.cost
    assert ("You expect fewer" in line.cost) == is_few


def test_a_question_has_one_leader_and_it_needs_a_table() -> None:
    survey = make_draft(ask("q1"))
    with pytest.raises(NotReleasable, match="needs a table"):
        plan_release(survey=survey, request=ask("q2", kind=ReleaseKind.LEADER))
    plan_release(survey=survey, request=ask("q1", kind=ReleaseKind.LEADER))
    with pytest.raises(NotReleasable, match="can have only one leader"):
        plan_release(survey=survey, request=ask("q1", kind=ReleaseKind.LEADER, epsilon=31))


def test_a_plan_above_the_cap_cannot_be_made_or_opened() -> None:
    survey = make_draft(ask("q1", epsilon=60))
    with pytest.raises(NotReleasable, match=r"Only ε = 0\.40"):
        plan_release(survey=survey, request=ask("q2", epsilon=41))
    Survey.objects.filter(pk=survey.pk).update(release_epsilon_hundredths=50)
    survey.refresh_from_db()
    with pytest.raises(Exception, match="Remove some of them, or raise the cap"):
        open_survey(survey=survey)


def test_a_deleted_question_leaves_the_plan() -> None:
    survey = make_draft(*PLAN)
    delete_question(question=survey.questions.order_by("position")[0])
    survey.refresh_from_db()
    manifest = open_survey(survey=survey).description
    assert manifest.planned_releases == (ask("q1"),)
    assert find_planned_problem(ask("q1"), manifest) == ""


def test_tables_that_become_equal_prevent_the_opening() -> None:
    """Otherwise, the second table could never be charged, and the worker would retry forever."""
    survey = make_draft(ask("q1", "q2"), ask("q1", "q3"), questions=["First?", "Second?", "Third?"])
    for text in ("Second?", "Third?"):
        delete_question(question=survey.questions.get(text=text))
    survey.refresh_from_db()
    with pytest.raises(Exception, match="already planned"):
        open_survey(survey=survey)


def test_a_survey_of_before_shows_a_leader_although_its_table_has_too_few() -> None:
    wave = open_survey(survey=make_draft())
    table = finish(plan(wave.description, "q1", epsilon=10), {"cells": {"q1": [3, 4]}})
    leader = finish(plan(wave.description, "q1", kind=ReleaseKind.LEADER, epsilon=10), {"code": 1})
    table.pk, leader.pk = 1, 2
    before = replace(wave.description, planned_releases=None)
    assert isinstance(read_shown([table, leader], before)[2], ChosenFigure)
    assert isinstance(read_shown([table, leader], wave.description)[2], Unsure)


@pytest.mark.parametrize("reports", [0, 1])
def test_the_authors_other_pages_do_not_tell_whether_anybody_answered(reports: int) -> None:
    """A survey that ends within a day without a report is forgotten, unless it is protected."""
    other = make_survey(title="Other")
    open_survey(survey=other)
    protected = open_survey(survey=make_draft(owner=other.owner))
    page = Client().get(reverse("surveys:respond", args=[other.slug])).content
    close_with(reports, protected)
    assert Client().get(reverse("surveys:respond", args=[other.slug])).content == page


@pytest.mark.usefixtures("still")
def test_after_a_restore_that_lost_reports_the_batches_are_released() -> None:
    wave = open_survey(survey=make_draft(*PLAN))
    send_many(wave, [b"\0\1"] * 40)
    assert seal_next_batch(wave_id=wave.pk)
    RawReport.objects.all().delete()  # as in a restored backup
    send_many(wave, [b"\1\1"] * 3)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    seal_next_batch(wave_id=wave.pk)
    assert Discard.objects.get().counts is None
    assert not find_waves_to_release().exists()  # until the last snapshot
    update_snapshot(wave_id=wave.pk)
    assert {(one.state, one.through_batch) for one in draw_all(wave)} == {("drawn", 1)}


def test_another_window_that_planned_first_is_explained() -> None:
    survey = make_draft(ask("q1", epsilon=60))
    client = sign_in(survey.owner)
    with mock.patch.object(services, "plan_release", side_effect=NotReleasable("Taken.")):
        response = client.post(
            reverse("surveys:planned_releases", args=[survey.slug]),
            {"kind": "table", "questions": ["q2"], "epsilon": "0.40"},
        )
    assert (response.status_code, b"Taken." in response.content) == (422, True)
