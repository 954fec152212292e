"""Expired sessions are deleted, but nobody who is signed in is signed out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from aggregator import tasks
from tests.support.factories import make_user
from tests.support.fielding import sign_in

pytestmark = pytest.mark.django_db


def test_only_expired_sessions_are_deleted() -> None:
    gone, signed_in = make_user(), make_user()
    expired, current = sign_in(gone), sign_in(signed_in)
    expire(expired)
    tasks.forget_sessions()
    [left] = Session.objects.all()
    assert left.session_key == current.session.session_key
    assert get_user(current) == signed_in
    tasks.forget_sessions()  # a second message finds nothing
    assert Session.objects.count() == 1


def expire(client: Client) -> None:
    key = client.session.session_key
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))
