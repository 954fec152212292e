"""A researcher's overview of releases, and the page of one release."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from aggregator.models import DueWork, Release, ReleaseLedger
from aggregator.releases.ledger import reserve_release
from aggregator.upkeep.due import WorkKind
from surveys.authoring import drafts
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Question, Survey, Wave, today
from tests.support.breakdowns.waves import make_closed_wave
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, sign_in
from tests.support.reading import words_of
from tests.support.releases.stored import finish, plan, store, store_table
from tests.support.waves import count_all, make_protected_wave, make_released_wave, send_many

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
Kind = ReleaseKind


def address_of(survey: Survey, page: str = "") -> str:
    return f"/surveys/{survey.slug}/releases{page}"


def read(wave: Wave, page: str = "") -> str:
    response = sign_in(wave.survey.owner).get(address_of(wave.survey, page))
    assert response.status_code == 200
    return words_of(response)


def make_protected_survey(**settings: Any) -> Survey:
    return make_survey(publication=Publication.PROTECTED, **settings)


def reserve(wave: Wave, *, kind: Kind = Kind.TABLE, question: str = "q1") -> Release:
    request = ReleaseRequest(kind=kind, questions=(question,), epsilon_hundredths=50)
    return reserve_release(wave=wave, request=request)


@pytest.mark.parametrize(
    ("publication", "words"),
    [(Publication.NONE, "publishes nothing"), (Publication.EXACT, "publishes exact results")],
)
@pytest.mark.parametrize("is_open", [False, True])
def test_a_survey_without_protection_says_why_it_has_no_releases(
    publication: Publication, words: str, is_open: bool
) -> None:
    survey = make_survey(publication=publication)
    if is_open:
        open_survey(survey=survey)
    client = sign_in(survey.owner)
    page = words_of(client.get(address_of(survey)))
    assert words in page
    assert "opened with protected publication" in page
    assert address_of(survey) not in client.get(f"/surveys/{survey.slug}/data").content.decode()
    for refused in ("/ledger.csv", "/1"):
        assert client.get(address_of(survey, refused)).status_code == 404


def test_a_draft_says_that_releases_come_after_the_close() -> None:
    survey = make_protected_survey()
    page = words_of(sign_in(survey.owner).get(address_of(survey)))
    assert "This survey is a draft." in page
    assert "Table" not in page


def test_an_open_survey_names_the_day_and_offers_nothing() -> None:
    wave = make_protected_wave()
    page = read(wave)
    assert "after the survey closes on" in page
    assert address_of(wave.survey, "/new/table") not in page_of(wave)


def test_reports_that_are_still_counted_are_waited_for() -> None:
    wave = make_protected_wave(rows=[b"\0\1\0"] * 40)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    assert "last reports are being counted" in read(wave)


def test_a_survey_that_nobody_answered_can_release_like_any_other() -> None:
    wave = make_protected_wave()
    count_all(wave)
    assert address_of(wave.survey, "/new/table") in page_of(wave)


def test_an_older_survey_that_nobody_answered_has_nothing_to_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drafts, "_list_releases", lambda *_: None)
    wave = make_protected_wave()
    count_all(wave)
    assert "nothing to release" in read(wave)


def test_a_public_page_that_was_switched_off_stops_releases() -> None:
    wave = make_released_wave()
    Survey.objects.filter(pk=wave.survey.pk).update(public_results_off=True)
    assert "You switched the public page off." in read(wave)
    assert address_of(wave.survey, "/new/table") not in page_of(wave)


def test_a_suspended_ledger_is_explained() -> None:
    wave = make_released_wave()
    reserve(wave)
    ReleaseLedger.objects.update(suspended="restored", spent_hundredths=100)
    for page in ("", "/ledger"):
        assert "The ledger is suspended" in read(wave, page)
    assert address_of(wave.survey, "/new/table") not in page_of(wave)


def test_a_cap_that_is_spent_offers_nothing_more_and_keeps_the_list() -> None:
    wave = make_released_wave(release_epsilon_hundredths=50)
    reserve(wave)
    page = read(wave)
    assert "ε spent: 0.50 of 0.50" in page
    assert "The whole cap is spent" in page
    assert "Table of Q1" in page


def page_of(wave: Wave, page: str = "") -> str:
    return sign_in(wave.survey.owner).get(address_of(wave.survey, page)).content.decode()


def test_the_overview_says_what_a_release_is_and_offers_what_fits() -> None:
    wave = make_released_wave()
    page, words = page_of(wave), read(wave)
    assert "You still see exact results on your other pages" in words
    assert "ε spent: 0.00 of 1.00" in words
    for kind in (Kind.TABLE, Kind.LEADER):
        assert f'href="{address_of(wave.survey, f"/new/{kind}")}"' in page
    assert address_of(wave.survey, "/new/median") not in page
    assert "no rating scale" in words


def test_the_list_shows_the_newest_release_first_with_its_state_and_day() -> None:
    wave = make_released_wave(release_epsilon_hundredths=300)
    store_table(wave, "q1", public_from=today() + timedelta(days=1))
    reserve(wave, question="q2")
    page = read(wave)
    assert page.index("Table of Q2") < page.index("Table of Q1")
    assert page.index("being drawn") < page.index(
        "ready chosen after seeing results: not covered for readers from"
    )


def test_only_protected_surveys_have_the_tab_and_the_card_on_data() -> None:
    wave, other = make_released_wave(), make_survey()
    for survey, is_there in ((wave.survey, True), (other, False)):
        client = sign_in(survey.owner)
        for page in ("/data", "/settings"):
            content = client.get(f"/surveys/{survey.slug}{page}").content.decode()
            assert (f'href="{address_of(survey)}"' in content) == is_there


def test_the_next_step_after_the_close_is_a_release_until_there_is_one() -> None:
    wave = make_released_wave()
    client = sign_in(wave.survey.owner)
    for address in (f"/surveys/{wave.survey.slug}/results", "/"):
        assert "Publish a release" in words_of(client.get(address))
    reserve(wave)
    for address in (f"/surveys/{wave.survey.slug}/results", "/"):
        page = words_of(client.get(address))
        assert "Publish a release" not in page
        assert "Read the report" in page


def test_answers_from_coins_have_their_own_releases_and_ledger() -> None:
    wave = make_protected_wave(coins=True)
    coins = Wave.objects.get(survey=wave.survey, mode=Wave.Mode.MANUAL)
    send_many(coins, [b"\0\1\0", b"\1\1\0"] * 20)
    count_all(wave)
    process(coins)
    reserve(coins)
    assert "ε spent: 0.00 of 1.00" in read(wave)
    assert "ε spent: 0.50 of 1.00" in read(wave, "/coins")
    assert "Releases with two coins" in read(wave, "/coins")
    assert address_of(wave.survey, "/coins") in page_of(wave)
    assert "Table of Q1" in read(wave, "/coins/ledger")


def test_a_survey_without_coins_has_no_such_page() -> None:
    wave = make_released_wave()
    client = sign_in(wave.survey.owner)
    assert client.get(address_of(wave.survey, "/coins")).status_code == 404


def test_a_release_waits_for_the_worker_and_its_page_reloads() -> None:
    wave = make_released_wave()
    release = reserve(wave)
    response = sign_in(wave.survey.owner).get(address_of(wave.survey, f"/{release.pk}"))
    assert response["Refresh"] == "2"
    assert "Being drawn" in words_of(response)


def test_a_problem_of_the_worker_is_shown_while_it_lasts() -> None:
    wave = make_released_wave()
    release = reserve(wave)
    Release.objects.update(problem="OpenDP is missing.")
    response = sign_in(wave.survey.owner).get(address_of(wave.survey, f"/{release.pk}"))
    assert "OpenDP is missing." in words_of(response)
    assert response["Refresh"] == "30"


@pytest.mark.parametrize(
    ("minutes", "is_late"), [(-5, False), (9, False), (10, True), (2880, True)]
)
def test_a_release_that_no_worker_draws_says_whom_to_tell(minutes: int, is_late: bool) -> None:
    wave = make_released_wave()
    release = reserve(wave)
    since = timezone.now() - timedelta(minutes=minutes, seconds=1)
    DueWork.objects.create(kind=WorkKind.RELEASE, subject=release.pk, since=since)
    other = DueWork.objects.create(kind=WorkKind.RENDER, subject=release.pk)
    DueWork.objects.filter(pk=other.pk).update(since=since - timedelta(days=9))
    response = sign_in(wave.survey.owner).get(address_of(wave.survey, f"/{release.pk}"))
    words = (
        f"This release has been waiting for {minutes:,} minutes. Tell the server’s "
        "administrator that a worker must have MURMUR_RELEASES set."
    )
    assert (words in words_of(response)) == is_late
    assert ("MURMUR_RELEASES" in words_of(response)) == is_late
    assert response["Refresh"] == ("30" if is_late else "2")


def test_a_lost_release_says_so_and_can_be_made_again() -> None:
    wave = make_released_wave()
    release = reserve(wave)
    Release.objects.update(state=Release.State.LOST, problem="It was interrupted.")
    response = sign_in(wave.survey.owner).get(address_of(wave.survey, f"/{release.pk}"))
    assert "Refresh" not in response
    assert "It was interrupted." in words_of(response)
    again = address_of(wave.survey, "/new/table?questions=q1&amp;epsilon=0.50&amp;people=1000")
    assert f'href="{again}"' in response.content.decode()


def test_a_drawn_table_shows_everything_in_the_usual_order() -> None:
    wave = make_released_wave()
    release = store_table(wave, "q1", people=1000, public_from=today() + timedelta(days=1))
    page = read(wave, f"/{release.pk}")
    order = [
        "people took part (noise included)",
        "Widest interval",
        "Took part ε = 1.00",
        "About answers, to readers",
        "Spent",
        "Mechanism",
        "OpenDP 0.16.0",
        "Readers see it from",
    ]
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    assert "00:00 UTC" in page
    assert "Refresh" not in sign_in(wave.survey.owner).get(address_of(wave.survey))


def test_too_few_people_for_the_noise_show_no_figure() -> None:
    wave = make_released_wave()
    release = store_table(wave, "q1", people=40, epsilon=10)
    page = read(wave, f"/{release.pk}")
    assert "Too few people for this table" in page
    assert "Widest interval" not in page


def make_leader(client_wave: Wave, *, code: int) -> Release:
    release = plan(client_wave.description, "q4", kind=Kind.LEADER, epsilon=50)
    release.through_batch = client_wave.snapshots.get(final=True).through_batch
    return store(finish(release, {"code": code}), client_wave)


@pytest.fixture
def voted() -> Wave:
    """Make a survey in which 30 of 40 people sent the code of Ward."""
    survey = make_protected_survey(
        questions=["A?", "B?", "C?"], closes_at=None, people_expected=1000
    )
    add_question(
        survey=survey, type=Question.Type.CHOICE, text="Where?", options=["Kitchen", "Ward", "Hall"]
    )
    Survey.objects.filter(pk=survey.pk).update(rehearsal=True)
    survey.refresh_from_db()
    wave = open_survey(survey=survey)
    send_many(wave, [b"\0\1\0\1"] * 30 + [b"\0\1\0\0"] * 10)
    count_all(wave)
    return wave


def test_the_page_of_a_leader_does_not_say_whether_it_is_the_true_one(voted: Wave) -> None:
    """Otherwise, a researcher could draw again until the leader is the true one."""
    release = make_leader(voted, code=2)
    store_table(voted, "q4", people=2000, epsilon=50)
    page = read(voted, f"/{release.pk}")
    assert "Named as leading: Hall" in page
    assert "Ward" not in page


def test_a_release_of_another_survey_does_not_exist() -> None:
    wave, other = make_released_wave(), make_released_wave()
    release = reserve(wave)
    client = sign_in(other.survey.owner)
    assert client.get(address_of(other.survey, f"/{release.pk}")).status_code == 404
    assert client.get(address_of(wave.survey, f"/{release.pk}")).status_code == 404


@pytest.mark.parametrize("is_protected", [True, False])
def test_results_say_that_only_releases_are_for_readers(is_protected: bool) -> None:
    wave = make_released_wave() if is_protected else make_closed_wave()
    html = sign_in(wave.survey.owner).get(f"/surveys/{wave.survey.slug}/results").content.decode()
    assert 'id="validity"' in html
    assert (
        "Only people with a role on this survey see these figures. Readers see <a" in html
    ) == is_protected
    assert (f'<a href="/surveys/{wave.survey.slug}/releases">releases</a>' in html) == is_protected
