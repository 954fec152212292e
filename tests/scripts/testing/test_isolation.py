"""Tests share a PostgreSQL server, but each has its own database."""

from __future__ import annotations

import pytest

from scripts.attacks.linker.server import Server, django_on
from surveys.models import Survey
from tests.support.factories import make_launched_survey


@pytest.mark.django_db
@pytest.mark.parametrize("turn", ["first", "second"])
def test_a_database_is_migrated_and_empty(postgres_server: Server, turn: str) -> None:
    with django_on(postgres_server.application_url):
        assert not Survey.objects.exists()
        make_launched_survey()
