"""What browsers allow respondents' pages to do.

config/headers.py sends this with every response to respondents, and `manage.py verify_client`
expects it.
"""

from __future__ import annotations

from collections.abc import Mapping

CSP = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
# No site learns where a visitor comes from, and no script runs without its hash.
EXTRA = {
    "Referrer-Policy": "no-referrer",
    "Integrity-Policy": "blocked-destinations=(script)",
}


def write_policy(directives: Mapping[str, str | None]) -> str:
    """Write a header. Directives without a value are left out."""
    return "; ".join(f"{name} {value}" for name, value in directives.items() if value)
