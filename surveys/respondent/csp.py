"""What browsers allow the pages that ask, in one place: config/headers.py sends it with every
response to respondents, and an expert's comparison (surveys/respondent/verification.py) expects it.
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
# No site hears where somebody comes from, and no script runs without its fingerprint.
EXTRA = {
    "Referrer-Policy": "no-referrer",
    "Integrity-Policy": "blocked-destinations=(script)",
}


def write_policy(directives: Mapping[str, str | None]) -> str:
    """As a header; a directive without a value is left out."""
    return "; ".join(f"{name} {value}" for name, value in directives.items() if value)
