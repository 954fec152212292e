"""Sessions end after a time without activity or some days after sign-in, and people are told."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.contrib.auth import get_user
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.sessions import SessionStore
from config import settings as product
from scripts.stack.stack import ROOT
from tests.support.factories import PASSWORD, make_survey, make_user
from tests.support.fielding import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HOUR = 3600
DAY = 24 * HOUR
IDLE, LONGEST = product.SESSION_IDLE_SECONDS, product.SESSION_COOKIE_AGE


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


@pytest.fixture(autouse=True)
def passing_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A clock for sessions that stands still until a test moves it on."""
    now = [time.time()]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime.fromtimestamp(now[0], tz=UTC))

    def move_on(seconds: float) -> None:
        now[0] += seconds

    return move_on


def is_signed_in(client: Client) -> bool:
    return client.get(reverse("surveys:create")).status_code == 200


def test_a_session_lasts_half_a_day_without_activity_and_a_week_at_most() -> None:
    assert (IDLE, LONGEST) == (12 * HOUR, 7 * DAY)


def test_a_session_ends_after_the_idle_time_and_activity_renews_it(
    person: User, passing_time: Callable[[float], None]
) -> None:
    client = sign_in(person)
    for _ in range(5):
        passing_time(IDLE - 60)
        assert is_signed_in(client)
    passing_time(IDLE + 60)
    assert not is_signed_in(client)


def test_a_session_ends_a_week_after_sign_in_however_active_it_is(
    person: User, passing_time: Callable[[float], None]
) -> None:
    client = sign_in(person)
    for _ in range(LONGEST // (6 * HOUR) - 1):
        passing_time(6 * HOUR)
        assert is_signed_in(client)
    passing_time(6 * HOUR + 60)
    assert not is_signed_in(client)


def test_a_results_page_that_is_left_open_does_not_keep_a_session_alive(
    person: User, passing_time: Callable[[float], None]
) -> None:
    client = sign_in(person)
    survey = make_survey(owner=person)
    panel = reverse("aggregator:results_panel", args=[survey.slug])
    for _ in range(12):
        assert client.get(panel, headers={"HX-Request": "true"}).status_code == 200
        passing_time(HOUR)
    passing_time(60)
    ended = client.get(panel, headers={"HX-Request": "true"})
    assert ended["HX-Refresh"] == "true"


def test_every_panel_that_reloads_by_itself_has_an_address_that_does_not_count() -> None:
    for template in (ROOT / "templates").rglob("*.html"):
        for tag in re.findall(r"<[^>]*hx-trigger=\"every[^>]*>", template.read_text()):
            [address] = re.findall(r"hx-get=\"([^\"]*)\"", tag)
            assert "panel" in address, template
    results = reverse("aggregator:results_panel", args=["x"])
    coins = reverse("aggregator:coin_results_panel", args=["x"])
    comparison = reverse("aggregator:comparison_panel", args=["x", 1])
    assert all(path.endswith("/panel") for path in (results, coins, comparison))


def test_a_session_is_written_at_most_every_five_minutes(
    person: User, passing_time: Callable[[float], None]
) -> None:
    client = sign_in(person)
    before = Session.objects.get().expire_date
    passing_time(200)
    is_signed_in(client)
    assert Session.objects.get().expire_date == before
    passing_time(200)
    is_signed_in(client)
    assert Session.objects.get().expire_date > before


def test_a_session_of_an_earlier_release_gets_an_end(
    person: User, passing_time: Callable[[float], None]
) -> None:
    client = sign_in(person)
    session = client.session
    del session["signed_in_at"], session["seen_at"]
    session.save()
    assert is_signed_in(client)
    assert client.session["signed_in_at"] == int(time.time())


def test_somebody_whose_session_has_ended_reads_so_on_the_sign_in_page(
    person: User, passing_time: Callable[[float], None]
) -> None:
    client = sign_in(person)
    passing_time(IDLE + 60)
    wanted = reverse("surveys:create")
    page = client.get(wanted, follow=True)
    assert page.redirect_chain == [(f"/accounts/login/?next={wanted}&ended=1", 302)]
    assert 'id="ended"' in page.text
    assert f'name="next" value="{wanted}"' in page.text
    # A visitor who was never signed in is not told that a session ended.
    assert Client().get(wanted)["Location"] == f"/accounts/login/?next={wanted}"


@pytest.mark.parametrize("has_cookie", [True, False])
def test_a_form_that_is_sent_too_late_is_shown_again(
    person: User, passing_time: Callable[[float], None], has_cookie: bool
) -> None:
    client = sign_in(person)
    survey = make_survey(owner=person)
    passing_time(IDLE + 60)
    if not has_cookie:  # the browser has dropped the cookie
        client.cookies.clear()
    path = reverse("surveys:copy", args=[survey.slug])
    page = reverse("surveys:edit", args=[survey.slug])
    reply = client.post(
        path,
        {"text": "Do you <b>hate</b> it?", "flips": "25", "password": "a secret phrase"},
        headers={"Referer": f"http://testserver{page}"},
    )
    assert reply.status_code == 403
    assert "Do you &lt;b&gt;hate&lt;/b&gt; it?" in reply.text
    assert "a secret phrase" not in reply.text
    assert f'href="/accounts/login/?next={page}"' in reply.text
    if not has_cookie:
        pressed = client.post(path, headers={"Referer": f"http://testserver{page}"})
        assert pressed["Location"] == f"/accounts/login/?next={page}"
        return
    # While a person types, the page asks for the cost of the question; the reply must leave the
    # page unchanged.
    typing = client.post(path, {"cost": "1"}, headers={"HX-Request": "true"})
    assert typing.status_code == 204


def test_a_page_that_reads_no_session_does_not_depend_on_cookies(person: User) -> None:
    client = sign_in(person)
    reply = client.get("/healthz")
    assert "Vary" not in reply
    assert not reply.cookies


def test_a_cookie_with_a_nul_is_no_session() -> None:
    """PostgreSQL rejects a NUL in queries, so the page would answer with status 500."""
    assert SessionStore("\0" * 32).session_key is None


def test_changing_the_password_ends_all_other_sessions(person: User) -> None:
    here, elsewhere = sign_in(person), sign_in(person)
    new = "an even longer passphrase"
    fields = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert here.post("/accounts/password/change/", fields).status_code == 302
    assert is_signed_in(here)
    assert not is_signed_in(elsewhere)


def test_the_operator_ends_all_sessions_of_one_account(
    person: User, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, other = sign_in(person), sign_in(person), sign_in(make_user())
    call_command("end_sessions", "--email", "Rosa@example.org")
    said = "rosa@example.org ended: 2. Tokens revoked: 0."
    assert said in capsys.readouterr().out
    assert not is_signed_in(first)
    assert not get_user(second).is_authenticated
    assert is_signed_in(other)
    with pytest.raises(CommandError, match="no account"):
        call_command("end_sessions", "--email", "nobody@example.org")
