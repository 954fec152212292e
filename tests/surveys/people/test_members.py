"""Roles on a survey: giving, changing, removing, and handing them over."""

from __future__ import annotations

import re
from collections.abc import Callable
from unittest import mock

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AccountMail, User
from surveys.access import ALLOWED, Action, can
from surveys.models import HistoryRow, Role, Survey, Team, Verb
from surveys.people.errors import LastOwner, RoleTooLow
from surveys.people.leaving import hand_over_all
from surveys.people.members import hand_over, remove, set_role
from surveys.people.teams import (
    attach,
    create_team,
    delete_team,
    detach,
    remove_from_team,
    set_team_role,
)
from tests.support.factories import make_survey, make_user
from tests.support.fielding import at, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HOSTILE = '<b>"\u05d0\u0627 {{ x }}'


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner)


def join(survey: Survey, role: Role, address: str = "") -> User:
    user = make_user(address)
    survey.memberships.create(account=user, role=role)
    return user


def verbs(survey: Survey) -> list[str]:
    return list(HistoryRow.objects.filter(slug=survey.slug).values_list("verb", flat=True))


def test_each_role_may_do_what_the_lower_ones_may(survey: Survey) -> None:
    lower: frozenset[Action] = frozenset()
    for role in Role:
        assert lower < ALLOWED[role]
        lower = ALLOWED[role]
        account = join(survey, role)
        assert {action for action in Action if can(account, action, survey)} == ALLOWED[role]
    assert not any(can(make_user(), action, survey) for action in Action)


def test_the_higher_of_two_roles_counts(owner: User, survey: Survey) -> None:
    member = join(survey, Role.ANALYST)
    team = create_team(name="Field", account=owner.pk)
    team.members.create(account=member, role=Role.VIEWER)
    attach(survey=survey, team=team, by=owner.pk)
    assert can(member, Action.EXPORT, survey)
    set_team_role(team=team, account=member.pk, role=Role.EDITOR, by=owner.pk)
    assert can(member, Action.EDIT, survey)
    remove(survey=survey, account=member.pk, by=owner.pk)
    assert can(member, Action.EDIT, survey)
    delete_team(team=team, by=owner.pk)
    assert not can(member, Action.READ, survey)


def test_a_role_that_is_taken_away_in_mid_edit_counts_and_nothing_typed_is_lost(
    owner: User, survey: Survey
) -> None:
    editor = join(survey, Role.EDITOR)
    client = sign_in(editor)
    sent = {"type": "yes_no", "text": "Did you ever lie here?", "flips": "25"}
    assert client.post(at("question_create", survey), sent).status_code == 302
    sent["stamp"] = "9867bc41 06a8f8d9"
    set_role(survey=survey, account=editor.pk, role=Role.VIEWER, by=owner.pk)
    refused = client.post(at("question_create", survey), sent)
    assert refused.status_code == 403
    assert "Did you ever lie here?" in refused.text
    assert sent["stamp"] not in refused.text
    assert survey.questions.count() == 3
    remove(survey=survey, account=editor.pk, by=owner.pk)
    assert client.post(at("question_create", survey), sent).status_code == 404


def test_the_last_owner_stays(owner: User, survey: Survey) -> None:
    other = join(survey, Role.OWNER)
    User.objects.filter(pk=other.pk).update(is_active=False)
    attempts: tuple[Callable[[], None], ...] = (
        lambda: set_role(survey=survey, account=owner.pk, role=Role.EDITOR, by=owner.pk),
        lambda: remove(survey=survey, account=owner.pk, by=owner.pk),
    )
    for attempt in attempts:
        with pytest.raises(LastOwner):
            attempt()
    User.objects.filter(pk=other.pk).update(is_active=True)
    remove(survey=survey, account=owner.pk, by=owner.pk)
    assert survey.owner == other


def test_nobody_but_an_owner_changes_roles_even_after_the_view_has_asked(
    owner: User, survey: Survey
) -> None:
    """The services check again, because the role may have changed since the view checked."""
    editor, viewer = join(survey, Role.EDITOR), join(survey, Role.VIEWER)
    team = create_team(name="Mine", account=editor.pk)
    own = create_team(name="Own", account=owner.pk)
    own.members.create(account=editor, role=Role.EDITOR)
    attempts: tuple[Callable[[], None], ...] = (
        lambda: set_role(survey=survey, account=editor.pk, role=Role.OWNER, by=viewer.pk),
        lambda: set_role(survey=survey, account=editor.pk, role=Role.OWNER, by=editor.pk),
        lambda: remove(survey=survey, account=owner.pk, by=editor.pk),
        lambda: hand_over(survey=survey, to=editor.pk, by=editor.pk),
        lambda: attach(survey=survey, team=team, by=editor.pk),
        lambda: attach(survey=survey, team=team, by=owner.pk),  # the owner is not in this team
        lambda: detach(survey=survey, team=own, by=editor.pk),
        lambda: set_team_role(team=own, account=owner.pk, role=Role.VIEWER, by=editor.pk),
        lambda: set_team_role(team=own, account=editor.pk, role=Role.OWNER, by=editor.pk),
        lambda: remove_from_team(team=own, account=owner.pk, by=editor.pk),
        lambda: delete_team(team=own, by=editor.pk),
    )
    for attempt in attempts:
        with pytest.raises(RoleTooLow):
            attempt()


def test_everyone_may_give_up_their_role(owner: User, survey: Survey) -> None:
    viewer = join(survey, Role.VIEWER)
    client = sign_in(viewer)
    assert "Your role: viewer" in client.get(at("leave", survey)).text
    assert client.post(at("leave", survey))["Location"] == "/"
    assert client.get(at("edit", survey)).status_code == 404
    sign_in(owner).post(at("leave", survey))
    assert survey.owner == owner, "the last owner cannot"


def test_the_page_gives_and_takes_roles_and_the_history_says_so(
    owner: User, survey: Survey, author: Client
) -> None:
    member = join(survey, Role.VIEWER, "ada@example.org")
    User.objects.filter(pk=member.pk).update(name=HOSTILE)
    page = author.get(at("people", survey))
    assert HOSTILE not in page.text
    assert "&lt;b&gt;" in page.text
    person = at("person", survey, survey.memberships.get(account=member).pk)
    author.post(person, {"role": Role.EDITOR.value})
    assert can(member, Action.EDIT, survey)
    told = author.post(person, {"role": "9"}, follow=True).text
    assert '<p class="notice notice-bad" role="alert"><strong>Error:</strong> Choose a role' in told
    author.post(person, {"role": "remove"})
    assert not can(member, Action.READ, survey)
    assert verbs(survey)[-2:] == [Verb.CHANGED_ROLE, Verb.REMOVED]
    shown = author.get(reverse("aggregator:history", args=[survey.slug])).text
    assert "ada@example.org" in shown, "by name, as long as the account exists"


def test_a_survey_and_then_all_are_handed_over_in_two_clicks(
    owner: User, survey: Survey, author: Client
) -> None:
    colleague = join(survey, Role.ANALYST)
    second = make_survey(owner=owner)
    assert author.post(at("hand_over", survey), {"account": make_user().pk}).status_code == 422
    assert author.post(at("hand_over", survey), {"account": colleague.pk})["Location"] == "/"
    assert (survey.owner, verbs(survey)[-1]) == (colleague, Verb.HANDED_OVER)
    assert author.get(at("people", survey)).status_code == 404
    assert AccountMail.objects.get().account == colleague.pk
    join(second, Role.VIEWER)
    second.memberships.create(account=colleague, role=Role.VIEWER)
    author.post(reverse("surveys:hand_over_all"), {"account": colleague.pk})
    assert second.owner == colleague
    assert not second.memberships.filter(account=owner).exists()
    assert hand_over_all(account=owner.pk, to=colleague.pk) == 0


def test_the_page_has_at_most_fifty_words(owner: User, survey: Survey, author: Client) -> None:
    create_team(name="Field", account=owner.pk)
    page = author.get(at("people", survey)).text
    [main] = re.findall(r'<h1 id="people">.*?</main>', page, re.DOTALL)
    main = re.sub(r"<details.*?</details>|<option.*?</option>|<bdi.*?</bdi>", "", main, flags=re.S)
    words = re.sub(r"<[^>]+>", " ", main).split()
    assert len(words) <= 50, words


def test_a_number_that_is_too_long_to_read_names_nothing(survey: Survey, author: Client) -> None:
    number, chosen = "9" * 5000, at("questions_selected", survey)
    assert author.post(at("people_team", survey), {"detach": number}).status_code == 302
    assert author.post(chosen, {"action": "delete", "question": number}).status_code == 422


def test_what_is_deleted_at_this_moment_is_gone_and_no_error(owner: User, author: Client) -> None:
    team, draft = create_team(name="T", account=owner.pk), make_survey(owner=owner)
    gone, views = Team(pk=team.pk), "surveys.views"
    team.delete()
    with mock.patch(f"{views}.people.teams._find_team", return_value=gone):
        assert author.post(reverse("surveys:team_delete", args=[gone.pk])).status_code == 302
    with mock.patch(f"{views}.authoring.surveys.require_draft", side_effect=Survey.delete):
        assert author.post(at("delete", draft)).status_code == 404
