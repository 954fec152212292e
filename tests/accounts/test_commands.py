"""Commands that create accounts."""

from __future__ import annotations

import re

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User

pytestmark = pytest.mark.django_db


def run(command: str, email: str, capsys: pytest.CaptureFixture[str]) -> str:
    call_command(command, email=email)
    return capsys.readouterr().out


def test_a_second_account_has_the_password_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run("create_first_account", "first@example.org", capsys)
    printed = run("create_account", "second@example.org", capsys)
    found = re.search(r"Sign in as second@example\.org with the password (\S+)\n", printed)
    assert found is not None
    assert User.objects.get(email="second@example.org").check_password(found[1])
    assert User.objects.count() == 2


def test_an_address_has_one_account(capsys: pytest.CaptureFixture[str]) -> None:
    run("create_account", "a@example.org", capsys)
    with pytest.raises(CommandError, match="already an account"):
        call_command("create_account", email="A@Example.org")
    assert User.objects.count() == 1


@pytest.mark.parametrize("command", ["create_account", "create_first_account"])
def test_an_address_that_is_none_is_refused(command: str) -> None:
    with pytest.raises(CommandError, match="'nobody' is not an email address"):
        call_command(command, email="nobody")
    assert not User.objects.exists()


def test_the_first_account_is_created_once(capsys: pytest.CaptureFixture[str]) -> None:
    run("create_first_account", "first@example.org", capsys)
    same = run("create_first_account", "First@example.org", capsys)
    assert same == "Sign in as first@example.org.\n"
    other = run("create_first_account", "second@example.org", capsys)
    assert "Sign in as first@example.org." in other
    assert "use create_account" in other
    assert User.objects.count() == 1
