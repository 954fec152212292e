"""Delete expired sessions: Django stops accepting them, but keeps their rows."""

from __future__ import annotations

from accounts.sessions import SessionStore


def forget_expired_sessions() -> None:
    SessionStore.clear_expired()
