"""The account page: short cards, the user's sessions, and leaving."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.address.changing import ask_for_change
from accounts.models import AccountMail, User
from accounts.sessions import SessionStore
from accounts.tokens import Scope, make_token
from surveys.authoring.services import delete_draft
from surveys.people.errors import OwnsSurveys
from surveys.people.leaving import delete_account
from tests.support.factories import PASSWORD, make_survey, make_user
from tests.support.fielding import sign_in
from tests.support.second_factors import add_second_factor

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ACCOUNT, END, LEAVE = "/accounts/", "/accounts/sessions/end/", "/accounts/leave/"
MOST_WORDS = 30


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


def is_signed_in(client: Client) -> bool:
    return get_user(client).is_authenticated


def cards_of(page: str) -> dict[str, str]:
    """Return the text of each card, keyed by its heading, as people see or hear it."""
    cards = re.findall(r'<section class="card">(.*?)</section>', page, re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]+>", " ", card).split()) for card in cards]
    heads = re.findall(r"<h2>(.*?)</h2>", page)
    return dict(zip(heads, texts, strict=True))


@pytest.mark.parametrize("has_much", [False, True])
def test_a_card_has_at_most_thirty_words(person: User, has_much: bool) -> None:
    client = sign_in(person)
    if has_much:
        add_second_factor(person)
        ask_for_change(user=person, new_email="new@example.org")
        make_survey(owner=person)
        sign_in(person)
        make_token(user=person, name="R script", scopes=[*Scope], days=30)
    cards = cards_of(client.get(ACCOUNT).text)
    assert len(cards) == 8
    for head, text in cards.items():
        assert len(text.split()) <= MOST_WORDS, (head, text)


def test_a_name_is_saved_and_a_hostile_one_is_shown_as_it_is(person: User) -> None:
    client = sign_in(person)
    for name in ("  Rosa   Ψ Luna ", "<script>alert(1)</script>", "علي", "x" * 100):
        assert client.post(ACCOUNT, {"name": name}).status_code == 302
        person.refresh_from_db()
        assert person.name == " ".join(name.split())
        page = client.get("/").text
        assert "<script>alert" not in page
    for name in ("Rosa\u202egro.elpmaxe", "a\x07b", "x" * 101):
        answer = client.post(ACCOUNT, {"name": name})
        assert answer.status_code == 422
        assert answer.context["form"].errors["name"]
        assert name in answer.context["form"]["name"].value()
    assert client.post(ACCOUNT, {"name": ""}).status_code == 302


def test_sessions_show_only_their_day_and_can_be_ended_one_by_one(person: User) -> None:
    client, other, third = (sign_in(person) for _ in range(3))
    foreign = sign_in(make_user())
    session = other.session
    session["signed_in_at"] = int(time.time()) - 3 * 86_400
    session.save()
    page = client.get(ACCOUNT)
    listed = page.context["sessions"]
    assert [one.is_current for one in listed] == [True, False, False]
    assert listed[0].began.toordinal() - listed[2].began.toordinal() == 3
    for key in Session.objects.values_list("session_key", flat=True):
        assert key not in page.text
    assert not re.search(r"127\.0\.0\.1|\d\d:\d\d|Mozilla", page.text)
    client.post(END, {"session": listed[2].name})
    assert [is_signed_in(each) for each in (client, other, third)] == [True, False, True]
    # Nobody can end another person's session, even by giving the right name of the session.
    name = foreign.get(ACCOUNT).context["sessions"][0].name
    client.post(END, {"session": name})
    assert is_signed_in(foreign)
    client.post(END)
    assert [is_signed_in(each) for each in (client, third, foreign)] == [True, False, True]


def test_a_session_that_a_new_password_ended_is_not_listed(person: User) -> None:
    client, _other = sign_in(person), sign_in(person)
    new = "an even longer passphrase"
    fields = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    client.post("/accounts/password/change/", fields)
    assert len(client.get(ACCOUNT).context["sessions"]) == 1


def test_a_session_of_an_earlier_release_gets_a_key_that_can_be_found(person: User) -> None:
    client = sign_in(person)
    old = SessionStore()
    old.update(client.session.items())
    old._session_key = "a" * 32
    old.save(must_create=True)
    Session.objects.exclude(pk=old.session_key).delete()
    client.cookies["session"] = "a" * 32
    client.get(ACCOUNT)
    assert len(client.get(ACCOUNT).context["sessions"]) == 1
    assert not Session.objects.filter(pk="a" * 32).exists()


def test_the_page_reads_own_sessions_only_however_many_others_there_are(
    person: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(50):
        sign_in(make_user())
    client = sign_in(person)
    with django_assert_max_num_queries(6):
        page = client.get(ACCOUNT)
    assert len(page.context["sessions"]) == 1


def confirm_password(client: Client) -> None:
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})


def test_an_account_leaves_without_a_trace_of_its_address(person: User) -> None:
    client, other = sign_in(person), sign_in(person)
    add_second_factor(person)
    ask_for_change(user=person, new_email="new@example.org")
    Authenticator.objects.filter(user=person).delete()
    assert client.post(LEAVE)["Location"].startswith("/accounts/reauthenticate/")
    confirm_password(client)
    assert client.post(LEAVE)["Location"] == "/accounts/left/"
    assert not User.objects.exists()
    assert not AccountMail.objects.exists()
    assert not is_signed_in(client)
    assert not is_signed_in(other)
    assert not Session.objects.exists()


def test_an_owner_of_surveys_cannot_leave_and_reads_what_to_do(
    person: User,
) -> None:
    client = sign_in(person)
    confirm_password(client)
    survey = make_survey(owner=person)
    assert "You are the only owner" in client.get(LEAVE).text
    assert client.post(LEAVE).status_code == 409
    assert survey.owner == User.objects.get()
    assert is_signed_in(client)
    delete_draft(survey=survey)
    assert "Delete your account?" in client.get(LEAVE).text
    make_survey(owner=person)  # a moment ago, in another tab
    with pytest.raises(OwnsSurveys):
        delete_account(person)
