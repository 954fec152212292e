"""Defines what browsers allow respondents' pages to do.

config/headers.py sends these headers with every response to respondents. `manage.py verify_client`
expects them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

from surveys.respondent.guard import GUARD


def hash_source(text: str) -> str:
    """Return the hash of a script or a style, for a policy or an integrity attribute."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


CSP = {
    "default-src": "'none'",
    "script-src": f"'self' '{hash_source(GUARD)}'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
# Files need no permissions. The page that loads them has the policy above.
NOTHING = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
# No site learns where a visitor comes from, and no script runs without its hash.
EXTRA = {
    "Referrer-Policy": "no-referrer",
    "Integrity-Policy": "blocked-destinations=(script)",
}


def write_policy(directives: Mapping[str, str | None]) -> str:
    """Write a header. Directives without a value are left out."""
    return "; ".join(f"{name} {value}" for name, value in directives.items() if value)
