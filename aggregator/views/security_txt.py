"""/.well-known/security.txt (RFC 9116): where to report a vulnerability in this server."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.http import require_safe

PLAIN = "text/plain; charset=utf-8"
# The file is written for each request, so the date matters only for copies. RFC 9116 recommends a
# date less than a year ahead.
VALID_FOR = timedelta(days=180)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Name the operator's contact; reply 404 in plain text if the settings have none."""
    if not settings.SECURITY_CONTACT:
        missing = "This server states no contact for security reports.\n"
        return HttpResponse(missing, status=404, content_type=PLAIN)
    fields = {
        "Contact": settings.SECURITY_CONTACT,
        "Expires": _expiry(now()),
        "Canonical": settings.PUBLIC_URL + reverse("aggregator:security_txt"),
        "Policy": settings.SECURITY_POLICY,
        "Preferred-Languages": "en",
    }
    lines = [f"{name}: {value}\n" for name, value in fields.items() if value]
    return HttpResponse("".join(lines), content_type=PLAIN)


def _expiry(moment: datetime) -> str:
    """Return the expiry time, at midnight UTC so that the file changes only once a day."""
    day = moment.astimezone(UTC).date() + VALID_FOR
    return datetime.combine(day, time.min).isoformat() + "Z"
