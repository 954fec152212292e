"""Delete expired sessions and tokens, which the server no longer accepts but still stores."""

from __future__ import annotations

from accounts.sessions import SessionStore
from accounts.tokens import forget_expired_tokens


def forget_expired_sessions() -> None:
    SessionStore.clear_expired()
    forget_expired_tokens()
