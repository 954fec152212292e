"""Health checks answer whatever host is named; other pages answer only for allowed hosts."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("host", ["10.0.0.7:8000", "web-1", "evil.example", "-", ""])
def test_a_health_check_may_name_any_host(
    client: Client, settings: Settings, path: str, host: str
) -> None:
    settings.ALLOWED_HOSTS, settings.PUBLIC_URL = ["murmur.example"], "https://murmur.example"
    assert client.get(path, headers={"host": host}).status_code == 200
    assert client.get("/accounts/login/", headers={"host": host}).status_code == 400
    assert client.get("/accounts/login/", headers={"host": "murmur.example"}).status_code == 200
