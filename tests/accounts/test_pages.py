"""Every account page: one heading, no inline code, and no dead links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import Resolver404, resolve

from accounts.models import User
from tests.support.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FOR_VISITORS = (
    "/accounts/login/",
    "/accounts/inactive/",
    "/accounts/password/reset/",
    "/accounts/password/reset/done/",
    "/accounts/password/reset/key/1-abc/",
    "/accounts/password/reset/key/done/",
)
FOR_RESEARCHERS = (
    "/accounts/logout/",
    "/accounts/reauthenticate/",
    "/accounts/password/change/",
    "/accounts/password/reset/",
)


def local_targets(page: str) -> set[str]:
    found = re.findall(r'(?:href|action)="(/[^"#?]*)', page)
    return {path for path in found if not path.startswith(settings.STATIC_URL)}


def check_page(client: Client, path: str) -> None:
    page = client.get(path).text
    assert page.count("<h1") == 1
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?! type=\"module\" src| src)", page)
    for target in local_targets(page):
        try:
            resolve(target)
        except Resolver404:
            pytest.fail(f"{path} links to {target}, which leads nowhere")


@pytest.mark.parametrize("path", FOR_VISITORS)
def test_a_page_for_visitors_is_well_formed(client: Client, path: str) -> None:
    check_page(client, path)


@pytest.mark.parametrize("path", FOR_RESEARCHERS)
def test_a_page_for_researchers_is_well_formed(client: Client, path: str) -> None:
    client.force_login(make_user())
    check_page(client, path)


@pytest.mark.parametrize("path", FOR_RESEARCHERS[:3])
def test_visitors_are_asked_to_sign_in(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 302


def test_no_account_exists_before_one_is_created() -> None:
    assert not User.objects.exists()


def test_no_file_contains_an_initial_password() -> None:
    """scripts/run generates the first password; everyone would know a default one."""
    given = re.compile(r"(create_user|create_superuser|set_password)\([^)]*['\"][^'\"@]+['\"]")
    root = Path(settings.BASE_DIR)
    files = [
        path
        for folder in ("accounts", "aggregator", "config", "scripts", "surveys")
        for path in (root / folder).rglob("*")
        if path.is_file() and path.suffix in ("", ".py", ".sh")
    ]
    assert files
    for path in files:
        for match in given.finditer(path.read_text()):
            assert "email" in match[0], f"{path} seems to hold a password: {match[0]}"
