"""Delete expired sessions and tokens: the server stops accepting them, but keeps their rows."""

from __future__ import annotations

from accounts.sessions import SessionStore
from accounts.tokens import forget_expired_tokens


def forget_expired_sessions() -> None:
    SessionStore.clear_expired()
    forget_expired_tokens()
