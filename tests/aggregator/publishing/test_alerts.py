"""Alerts: planned in a draft, looked at once a day, and given once or never."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.urls import reverse
from pytest_django.fixtures import Settings

from aggregator.batches.committed import count_committed
from aggregator.batches.sealing import seal_next_batch
from aggregator.models import Batch, RawReport, Release, ReleaseLedger
from aggregator.releases import alerts
from aggregator.releases.alerts import find_alerts_to_look_at, look_at_alert
from aggregator.releases.counters import append_key, find_file, name_start
from aggregator.releases.drawing import CONTRADICTED, NEVER_AGAIN, find_releases_to_draw
from aggregator.releases.ledger import (
    find_waves_to_release,
    read_account,
    reserve_planned,
    reserve_release,
)
from aggregator.releases.noise import AlertSampler, prepare_alert_sampler
from aggregator.releases.readers import reader_epsilons
from aggregator.upkeep.verification.run import Verification
from surveys.authoring import services
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Survey, Wave
from surveys.releasing.alerts import MOST_LOOKS, find_target, find_threshold
from surveys.releasing.choice import NotReleasable
from surveys.releasing.noise import plan_release
from surveys.respondent.label.label import describe_in_english
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.releases.public import read, rows_of, set_clock, visit
from tests.support.waves import count_all, send_many

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]
ALERT = ReleaseRequest(
    kind=ReleaseKind.ALERT, questions=("q1",), epsilon_hundredths=50, answer=1, percent=20
)
TABLE = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=30)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """Sets the day of the server's clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch, self.now = monkeypatch, NOON
        self.move(0)

    def move(self, days: int) -> None:
        self.now += timedelta(days=days)
        set_clock(self._monkeypatch, self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    """Draw looks without noise, so that counts alone decide; other tests cover the noise."""
    settings.RELEASES = tmp_path

    def prepare(plan: Any) -> AlertSampler:
        same: Callable[[int], int] = lambda value: value  # noqa: E731
        real = prepare_alert_sampler(plan)
        return replace(real, draw_threshold=same, draw_look=same)

    monkeypatch.setattr(alerts, "prepare_alert_sampler", prepare)


def make_draft(*planned: ReleaseRequest, **settings: Any) -> Survey:
    usual: dict[str, Any] = {"publication": Publication.PROTECTED, "people_expected": 5000}
    return make_survey(planned=planned, **usual | settings)


def start(*planned: ReleaseRequest, **settings: Any) -> Wave:
    wave = open_survey(survey=make_draft(*planned or (ALERT,), **settings))
    reserve_planned(wave_id=wave.pk)
    return wave


def look(wave: Wave) -> Release:
    for release in find_alerts_to_look_at():
        assert look_at_alert(release.pk)
    return wave.releases.get(kind=ReleaseKind.ALERT)


def send_yes(wave: Wave, yes: int, no: int = 0) -> None:
    send_many(wave, [b"\1\0"] * yes + [b"\0\0"] * no)


def test_it_comes_once_with_the_first_look_that_surely_exceeds_the_share(clock: Clock) -> None:
    wave = start(closes_at=NOON + timedelta(days=60))
    assert read_account(wave).spent == 50
    assert look(wave).state == "watching"  # nobody came
    send_yes(wave, 300, 50)
    assert not find_alerts_to_look_at().exists()  # one look a day
    page = visit(wave.survey)
    assert "Alert: more than 20 % “Yes” to Q1" in page
    seal_next_batch(wave_id=wave.pk)
    clock.move(1)
    assert RawReport.objects.exists()  # all reports count, sealed or not
    assert Batch.objects.exists()
    found = look(wave)
    assert (found.state, found.result) == ("drawn", {"alert": True})
    assert visit(wave.survey) == page  # unchanged until midnight
    clock.move(1)
    assert "Alert: of those who had answered by then, more than 20 % said" in visit(wave.survey)
    [row] = rows_of(wave.survey)
    assert (row["release_kind"], row["alert"], row["alert_above_percent"]) == (
        "alert",
        "True",
        "20",
    )
    assert (row["answer"], row["answer_text"], row["planned"]) == ("1", "Yes", "True")
    assert not find_alerts_to_look_at().exists()
    assert list(Verification().run(Wave.objects.all())) == []
    address = reverse("aggregator:release", args=[wave.survey.slug, found.pk])
    own = sign_in(wave.survey.owner).get(address).content.decode()
    assert "such an alert comes at most 5 times in 100." in own


@pytest.mark.parametrize("yes", [0, 4, 40])
def test_a_close_ends_it_and_reports_below_k_count_too(clock: Clock, yes: int) -> None:
    wave = start(ALERT, TABLE, closes_at=NOON + timedelta(days=1))
    assert look(wave).looked_on == NOON.date()
    send_yes(wave, yes)
    clock.move(1)
    count_all(wave)
    assert list(find_waves_to_release()) == [wave]
    reserve_planned(wave_id=wave.pk)
    assert read_account(wave).spent == 80
    found = look(wave)
    needed = find_threshold(ALERT)
    assert found.result == {"alert": yes > needed}
    assert [one.kind for one in find_releases_to_draw()] == ["table"]
    clock.move(1)
    assert ("No alert: no look found" in visit(wave.survey)) == (yes <= needed)


def test_an_alert_planned_in_a_survey_that_closes_at_once_is_looked_at_once(clock: Clock) -> None:
    wave = open_survey(survey=make_draft(ALERT, closes_at=NOON + timedelta(days=1)))
    count_all(wave)
    reserve_planned(wave_id=wave.pk)
    assert look(wave).result == {"alert": False}
    clock.move(1)
    assert not find_alerts_to_look_at().exists()


@pytest.mark.parametrize("most", [30, pytest.param(MOST_LOOKS, marks=pytest.mark.long)])
def test_looks_end_after_a_year_and_a_clock_set_back_makes_none(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(alerts, "MOST_LOOKS", most)
    wave = start()
    look(wave)
    clock.move(-3)
    assert not find_alerts_to_look_at().exists()
    looks = 1
    clock.move(3)
    while wave.releases.get().state == "watching":
        clock.move(1)
        looks += look(wave).looked_on == clock.now.date()
    assert looks == most - 1  # the close would have added one more look
    assert wave.releases.get().result == {"alert": False}


def test_the_noise_of_the_threshold_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, drawn = Clock(monkeypatch), []

    def prepare(plan: Any) -> AlertSampler:
        def draw(value: int) -> int:
            drawn.append(value)
            return value

        return AlertSampler(draw_threshold=draw, draw_look=lambda _: -10, library="OpenDP 0.16.0")

    monkeypatch.setattr(alerts, "prepare_alert_sampler", prepare)
    wave = start()
    for _ in range(4):
        look(wave)
        clock.move(1)
    assert drawn == [find_threshold(ALERT)]


def test_an_alert_whose_key_cannot_be_written_is_over(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise every sweep would look again, and the log would reveal the result."""
    wave = start()
    look(wave)
    send_yes(wave, 300)
    clock.move(1)
    monkeypatch.setattr(alerts, "append_key", mock.Mock(side_effect=OSError))
    lost = look(wave)
    assert (lost.state, lost.result, lost.problem) == ("lost", None, NEVER_AGAIN)
    assert not find_alerts_to_look_at().exists()


def test_a_restored_database_never_looks_again_at_what_was_told(
    clock: Clock, tmp_path: Path
) -> None:
    wave = start()
    kept = look(wave)
    path = find_file(tmp_path, bytes(wave.manifest_hash))
    clock.move(1)
    append_key(path, kept.key)  # the alert was given after the backup was made
    lost = look(wave)
    assert (lost.state, lost.problem) == ("lost", NEVER_AGAIN)
    # A backup from before the first look has no threshold, although readers may know of looks.
    other = start()
    append_key(
        find_file(tmp_path, bytes(other.manifest_hash)),
        name_start(other.releases.get().key),
    )
    assert look(other).state == "lost"
    # A backup from before the alert was charged is noticed too.
    third = start()
    append_key(find_file(tmp_path, bytes(third.manifest_hash)), "0" * 32)
    assert look(third).problem == CONTRADICTED
    assert ReleaseLedger.objects.get(wave=third).suspended


def test_counts_over_all_committed_reports_are_those_of_each_question() -> None:
    survey = make_draft(drawn=1)
    several = add_question(
        survey=survey, text="Which?", type=Kind.SEVERAL, options=["red", "green"], flips=10
    )
    wave = open_survey(survey=survey)
    manifest = wave.description
    width = len(manifest.symbols)
    rows = [bytes([255] * width)[: width - 2] + bytes([one % 2, 1]) for one in range(50)]
    for row in rows:
        RawReport.objects.create(id=row * 2 + bytes(len(RawReport.objects.all())), wave=wave,
                                 symbols=row)  # fmt: skip
    for sealed in (False, True):
        if sealed:
            assert seal_next_batch(wave_id=wave.pk)
        assert count_committed(wave, manifest, manifest.symbols[-2].name) == [25, 25]
        assert count_committed(wave, manifest, manifest.symbols[-1].name) == [0, 50]
        assert count_committed(wave, manifest, manifest.symbols[0].name) == [0, 0]
    assert several.survey == survey


def test_a_draft_checks_the_answer_the_share_and_the_number_of_people() -> None:
    survey = make_draft()
    manifest = build_manifest(survey=survey, wave_number=1)
    for wrong in (
        replace(ALERT, answer=2),
        replace(ALERT, answer=None),
        replace(ALERT, percent=0),
        replace(ALERT, percent=100),
        replace(ALERT, questions=("q1", "q2")),
        replace(ALERT, questions=("q9",)),
    ):
        with pytest.raises(NotReleasable):
            services.plan_release(survey=survey, request=wrong)
    with pytest.raises(NotReleasable, match="at least 3,000 people"):
        services.plan_release(survey=make_draft(people_expected=2999), request=ALERT)
    assert plan_release(ALERT, manifest, delta_nanos_left=0).epsilon_hundredths == 50


def test_the_form_plans_an_alert_and_says_when_it_comes() -> None:
    survey = make_draft()
    client, page = sign_in(survey.owner), reverse("surveys:planned_releases", args=[survey.slug])
    content = {"kind": "alert", "epsilon": "0.50"}
    refused = client.post(page, content)
    assert refused.status_code == 422
    assert "Choose an answer." in refused.content.decode()
    assert client.post(page, content | {"answer": "q1.1", "percent": "20"}).status_code == 302
    assert build_manifest(survey=survey, wave_number=1).planned_releases == (ALERT,)
    shown = client.get(reverse("surveys:questions", args=[survey.slug])).content.decode()
    assert "9 times in 10 if 30.4 % of 5,000 people say so" in " ".join(shown.split())
    copied = build_manifest(survey=services.copy_survey(survey=survey), wave_number=1)
    assert copied.planned_releases == (ALERT,)


def test_it_follows_its_answer_and_goes_with_it() -> None:
    survey = make_draft()
    colours = add_question(
        survey=survey, text="Which?", type=Kind.CHOICE, options=["red", "green", "blue"], flips=10
    )
    alert = replace(ALERT, questions=("q3",), answer=2)
    services.plan_release(survey=survey, request=alert)

    def edit(*options: str) -> str:
        told = services.edit_question(question=colours, options=list(options))
        survey.refresh_from_db()
        return told

    edit("blue", "red", "green")
    assert build_manifest(survey=survey, wave_number=1).planned_releases == (
        replace(alert, answer=0),
    )
    assert "answer no longer exists" in edit("red", "green", "yellow", "pink")
    assert build_manifest(survey=survey, wave_number=1).planned_releases == ()


def test_the_manifest_the_label_and_the_readers_know_it() -> None:
    wave = start()
    manifest = wave.description
    assert manifest.planned_releases == (ALERT,)
    assert parse_manifest(serialize_manifest(manifest)) == manifest
    assert (wave.planned_releases, wave.planned_alerts) == (1, 1)
    label = str(describe_in_english(manifest))
    assert "Question 1: while the survey is open, a daily count that chance changes" in label
    [line] = reader_epsilons(manifest, wave.releases.all())
    assert 0 < line.reader < 0.5
    target = find_target(ALERT, manifest)
    assert target.share_on_line == pytest.approx(0.35)
    count_all(wave)
    with pytest.raises(NotReleasable, match="planned before the survey opens"):
        reserve_release(wave=wave, request=replace(ALERT, percent=30))


def test_pages_of_an_open_survey_do_not_depend_on_who_came(clock: Clock) -> None:
    pages = []
    for number, slug in ((0, "abcdefghijkm"), (28, "bcdefghijkmn")):
        wave = start(title="Same", slug=slug)
        send_yes(wave, number)
        look(wave)
        pages.append(
            [
                read(wave.survey, name=name)
                .replace(slug.encode(), b"SLUG")
                .replace(wave.manifest_hash_hex.encode(), b"HASH")
                for name in ("public_results", "public_results_csv")
            ]
        )
    assert pages[0] == pages[1]
