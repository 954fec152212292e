"""Secrets are encrypted wherever they are stored; keys can be replaced, and can be lost."""

from __future__ import annotations

import base64
import re
import secrets

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from accounts.models import User
from accounts.second_factor.adapter import UNREADABLE
from accounts.second_factor.codes import check_code
from accounts.second_factor.keys import count_states
from aggregator.upkeep.checks.stored import check_stored_rows
from tests.support.factories import PASSWORD, make_user
from tests.support.fielding import sign_in
from tests.support.second_factors import SECRET, add_second_factor, app_of, code_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def make_key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


def dump() -> str:
    """Return every row of every table, and the content of sessions, as text."""
    with connection.cursor() as cursor:
        rows = []
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            rows += cursor.fetchall()
    return f"{rows} {[session.get_decoded() for session in Session.objects.all()]}"


def test_the_secret_is_in_no_table_not_even_while_it_is_set_up(
    person: User, caplog: pytest.LogCaptureFixture
) -> None:
    client = sign_in(person)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    page = client.get(reverse("mfa_activate_totp")).text
    found = re.search(r"<code>([A-Z2-7 ]+)</code>", page)
    assert found is not None
    secret = found[1].replace(" ", "")
    assert f"secret={secret}" in page
    assert secret not in dump()
    assert "second_factor_pending" in dump()
    shown = client.post(reverse("mfa_activate_totp"), {"code": code_now(secret)}, follow=True).text
    codes = re.findall(r"<code>(\d{8})</code>", shown)
    assert len(codes) == 10
    stored = dump() + caplog.text
    assert all(text not in stored for text in (secret, base64.b32decode(secret).hex(), *codes))
    assert "second_factor_pending" not in stored
    # Recovery codes are shown only once.
    again = client.get(reverse("mfa_view_recovery_codes")).text
    assert all(code not in again for code in codes)


def test_a_replaced_key_still_decrypts_until_everything_is_encrypted_again(
    person: User, settings: Settings
) -> None:
    add_second_factor(person)
    old, settings.MFA_KEY = settings.MFA_KEY, make_key()
    settings.MFA_KEY_FALLBACKS = [old]
    assert count_states() == (0, 2)
    call_command("encrypt_second_factors")
    settings.MFA_KEY_FALLBACKS = []
    assert count_states() == (0, 0)
    assert check_code(user=person, code=code_now()).authenticator is not None


def test_a_lost_key_is_said_to_the_person_and_to_the_operator(
    person: User, settings: Settings
) -> None:
    add_second_factor(person)
    signed_in = sign_in(person)
    settings.MFA_KEY = make_key()
    assert "lost the key" in signed_in.get(reverse("account")).text
    client = Client()
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    answer = client.post(reverse("mfa_authenticate"), {"code": code_now()})
    assert answer.context["form"].errors["code"] == [UNREADABLE]
    assert "failures" not in app_of(person).data
    [error] = [found for found in check_stored_rows() if found.id == "aggregator.E070"]
    assert "reset_second_factor" in str(error.hint)
    with pytest.raises(CommandError, match=r"rosa@example\.org"):
        call_command("encrypt_second_factors")
    call_command("reset_second_factor", email=person.email)
    assert count_states() == (0, 0)


def test_an_old_key_that_is_still_needed_is_a_note(person: User, settings: Settings) -> None:
    add_second_factor(person, SECRET)
    settings.MFA_KEY_FALLBACKS, settings.MFA_KEY = [settings.MFA_KEY], make_key()
    [note] = [found for found in check_stored_rows() if str(found.id).endswith("070")]
    assert note.id == "aggregator.I070"
