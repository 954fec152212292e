"""Deleting expired sessions: Django stops accepting them, but keeps their rows."""

from __future__ import annotations

from django.contrib.sessions.backends.db import SessionStore


def forget_expired_sessions() -> None:
    SessionStore.clear_expired()
