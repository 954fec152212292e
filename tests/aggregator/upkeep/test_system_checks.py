"""The checks in `manage.py check`: when they ask servers, and which settings they reject."""

from __future__ import annotations

import pytest
import redis
from django.core import checks
from django.core.checks import CheckMessage
from django.db import connection
from pytest_django.fixtures import Settings

from aggregator.upkeep.checks import messages, registry


@pytest.fixture(autouse=True)
def usable(settings: Settings) -> None:
    settings.SWEEP_SECONDS = 2.0  # tests/settings.py sweeps without a pause


def run_privacy_checks(databases: list[str] | None = None) -> list[CheckMessage]:
    return checks.run_checks(
        tags=[registry.PRIVACY], include_deployment_checks=True, databases=databases
    )


def run_plain_checks() -> list[CheckMessage]:
    """Run the checks that precede every command; return our findings, not those about the cache."""
    found = checks.run_checks()
    return [message for message in found if str(message.id).startswith("aggregator.")]


def test_servers_are_asked_only_if_a_database_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object, **__: object) -> None:
        raise AssertionError("a server was asked")

    monkeypatch.setattr(connection, "ensure_connection", ask)
    monkeypatch.setattr(connection, "cursor", ask)
    monkeypatch.setattr(redis.Redis, "from_url", ask)
    assert run_plain_checks() == []
    run_privacy_checks()  # --deploy alone reads only settings
    # These checks run as migrate runs them, on a database that has not been migrated yet.
    ours = [registry.PRIVACY, registry.SETTINGS]
    assert checks.run_checks(tags=ours, databases=["default"]) == []
    with pytest.raises(AssertionError):
        run_privacy_checks(["default"])


def test_every_kind_of_finding_has_its_own_number() -> None:
    numbers = [value for name, value in vars(messages).items() if name.isupper()]
    assert len(numbers) == len(set(numbers)) > 20


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SWEEP_SECONDS", 0.0),
        ("PURGE_SECONDS", -1.0),
        ("REPORTS_PER_MINUTE", -1),
        ("REPORTS_PER_SECOND", 0),
        ("EXIT_URL", "javascript:alert(1)"),
        ("SOURCE_URL", "murmur"),
        ("SECURITY_POLICY", "SECURITY.md"),
        ("SECURITY_CONTACT", "security@murmur.example"),
        ("SECURITY_CONTACT", "http://murmur.example/report"),
        ("SECURITY_CONTACT", "mailto:a@murmur.example\nCanonical: https://evil.example"),
        ("PUBLIC_URL", "ftp://localhost"),
        ("PUBLIC_URL", "https://localhost/murmur"),
        ("PUBLIC_URL", "https://elsewhere.example"),
        ("PUBLIC_URL", "localhost"),
        ("HSTS", "63072000"),
        ("HSTS", "max-age=63072000; preload"),
    ],
)
def test_an_impossible_setting_stops_every_command(
    settings: Settings, name: str, value: float | str
) -> None:
    assert run_plain_checks() == []
    setattr(settings, name, value)
    shown = value if isinstance(value, str) else f"{value:g}"
    (message,) = run_plain_checks()
    assert message.id == "aggregator.E008"
    assert message.msg.startswith(f"MURMUR_{name} = {shown}: ")
    assert f"export MURMUR_{name}=" in str(message.hint)


def test_a_proxy_without_https_is_a_warning(settings: Settings) -> None:
    settings.HTTPS, settings.BEHIND_PROXY = False, True
    assert [message.id for message in run_plain_checks()] == ["aggregator.W008"]


def test_only_the_check_for_deployment_says_that_no_one_knows_where_to_report(
    settings: Settings,
) -> None:
    def find() -> list[CheckMessage]:
        found = checks.run_checks(tags=[checks.Tags.security], include_deployment_checks=True)
        return [message for message in found if str(message.id).startswith("aggregator.")]

    (message,) = find()
    assert message.id == "aggregator.W009"
    assert "MURMUR_SECURITY_CONTACT" in str(message.hint)
    assert run_plain_checks() == []
    settings.SECURITY_CONTACT = "mailto:security@murmur.example"
    assert find() == []


@pytest.mark.parametrize(
    ("is_set", "url", "found"),
    [
        (True, "https://murmur.example", ""),
        (False, "https://murmur.example", "lead to https://murmur.example, which was guessed."),
        (True, "http://localhost:8000", "no one elsewhere can open"),
        (True, "https://192.168.1.5", "no one elsewhere can open"),
    ],
)
def test_a_public_address_that_is_guessed_or_local_is_a_warning_before_deploying(
    settings: Settings, is_set: bool, url: str, found: str
) -> None:
    settings.PUBLIC_URL_IS_SET, settings.PUBLIC_URL = is_set, url
    settings.ALLOWED_HOSTS = ["murmur.example", "localhost", "192.168.1.5"]
    assert run_plain_checks() == []
    deploying = checks.run_checks(tags=[registry.SETTINGS], include_deployment_checks=True)
    warned = [message for message in deploying if message.id == "aggregator.W011"]
    assert len(warned) == bool(found)
    assert all(found in message.msg for message in warned)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("SESSION_IDLE_SECONDS", "MURMUR_SESSION_IDLE_HOURS = 0: "),
        ("SESSION_COOKIE_AGE", "MURMUR_SESSION_DAYS = 0: "),
    ],
)
def test_sessions_that_would_end_at_once_stop_every_command(
    settings: Settings, name: str, shown: str
) -> None:
    setattr(settings, name, 0)
    (message,) = run_plain_checks()
    assert message.msg.startswith(shown)
