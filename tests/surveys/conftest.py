"""The owner of a survey and the browser of that owner."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import User
from tests.support.factories import make_user
from tests.support.fielding import sign_in


@pytest.fixture
def owner(db: None) -> User:
    return make_user("owner@example.org")


@pytest.fixture
def author(owner: User) -> Client:
    """Return the browser of the owner."""
    return sign_in(owner)
