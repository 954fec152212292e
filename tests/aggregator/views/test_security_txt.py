"""security.txt names the operator's contact, and expires within a year."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

PATH = "/.well-known/security.txt"


def read_fields(text: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text.splitlines())


@pytest.fixture
def told(settings: Settings) -> Settings:
    settings.SECURITY_CONTACT = "mailto:security@murmur.example"
    settings.PUBLIC_URL = "https://murmur.example"
    return settings


def test_without_a_contact_there_is_no_file() -> None:
    response = Client().get(PATH)
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/plain")
    assert "Contact" not in response.content.decode()


def test_the_file_has_the_contact_and_its_own_public_address(told: Settings) -> None:
    response = Client().get(PATH, headers={"host": "localhost"})
    assert response.status_code == 200
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    fields = read_fields(response.content.decode())
    assert fields.pop("Expires")
    assert fields == {
        "Contact": "mailto:security@murmur.example",
        "Canonical": f"https://murmur.example{PATH}",
        "Preferred-Languages": "en",
    }


def test_the_file_links_to_the_policy_if_a_setting_gives_it(told: Settings) -> None:
    told.SECURITY_POLICY = "https://murmur.example/policy"
    fields = read_fields(Client().get(PATH).content.decode())
    assert fields["Policy"] == "https://murmur.example/policy"


def test_the_file_expires_within_a_year_and_changes_once_a_day(
    told: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def expiry_at(moment: datetime) -> datetime:
        monkeypatch.setattr("aggregator.views.security_txt.now", lambda: moment)
        text = read_fields(Client().get(PATH).content.decode())["Expires"]
        assert text.endswith("T00:00:00Z")
        return datetime.fromisoformat(text)

    morning = datetime(2028, 2, 29, 0, 0, 1, tzinfo=UTC)
    evening = datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)
    assert expiry_at(morning) == expiry_at(evening)
    assert timedelta(days=30) < expiry_at(evening) - evening < timedelta(days=365)
