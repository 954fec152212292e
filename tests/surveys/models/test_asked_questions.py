"""How many other surveys of the author ask the same question, as respondents' pages state it."""

from __future__ import annotations

import re
import secrets
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.models import SpentId
from aggregator.simulation.rehearsal import open_rehearsal
from aggregator.upkeep.deleting import delete_survey
from surveys.authoring.errors import ChangedMeanwhile
from surveys.authoring.services import add_question, launch_survey
from surveys.lifecycle.services import close_wave
from surveys.models import Role, Survey, Wave
from surveys.models.asked_questions import AskedBefore, AskedQuestion
from surveys.people.leaving import delete_account
from surveys.people.members import hand_over, remove
from surveys.people.teams import attach, create_team, detach
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.fielding import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
SAID = re.compile(r"(?:is|are) asked in (\d+) other survey")
TODAY = re.compile(r'<main id="survey"[^>]* data-elsewhere="(\d+)"')
BRIBES = "Have you ever taken a bribe?"


def shown(survey: Survey, *, route: str = "surveys:respond", client: Client | None = None) -> int:
    """Return the number in the label."""
    return read(SAID, survey, route=route, client=client)


def read(
    pattern: re.Pattern[str],
    survey: Survey,
    *,
    route: str = "surveys:respond",
    client: Client | None = None,
) -> int:
    page = (client or Client()).get(reverse(route, args=[survey.slug])).content.decode()
    found = pattern.search(page)
    return int(found[1]) if found else 0


def end(wave: Wave, *, reports: int = 1, after: timedelta = timedelta()) -> Survey:
    """Close a survey some time after its launch."""
    for _ in range(reports):
        SpentId.objects.create(id=secrets.token_bytes(16), wave=wave)
    Wave.objects.filter(pk=wave.pk).update(launched_at=wave.launched_at - after)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    return Survey.objects.get(pk=wave.survey_id)


def test_the_page_follows_every_survey_that_opens_and_forgets_none_that_is_deleted(
    owner: User,
) -> None:
    first = make_launched_survey(owner=owner).survey
    assert shown(first) == 0
    second = make_launched_survey(owner=owner)
    assert (shown(first), shown(second.survey)) == (1, 1)
    make_launched_survey()  # a survey of another author
    make_survey(owner=owner)  # a draft
    open_rehearsal(survey=first, people=20)
    assert shown(first) == 1
    end(second)
    assert shown(first) == 1, "people answered it"
    delete_survey(survey=second.survey)
    assert shown(first) == 1
    assert set(AskedQuestion.objects.values_list("survey", flat=True)) >= {first.pk}
    assert not AskedQuestion.objects.filter(survey=second.survey_id).exists()


def test_the_single_file_and_the_preview_have_the_number_too(owner: User) -> None:
    make_launched_survey(owner=owner)
    survey = make_launched_survey(owner=owner).survey
    assert shown(survey, route="surveys:single_page") == 1
    author = sign_in(owner)
    assert shown(survey, route="surveys:preview", client=author) == 1
    assert shown(make_survey(owner=owner), route="surveys:preview", client=author) == 2
    other = make_survey(owner=owner, questions=("Another one?",))
    assert shown(other, route="surveys:preview", client=author) == 0


def test_the_label_gets_the_number_in_the_browser_and_with_coins(owner: User) -> None:
    wave = make_launched_survey(owner=owner, coins=True)
    make_launched_survey(owner=owner)
    for route in ("surveys:respond", "aggregator:coins"):
        response = Client().get(reverse(route, args=[wave.survey.slug]))
        assert response.status_code == 200
    assert shown(wave.survey) == 1


def test_a_rehearsal_has_no_rows(owner: User) -> None:
    survey = make_survey(owner=owner)
    wave = open_rehearsal(survey=survey, people=20)
    assert not AskedQuestion.objects.exists()
    assert wave.count_elsewhere() == 0


def test_asking_again_after_each_deletion_counts_up(owner: User) -> None:
    for others in range(4):
        wave = make_launched_survey(owner=owner, questions=(BRIBES,))
        assert shown(wave.survey) == wave.description.asked_elsewhere == others
        delete_survey(survey=end(wave))


@pytest.mark.parametrize(
    "question",
    [{"text": f"1. {BRIBES}"}, {"text": BRIBES, "type": "scale", "minimum": 0, "maximum": 1}],
)
def test_a_number_or_another_type_makes_it_no_other_question(
    owner: User, question: dict[str, Any]
) -> None:
    make_launched_survey(owner=owner, questions=(BRIBES,))
    survey = make_survey(owner=owner, questions=())
    add_question(survey=survey, **question)
    assert shown(open_survey(survey=survey).survey) == 1


def test_no_deleted_survey_is_left_out_and_never_more_are_told_than_there_were(owner: User) -> None:
    for before in (("Red?", "Blue?"), ("Red?", "Blue?"), ("Green?",), ("Dark?",)):
        delete_survey(survey=end(make_launched_survey(owner=owner, questions=before)))
    asked: dict[tuple[str, ...], int] = {
        ("Red?", "Blue?"): 4,
        ("Red?",): 2,
        ("Red?", "Green?"): 3,
        ("Bright?",): 0,
    }
    for questions, expected in asked.items():
        wave = end(make_launched_survey(owner=owner, questions=questions), reports=0).waves.get()
        # For the first survey, two would be exact. Surveys with two questions in common may count
        # twice, but the sum is never above the number of deleted surveys.
        assert wave.description.asked_elsewhere == expected, questions


@pytest.mark.parametrize(
    ("reports", "after", "counts"),
    [(0, timedelta(hours=23), False), (0, timedelta(days=1), True), (1, timedelta(0), True)],
)
def test_a_survey_that_asked_nobody_does_not_count(
    owner: User, reports: int, after: timedelta, counts: bool
) -> None:
    ended = end(make_launched_survey(owner=owner), reports=reports, after=after)
    assert shown(make_launched_survey(owner=owner).survey) == counts
    delete_survey(survey=ended)
    assert AskedBefore.objects.exists() == counts


def test_a_report_with_coins_counts_too(owner: User) -> None:
    wave = make_launched_survey(owner=owner, coins=True)
    coins = wave.survey.waves.manual().get()
    SpentId.objects.create(id=secrets.token_bytes(16), wave=coins)
    end(wave, reports=0)
    assert shown(make_launched_survey(owner=owner).survey) == 1


def test_what_stays_of_deleted_surveys_names_none_and_is_in_the_order_of_keys(owner: User) -> None:
    for text in ("Red?", "Blue?", "Red?"):
        delete_survey(survey=end(make_launched_survey(owner=owner, questions=(text, "Dark?"))))
    delete_survey(survey=end(make_launched_survey(questions=("Red?",))))
    assert [field.name for field in AskedBefore._meta.get_fields()] == ["key", "people", "surveys"]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, surveys FROM surveys_asked_before WHERE people = %s "
            f"ORDER BY {'ctid' if connection.vendor == 'postgresql' else 'rowid'}",
            [str(owner.pk)],
        )
        rows = [(bytes(key), surveys) for key, surveys in cursor.fetchall()]
    assert rows == sorted(rows)
    assert sorted(surveys for _, surveys in rows) == [1, 2, 3, 3]
    assert AskedBefore.objects.count() == 6, "the same question of another owner has another key"
    delete_account(owner)
    assert AskedBefore.objects.count() == 2


def test_what_colleagues_asked_counts_through_hand_over_and_deletion(owner: User) -> None:
    colleague = make_user()
    first = make_launched_survey(owner=owner)
    second = make_launched_survey(owner=colleague)
    assert (first.count_elsewhere(), second.count_elsewhere()) == (0, 0)
    first.survey.memberships.create(account=colleague, role=Role.VIEWER)
    assert (first.count_elsewhere(), second.count_elsewhere()) == (1, 1)
    remove(survey=first.survey, account=colleague.pk, by=owner.pk)
    assert (first.count_elsewhere(), second.count_elsewhere()) == (1, 1), "they still know"
    hand_over(survey=first.survey, to=make_user().pk, by=owner.pk)
    assert make_launched_survey(owner=owner).count_elsewhere() == 1, "the first, handed over"
    delete_survey(survey=end(first))
    assert second.count_elsewhere() == 1, "the first, deleted"


def test_one_survey_that_several_people_deleted_counts_once(owner: User) -> None:
    wave = make_launched_survey(owner=owner)
    others = [make_user() for _ in range(3)]
    for other in others:
        wave.survey.memberships.create(account=other, role=Role.EDITOR)
    delete_survey(survey=end(wave))
    survey = make_survey(owner=others[0])
    for other in (owner, *others[1:]):
        survey.memberships.create(account=other, role=Role.OWNER)
    assert open_survey(survey=survey).count_elsewhere() == 1
    for leaver in others:
        delete_account(leaver)
    assert make_launched_survey(owner=owner).count_elsewhere() == 2
    assert make_launched_survey(owner=make_user()).count_elsewhere() == 0


def test_the_people_of_a_team_count_even_after_it_was_detached(owner: User) -> None:
    colleague = make_user()
    team = create_team(name="Field", account=owner.pk)
    team.members.create(account=colleague, role=Role.VIEWER)
    draft, opened = make_survey(owner=owner), make_launched_survey(owner=owner)
    for survey in (draft, opened.survey):
        attach(survey=survey, team=team, by=owner.pk)
    assert make_launched_survey(owner=colleague).count_elsewhere() == 1
    for survey in (draft, opened.survey):
        detach(survey=survey, team=team, by=owner.pk)
    assert make_launched_survey(owner=colleague).count_elsewhere() == 2
    assert not draft.former_members.exists(), "nobody knows what a draft will ask"


def test_a_new_secret_key_starts_anew_unless_the_old_one_is_kept(
    owner: User, settings: Any
) -> None:
    delete_survey(survey=end(make_launched_survey(owner=owner)))
    make_launched_survey(owner=owner)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another one" * 5
    assert end(make_launched_survey(owner=owner), reports=0).waves.get().count_elsewhere() == 0
    settings.SECRET_KEY_FALLBACKS = [old]
    assert make_launched_survey(owner=owner).count_elsewhere() == 2


def test_the_number_at_the_launch_stays_and_only_a_larger_one_is_added(owner: User) -> None:
    other = make_launched_survey(owner=owner)
    wave = make_launched_survey(owner=owner)
    assert b'"asked_elsewhere":1,' in bytes(wave.manifest)
    assert b"asked_elsewhere" not in bytes(other.manifest)
    assert (shown(wave.survey), read(TODAY, wave.survey)) == (1, 0)
    end(other, reports=0)  # the survey no longer counts
    assert (wave.count_elsewhere(), shown(wave.survey), read(TODAY, wave.survey)) == (0, 1, 0)
    for _ in range(2):
        make_launched_survey(owner=owner)
    assert (shown(wave.survey), read(TODAY, wave.survey)) == (2, 2)


def test_another_number_than_the_launch_page_showed_opens_nothing(owner: User) -> None:
    survey = make_survey(owner=owner, minimum_batch=50, display_minimum=50)
    author = sign_in(owner)
    page = author.get(reverse("surveys:launch", args=[survey.slug]))
    delete_survey(survey=end(make_launched_survey(owner=owner)))
    with pytest.raises(ChangedMeanwhile):
        launch_survey(survey=survey, expected_hash=page.context["manifest_hash"])
    shown_again = author.get(reverse("surveys:launch", args=[survey.slug]))
    assert "1 of your deleted surveys also asked one of these" in shown_again.content.decode()
    expected = shown_again.context["manifest_hash"]
    assert launch_survey(survey=survey, expected_hash=expected).manifest_hash_hex == expected
